//! Whether a run forbids what a call was seen to do to a file.

use alloc::string::ToString as _;

use super::{SkillCall, SkillPart};
use crate::analysis::{Access, PathUse};
use crate::matcher::{Matcher, Subject, Use};
use crate::redacted::Fit;
use crate::state::Run;
use crate::tool::{Call, WRITE, only_reads};

impl SkillCall<'_> {
    /// Whether the run forbids the call to change this file. Where only some parts of a line are forbidden to, nobody knows
    /// which of them did.
    pub(crate) fn forbids_change(&self, run: &Run, path: &str) -> Fit {
        let Some(phase) = self.skill.phase_index(&run.phase).and_then(|index| self.skill.phases.get(index)) else {
            return Fit::No;
        };
        let whole = self.parts.is_empty().then_some(&self.whole);
        let parts = || self.parts.iter().chain(whole);
        // A part that was taken for one that only reads did nothing, where another does more.
        let acts = parts().any(|part| !only_reads(&part.labels));
        let parts = parts().filter(|part| !acts || !only_reads(&part.labels));
        let lines = || self.skill.global_forbidden.iter().chain(&phase.forbidden);
        let fits = parts.map(|part| lines().map(|line| part.forbids_change(line, path)).max().unwrap_or(Fit::No));
        let (least, most) =
            fits.fold((Fit::Yes, Fit::No), |(least, most), fit| (Fit::min(least, fit), Fit::max(most, fit)));
        if most == Fit::No { Fit::No } else { least.max(Fit::Doubt) }
    }
}

impl SkillPart<'_> {
    fn forbids_change(&self, line: &Matcher, path: &str) -> Fit {
        if self.is_lifted(line) || !line.paths.iter().any(|test| test.access == Access::Write) {
            return Fit::No;
        }
        let mut call: Call = (*self.call).clone();
        let commands = &mut call.analysis.commands;
        commands.iter_mut().for_each(|command| command.besides = false);
        let command = (commands.len() == 1).then_some(0);
        let resolved = Some(path.to_string());
        call.analysis.paths =
            alloc::vec![PathUse { resolved, command, ..PathUse::new(path.to_string(), Access::Write) }];
        let mut labels = self.labels.clone().into_owned();
        labels.insert(WRITE.to_string());
        let subject = Subject { call: &call, labels: &labels, named: true, ..self.subject(Use::Forbid) };
        line.fit(subject, self.skill.permitted_servers(), Use::Forbid)
    }
}
