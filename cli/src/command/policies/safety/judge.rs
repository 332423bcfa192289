//! What commands do, by the table of programs and all that is registered.

use phasegate_config::compile;
use phasegate_core::shell::classifier::Classifier;
use phasegate_core::state::State;
use phasegate_runtime::Project;
use phasegate_runtime::runtime::Runtime;
use phasegate_shell::{Judgement, Table, Trust, judge};

/// What judges lines: the table of programs, and all that is registered.
pub(super) struct Judge {
    pub(super) classifier: Classifier,
    table: Table,
    trust: Trust,
}

impl Judge {
    /// What judges them in a state of the project.
    pub(super) fn of(runtime: &Runtime, project: &Project, state: &State) -> Self {
        let compiled = compile(&runtime.discover(project).files);
        let classifier = Classifier::of(state, &compiled.policy.safety);
        let table = Table::with(compiled.settings.programs).registered(classifier.clone());
        let trust = Trust { repository: compiled.settings.trust_repository, ..Trust::default() };
        Self { classifier, table, trust }
    }

    /// What a line does.
    pub(super) fn line(&self, line: &str) -> Judgement {
        judge(line, &self.table, self.trust.clone())
    }
}
