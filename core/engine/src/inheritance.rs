//! Inheritance: a session goes on with copies of another session's runs, each from where it stands (rules 4).

use alloc::format;

use crate::draft::Draft;
use crate::policy::Scope;
use crate::state::{Run, Status};

/// Copies live runs into the session. A skill that is live here already keeps its own run. Calls that are open where
/// the runs come from prove nothing here.
pub(crate) fn join(draft: &mut Draft, runs: &[Run]) {
    for run in runs {
        let here = draft.state().live_runs().any(|live| live.skill == run.skill);
        if here || run.status != Status::Active {
            continue;
        }
        let id = format!("r{}", draft.state().session.runs_begun.saturating_add(1));
        draft.begin(Run { id: id.clone(), scope: Scope::Session, parent: None, call: None, ..run.clone() });
        draft.announce(&id);
    }
}
