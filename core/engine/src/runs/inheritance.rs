//! Inheritance: a session goes on with copies of another session's runs, each from where it stands (rules 4).

use alloc::collections::BTreeMap;

use crate::policy::Scope;
use crate::prelude::*;
use crate::state::draft::Draft;
use crate::state::{Branch, Run, Status};

/// Copies live runs into the session, trees as they are. A skill that is live here already keeps its own run. Calls
/// that are open where the runs come from prove nothing here.
pub(crate) fn join(draft: &mut Draft, runs: &[Run]) {
    let mut copies: BTreeMap<&str, String> = BTreeMap::new();
    for run in runs.iter().filter(|run| run.status == Status::Active) {
        let parent = run.parent.as_deref().and_then(|parent| copies.get(parent).cloned());
        let lost = run.branch.is_some() && parent.is_none();
        let here = parent.is_none() && draft.state().live_runs().any(|live| live.skill == run.skill);
        if here || lost {
            continue;
        }
        let id = format!("r{}", draft.state().session.runs_begun.saturating_add(1));
        copies.insert(&run.id, id.clone());
        // What is in force for the other session alone is not in force here; the run goes on as any other.
        let in_force = run.in_force && draft.state().project.in_force.contains_key(&run.skill);
        // The subagents of the other session are none of this one.
        let branch = run.branch.clone().map(|branch| Branch { agent: None, session: None, ..branch });
        draft.begin(Run { id: id.clone(), scope: Scope::Session, parent, branch, call: None, in_force, ..run.clone() });
        draft.announce(&id);
    }
}
