//! One event: observe, judge, move, record.

use alloc::string::String;
use alloc::vec::Vec;

use serde_json::Value;

use crate::call;
use crate::control::{self, Answer};
use crate::decision::Decision;
use crate::eval::World;
use crate::event::{Event, EventKind};
use crate::fact::{FactKey, Facts};
use crate::joining;
use crate::moves;
use crate::obligation;
use crate::observe;
use crate::policy::Policy;
use crate::protection;
use crate::state::{Obligation, Record, State, Status};

/// What one event led to.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Step {
    /// The answer; `None` for events that ask for none.
    pub decision: Option<Decision>,
    /// The state after the event.
    pub state: State,
    /// What changed, for the journal.
    pub records: Vec<Record>,
    /// What the host must be told, given again until it was taken up.
    pub obligations: Vec<Obligation>,
    /// The answer of a control command.
    pub result: Option<Value>,
    /// Facts that must be gathered before this step counts: call `step` again with them.
    pub needs: Vec<FactKey>,
}

/// The facts that `event` asks for: what [`step`] would want if it had none.
#[must_use]
pub fn needs(policy: &Policy, state: &State, event: &Event) -> Vec<FactKey> {
    step(policy, state, event, &Facts::new()).needs
}

/// Decides one event. Total and pure: the same arguments give the same answer, on every platform.
///
/// If [`Step::needs`] is not empty, the rest does not count: gather those facts and call again with all of them.
/// A fact that cannot be gathered is given as unknown; at most as many calls are needed as the skill has phases.
pub fn step(policy: &Policy, state: &State, event: &Event, facts: &Facts) -> Step {
    let mut world = World::new(facts, &state.project.approvals);
    let mut next = state.clone();
    let mut records = Vec::new();
    let mut touched: Vec<String> = Vec::new();
    let mut result = None;

    observe::observe(policy, &mut next, event, &mut records);
    obligation::taken_up(&mut next, event);
    settle(&mut world, policy, &mut next, (event.name(), &mut touched), &mut records);

    let decision = match &event.kind {
        EventKind::ToolCall { .. } => {
            Some(call::decide(&mut world, policy, &mut next, (event, &mut touched), &mut records))
        }
        EventKind::ConfigChanged { path, unguarded: Some(why) } => Some(protection::unwired(policy, &next, path, why)),
        // A context that begins, or begins anew, has not heard where the runs stand.
        EventKind::SessionStart { .. } | EventKind::SubagentStart { .. } => {
            touched.extend(next.live_runs().map(|run| run.id.clone()));
            None
        }
        EventKind::Join { runs, .. } => {
            touched.extend(joining::join(&mut next, runs, &mut records));
            None
        }
        EventKind::Prompt { text, interactive } => {
            let typed = *interactive == Some(true) && event.subagent().is_none();
            let answer = control::spoken(&mut world, policy, &mut next, (text, typed), &mut records);
            take(answer, &mut touched, &mut result)
        }
        EventKind::Skill { name, by, .. } => {
            touched.extend(control::invoked(&mut world, policy, &mut next, (name, *by), &mut records));
            None
        }
        EventKind::Command { by, name, args } => {
            let answer = control::command(&mut world, policy, &mut next, (*by, name, args), &mut records);
            take(Some(answer), &mut touched, &mut result)
        }
        _ => None,
    };
    settle(&mut world, policy, &mut next, (event.name(), &mut touched), &mut records);
    obligation::derive(policy, &mut next, &touched);
    obligation::give(&mut next, event, decision.as_ref());
    let obligations = next.session.obligations.clone();
    Step { decision, state: next, records, obligations, result, needs: world.into_wanted() }
}

/// Takes the answer of a command, if there was one; the decision where it was refused.
fn take(answer: Option<Answer>, touched: &mut Vec<String>, result: &mut Option<Value>) -> Option<Decision> {
    let (told, refusal) = match answer? {
        Ok((told, runs)) => {
            touched.extend(runs);
            (told, None)
        }
        Err(refused) => (refused.result(), Some(refused.decision())),
    };
    *result = Some(told);
    refusal
}

/// Moves the runs that are left as soon as their phase is done.
fn settle(
    world: &mut World<'_>,
    policy: &Policy,
    state: &mut State,
    (cause, touched): (&str, &mut Vec<String>),
    records: &mut Vec<Record>,
) {
    for run in state.project.runs.iter_mut().chain(&mut state.session.runs) {
        if run.status != Status::Active {
            continue;
        }
        let Some(skill) = policy.skill_version(&run.skill, &run.version) else { continue };
        let moved = moves::settle(world, run, skill, cause);
        if !moved.is_empty() {
            touched.push(run.id.clone());
            records.extend(moved);
        }
    }
}
