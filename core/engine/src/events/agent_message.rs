//! What the agent says: a finished message counts where the phase of a run asks for one (rules 3.3).

use serde_json::Value;

use crate::events::event::{Event, EventKind};
use crate::evidence::condition::SaysTest;
use crate::evidence::eval::World;
use crate::evidence::fact::FactValue;
use crate::evidence::proof::Proved;
use crate::policy::{Phase, Policy};
use crate::prelude::*;
use crate::runs::tree;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{Run, State};

/// The role of a message of the agent.
pub const ASSISTANT: &str = "assistant";

/// Who said something.
struct Speaker<'a> {
    /// The id of the subagent; `None`: the main agent.
    agent: Option<&'a str>,
    /// Its type, where known.
    kind: &'a str,
}

/// A phase that asks for a message.
struct Asking<'p> {
    run: String,
    phase: usize,
    visit: u32,
    tests: Vec<&'p SaysTest>,
}

/// The text of the agent's finished message, if the event has one.
pub fn message(event: &Event) -> Option<&str> {
    match &event.kind {
        EventKind::Message { role, text, complete: true, .. } if role == ASSISTANT => Some(text),
        EventKind::SubagentStop { message, .. } => message.as_deref(),
        _ => None,
    }
}

/// Takes a message of the agent for evidence, in the phases that ask for one. A message counts once, in the phase that a run
/// is in when it arrives; one that repeats the message before it counts for nothing.
pub(crate) fn heard(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, event: &Event) {
    if message(event).is_none() {
        return;
    }
    let speaker = match &event.kind {
        EventKind::SubagentStop { id, kind, .. } => Speaker { agent: Some(id), kind },
        _ => {
            let kind = event.agent.as_ref().map(|agent| agent.kind.as_str()).unwrap_or_default();
            Speaker { agent: event.subagent(), kind }
        }
    };
    let before = draft.state().session.said.clone();
    for asking in asking(policy, draft.state(), &speaker) {
        let Asking { run, phase, visit, tests } = asking;
        let mut atoms = Vec::new();
        for test in tests {
            let Some(FactValue::Known(Value::String(digest))) = world.fact(&test.fact) else { continue };
            if before.as_ref() == Some(&digest) {
                return;
            }
            atoms.push((test.atom, digest));
        }
        let Some((_, digest)) = atoms.first().cloned() else { continue };
        let atoms = atoms.into_iter().map(|(atom, _)| atom).collect();
        draft.change(Change::Proved(Proved { run, phase, visit, atoms, ..Proved::default() }));
        draft.change(Change::MessageHeard { digest });
    }
}

/// Whether a message of the main agent would be looked at.
pub fn is_asked(policy: &Policy, state: &State) -> bool {
    !asking(policy, state, &Speaker { agent: None, kind: "" }).is_empty()
}

/// The phases that ask for a message, and that nothing has said so in yet.
fn asking<'p>(policy: &'p Policy, state: &State, speaker: &Speaker<'_>) -> Vec<Asking<'p>> {
    let mut found = Vec::new();
    let below = tree::Below::of(state);
    for root in tree::roots(state) {
        let path = tree::path(state, &below, root, speaker.agent, &mut |_| false);
        let Some(run) = path.last() else { continue };
        let Some((index, phase)) = phase_of(policy, run) else { continue };
        let does = |kind: &String| kind == speaker.kind && speaker.agent.is_some_and(|agent| run.started(agent));
        if phase.done_by.as_ref().is_some_and(|kind| !does(kind)) {
            continue;
        }
        let known = |test: &SaysTest| run.evidence.iter().any(|one| one.atom == test.atom && one.visit == run.visit);
        let mut tests = Vec::new();
        for condition in phase.done_when.iter().chain(&phase.failed_when) {
            condition.each_says(&mut |test| tests.extend(Some(test).filter(|test| !known(test))));
        }
        if !tests.is_empty() {
            found.push(Asking { run: run.id.clone(), phase: index, visit: run.visit, tests });
        }
    }
    found
}

/// The phase that a run is in.
fn phase_of<'p>(policy: &'p Policy, run: &Run) -> Option<(usize, &'p Phase)> {
    let skill = policy.skill_version(&run.skill, &run.version)?;
    let index = skill.phase_index(&run.phase)?;
    skill.phases.get(index).map(|phase| (index, phase))
}
