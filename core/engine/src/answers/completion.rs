//! Completion: the agent is told once that a composite skill is complete, and what its phases left (rules 3.4).

use alloc::collections::BTreeSet;

use serde_json::{Value, json};

use crate::commands::run_status;
use crate::events::event::{Event, EventKind};
use crate::evidence::eval::World;
use crate::policy::Policy;
use crate::prelude::*;
use crate::state::apply::obligation_run;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{Obligation, Run, State, Status};

/// What such an obligation is about, at the end of its id.
const ABOUT: &str = "complete";
/// The skill that keeps what was learned in a run of another.
const LEARNINGS: &str = "develop-learnings";

/// Has the agent told that a run is complete that ended by itself. What a command ends, its answer says.
pub(crate) fn tell(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, event: &Event, id: &str) {
    if matches!(event.kind, EventKind::Command { .. } | EventKind::Prompt { .. } | EventKind::SessionEnd {}) {
        return;
    }
    let ended = draft.run(id).filter(|run| run.status == Status::Finished && run.parent.is_none());
    let Some(run) = ended.filter(|run| is_composite(policy, run)) else { return };
    let outputs = outputs(world, policy, draft.state(), run);
    let files = outputs.iter().flat_map(|output| output.get("files")?.as_array()).flatten();
    // What comes again after a failure leaves the same files.
    let files: BTreeSet<String> = files.filter_map(Value::as_str).map(|file| format!("`{file}`")).collect();
    let files: Vec<String> = files.into_iter().collect();
    let left = if files.is_empty() { String::new() } else { format!(" Its phases left {}.", files.join(", ")) };
    let learned = match policy.skill(LEARNINGS).filter(|skill| skill.name != run.skill) {
        Some(_) => format!(" What was learned is a run of its own: invoke the skill `{LEARNINGS}`."),
        None => String::new(),
    };
    let text = format!("phasegate: {}. Tell the user what was made.{left}{learned}", words(&run.skill));
    draft.change(Change::NoticeDue { run: id.to_string(), about: ABOUT.to_string(), text });
}

/// That a skill is complete, as an agent reads it.
pub(crate) fn words(skill: &str) -> String {
    format!("SKILL_COMPLETE {skill}")
}

/// Whether an obligation tells of a run that has ended.
pub(crate) fn is_told_by(obligation: &Obligation) -> bool {
    obligation_run(&obligation.id).is_some() && obligation.id.ends_with(&format!(":about {ABOUT}"))
}

/// What the phases of a run left, and the run itself: the files that each made.
pub(crate) fn outputs(world: &mut World<'_>, policy: &Policy, state: &State, run: &Run) -> Vec<Value> {
    let mut outputs: Vec<Value> = parts(state, run).map(|part| output(world, policy, run, part)).collect();
    outputs.push(files(world, policy, run));
    outputs
}

/// The runs that the phases of a run consist of or consisted of.
pub(crate) fn parts<'s>(state: &'s State, root: &'s Run) -> impl Iterator<Item = &'s Run> {
    let all = state.project.runs.iter().chain(&state.session.runs);
    all.filter(move |run| run.parent.as_ref() == Some(&root.id))
}

fn is_composite(policy: &Policy, run: &Run) -> bool {
    policy.skill_version(&run.skill, &run.version).is_some_and(|skill| skill.kind() == "composite")
}

fn output(world: &mut World<'_>, policy: &Policy, root: &Run, part: &Run) -> Value {
    let mut told = files(world, policy, part);
    if let Value::Object(fields) = &mut told {
        let skill = policy.skill_version(&root.skill, &root.version);
        fields.insert("phase".to_string(), json!(skill.and_then(|skill| root.phase_of(skill, part))));
        fields.insert("state".to_string(), json!(part.progress()));
    }
    told
}

/// The files that a run made.
fn files(world: &mut World<'_>, policy: &Policy, run: &Run) -> Value {
    let skill = policy.skill_version(&run.skill, &run.version);
    let made =
        skill.into_iter().flat_map(|skill| &skill.artifacts).map(|artifact| run_status::made(world, artifact, run));
    let files: Vec<Value> = made.filter_map(|made| made.as_array().cloned()).flatten().collect();
    json!({"skill": run.skill, "files": files})
}
