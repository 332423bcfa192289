//! Answers that wait until their records are written, and what could not be written of a batch.

use std::collections::BTreeMap;

use phasegate_adapter::Problem;
use phasegate_runtime::frames::FrameOutcomes;
use phasegate_runtime::transaction::unrecorded;

use crate::oneshot::Sender;

/// An answer that waits for its record.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) session: String,
    /// Whether the project's journal has a record of it too.
    pub(crate) shared: bool,
    pub(crate) answer: Sender,
    pub(crate) outcome: FrameOutcomes,
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
    /// Sends the answers whose records are written. The others become problems.
    pub(crate) fn send(&self, answers: Vec<Pending>) {
        for Pending { session, shared, answer, outcome } in answers {
            let unsaved = self.sessions.get(&session).or(self.shared.as_ref().filter(|_| shared));
            answer.send(match (outcome, unsaved) {
                (Ok(steps), None) => Ok(steps),
                (Ok(_), Some(problem)) => Err(problem.clone()),
                (Err(problem), None) => Err(problem),
                (Err(problem), Some(unsaved)) => Err(unrecorded(&problem, unsaved)),
            });
        }
    }
}
