//! Where each live run stands, for a person or an agent that asks.

use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use serde_json::{Value, json};

use crate::decide::Done;
use crate::eval::{World, texts};
use crate::graph::{Here, can_finish};
use crate::matcher::Matcher;
use crate::phrase;
use crate::plan::PlanProgress;
use crate::policy::{LeaveSkill, Phase, Policy, Scope, Skill};
use crate::rendering;
use crate::state::{Branch, Children, Run, State};
use crate::stopped::stopped;

/// A live run, its skill and its phase.
struct Place<'a> {
    run: &'a Run,
    skill: &'a Skill,
    index: usize,
    phase: &'a Phase,
}

/// The live runs whose skills are known, the one that began last first.
fn places<'a>(policy: &'a Policy, state: &'a State) -> Vec<Place<'a>> {
    let known = |run: &'a Run| {
        let skill = policy.skill_version(&run.skill, &run.version)?;
        let index = skill.phase_index(&run.phase).unwrap_or_default();
        Some(Place { run, skill, index, phase: skill.phases.get(index)? })
    };
    let mut places: Vec<Place<'_>> = state.live_runs().filter_map(known).collect();
    places.reverse();
    places
}

/// The answer of `get_skill_phase`: the original's fields for the run that began last, and what is missing there. Where
/// others judge calls too, `other_runs` has them.
pub(crate) fn newest(world: &mut World<'_>, policy: &Policy, state: &State) -> Option<Value> {
    let places = places(policy, state);
    let (newest, others) = places.split_first()?;
    let mut answer = original(world, newest);
    if let (Value::Object(fields), false) = (&mut answer, others.is_empty()) {
        let others: Vec<Value> = others.iter().map(|place| original(world, place)).collect();
        fields.insert("other_runs".to_string(), Value::from(others));
    }
    Some(answer)
}

/// The answer of `runs`: every live run, the one that began last first.
pub(crate) fn all(world: &mut World<'_>, policy: &Policy, state: &State) -> Value {
    Value::from(places(policy, state).iter().map(|place| whole(world, state, place)).collect::<Vec<_>>())
}

fn original(world: &mut World<'_>, place: &Place<'_>) -> Value {
    let Place { run, skill, index, phase } = *place;
    let mut answer = json!({
        "active": true,
        "skill_name": skill.name,
        "current_phase": phase.name,
        "phase_index": index,
        "total_phases": skill.phases.len(),
        "mode": run.mode.word(),
        "allowed_tools": texts(phase.lines(run.at_gate())),
        "forbidden_tools": texts(&forbidden(skill, phase)),
        "tool_history": run.history,
    });
    let missing = world.missing_here(run, phase).words;
    if let (Value::Object(fields), false) = (&mut answer, missing.is_empty()) {
        fields.insert("missing".to_string(), json!(missing));
    }
    if let (Value::Object(fields), false) = (&mut answer, skill.inputs.is_empty()) {
        fields.insert("inputs".to_string(), json!(skill.values()));
    }
    if let (Value::Object(fields), true) = (&mut answer, run.unfinished) {
        fields.insert("unfinished".to_string(), json!(true));
    }
    answer
}

/// The original's fields, and what a person asks for besides: all that the words of `phase` leave open.
fn whole(world: &mut World<'_>, state: &State, place: &Place<'_>) -> Value {
    let Place { run, skill, index, phase } = *place;
    let done = world.done(run, phase);
    let missing = world.missing_here(run, phase);
    let atoms: Vec<u32> = missing.calls.iter().map(|test| test.atom).collect();
    let uncounted = run.uncounted.iter().rev().find(|one| atoms.contains(&one.atom));
    let next = phase.next.first().and_then(|edge| skill.phases.get(edge.to));
    let requires = next.and_then(|next| next.requires.as_ref());
    let finished = done == Done::Yes && can_finish(world, skill, run, Here { index, done: Some(done) });
    let details = json!({
        "run": run.id,
        "scope": match run.scope { Scope::Session => "session", Scope::Project => "project" },
        "judges": run.children != Children::Live,
        "done": match done { Done::NotAsked => None, Done::No => Some(false), Done::Yes => Some(true) },
        "needs": missing.phrases,
        "uncounted": uncounted.map(|one| rendering::uncounted(one.why)),
        "next": next.map(|next| next.name.as_str()),
        "next_requires": requires.map(|condition| world.missing_there(run, condition).phrases).unwrap_or_default(),
        "finished": finished,
        "left_by": match skill.leave_skill {
            LeaveSkill::Agent => "agent",
            LeaveSkill::Finished => "finished",
            LeaveSkill::Human => "human",
        },
        "allows": phrase::lines(phase.lines(run.at_gate())),
        "forbids": phrase::lines(&forbidden(skill, phase)),
    });
    let mut answer = original(world, place);
    if let (Value::Object(fields), Some(session)) = (&mut answer, &run.held_by) {
        fields.insert("held_by".to_string(), json!(session));
    }
    if let (Value::Object(fields), true) = (&mut answer, run.stands_still()) {
        let why = stopped(state, run, skill, "", None);
        fields.insert("stopped".to_string(), json!(rendering::why_stopped(&why)));
    }
    if let (Value::Object(fields), Value::Object(details)) = (&mut answer, details) {
        fields.extend(details);
        fields.extend(run.branch.as_ref().filter(|part| !part.name.is_empty()).map(branch));
        fields.extend(run.plan.as_ref().map(|progress| ("plan".to_string(), plan(run, progress))));
    }
    answer
}

/// The name of the branch or the element that a run is.
fn branch(part: &Branch) -> (String, Value) {
    ("branch".to_string(), json!(part.name))
}

/// The plan whose elements a run's phase runs: each with its wave and how far it is.
fn plan(run: &Run, progress: &PlanProgress) -> Value {
    let ready: Vec<usize> = progress.ready().map(|(place, _)| place).collect();
    let elements = progress.plan.elements.iter().enumerate().map(|(place, element)| {
        let state = match () {
            () if progress.finished.contains(&place) => "finished",
            () if ready.contains(&place) => "live",
            () => "waits",
        };
        json!({"id": element.id, "wave": progress.plan.waves.get(element.wave), "state": state})
    });
    json!({
        "path": progress.plan.path,
        "wave": progress.plan.waves.get(progress.wave),
        "gate": run.at_gate(),
        "elements": elements.collect::<Vec<_>>(),
    })
}

/// What a phase forbids, and what the skill forbids everywhere.
pub(crate) fn forbidden(skill: &Skill, phase: &Phase) -> Vec<Matcher> {
    phase.forbidden.iter().chain(&skill.global_forbidden).cloned().collect()
}
