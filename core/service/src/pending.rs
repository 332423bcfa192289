//! Answers that wait until their records are written, and what could not be written of a batch.

use std::collections::BTreeMap;

use phasegate_adapter::{FailureMode, Problem};
use phasegate_core::Outcome;
use phasegate_runtime::driver::unrecorded;
use phasegate_runtime::project::Project;
use phasegate_runtime::runtime::Runtime;

use crate::oneshot::Sender;

/// An answer that waits for its record.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) session: String,
    /// Whether the project's journal has a record of it too.
    pub(crate) shared: bool,
    pub(crate) answer: Sender,
    pub(crate) outcomes: Result<Option<Vec<Outcome>>, Problem>,
    /// The failure mode of the session, where something says it.
    pub(crate) known: Option<FailureMode>,
}

/// What could not be written of a batch.
#[derive(Debug)]
pub(crate) struct Unsaved {
    /// Why the project's journal could not be written.
    pub(crate) shared: Option<Problem>,
    /// Why sessions' journals could not be written.
    pub(crate) sessions: BTreeMap<String, Problem>,
}

impl Unsaved {
    /// Sends the answers whose records are written. The others become refusals.
    pub(crate) fn send(&self, runtime: &Runtime, project: &Project, answers: Vec<Pending>) {
        for Pending { session, shared, answer, outcomes, known } in answers {
            let unsaved = self.sessions.get(&session).or(self.shared.as_ref().filter(|_| shared));
            let result = match (outcomes, unsaved) {
                (Ok(outcomes), None) => Ok(outcomes),
                (Ok(_), Some(problem)) => Err(problem.clone()),
                (Err(problem), None) => Err(problem),
                (Err(problem), Some(unsaved)) => Err(unrecorded(&problem, unsaved)),
            };
            answer.send(result.map_err(|problem| runtime.refuse(project, known, problem)));
        }
    }
}
