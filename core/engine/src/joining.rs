//! Joining: a session goes on with copies of another session's runs, each from where it stands (rules 4).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::policy::Scope;
use crate::state::{Record, Run, State, Status};

/// Copies live runs into the session and answers the ids they have here. A skill that is live here already keeps its
/// own run. Calls that are open where the runs come from prove nothing here.
pub(crate) fn join(state: &mut State, runs: &[Run], records: &mut Vec<Record>) -> Vec<String> {
    let mut joined = Vec::new();
    for run in runs {
        let here = state.live_runs().any(|live| live.skill == run.skill);
        if here || run.status != Status::Active {
            continue;
        }
        state.session.runs_begun = state.session.runs_begun.saturating_add(1);
        let id = format!("r{}", state.session.runs_begun);
        records.push(Record::ActivateSkill {
            run: id.clone(),
            skill: run.skill.clone(),
            phase: run.phase.clone(),
            mode: run.mode,
            by: run.by,
        });
        let copy = Run { id: id.clone(), scope: Scope::Session, parent: None, call: None, ..run.clone() };
        state.session.runs.push(copy);
        joined.push(id);
    }
    joined
}
