//! Where each live run stands, for a person or an agent that asks.

mod tasks;

use serde_json::{Map, Value, json};

use crate::answers::misplaced_files;
use crate::answers::phrase;
use crate::answers::rendering;
use crate::answers::standstill::stopped;
use crate::calls::cause::By;
use crate::decide::Done;
use crate::decide::graph::{Here, can_finish};
use crate::evidence::artifact::Artifact;
use crate::evidence::eval::{World, texts};
use crate::evidence::fact::Facts;
use crate::policy::matcher::Matcher;
use crate::policy::steps::Step;
use crate::policy::{LeaveSkill, Optional, Phase, Policy, Scope, Skill};
use crate::prelude::*;
use crate::runs::moves;
use crate::runs::tree;
use crate::state::{Branch, Children, Run, State};

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
    let mut answer = original(world, state, newest);
    if let (Value::Object(fields), false) = (&mut answer, others.is_empty()) {
        let others: Vec<Value> = others.iter().map(|place| original(world, state, place)).collect();
        fields.insert("other_runs".to_string(), Value::from(others));
    }
    Some(answer)
}

/// What is missing in the runs of a tree that judge calls, each with its phase.
pub(crate) fn missing(world: &mut World<'_>, policy: &Policy, state: &State, root: &str) -> Vec<String> {
    let of_tree = |place: &&Place<'_>| place.run.children != Children::Live && tree::root(state, place.run).id == root;
    let mut missing = Vec::new();
    for Place { run, skill, phase, .. } in places(policy, state).iter().filter(of_tree) {
        let wanted = world.missing_here(run, phase).phrases;
        if !wanted.is_empty() {
            missing.push(format!("phase \"{}\" of {} still needs {}", phase.name, skill.name, wanted.join(" and ")));
        }
    }
    missing
}

/// The answer of `runs`: every live run, the one that began last first.
pub(crate) fn all(world: &mut World<'_>, policy: &Policy, state: &State) -> Value {
    Value::from(places(policy, state).iter().map(|place| whole(world, state, place)).collect::<Vec<_>>())
}

fn original(world: &mut World<'_>, state: &State, place: &Place<'_>) -> Value {
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
    if let (Value::Object(fields), true) = (&mut answer, run.stands_still()) {
        let why = stopped(state, run, skill, "", None);
        fields.insert("stopped".to_string(), json!(rendering::why_stopped(&why)));
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
    let finished = done == Done::Yes && can_finish(world, skill, run, Here { index, done: Some(done) });
    let details = json!({
        "run": run.id,
        "scope": match run.scope { Scope::Session => "session", Scope::Project => "project" },
        "judges": run.children != Children::Live,
        "done": match done { Done::NotAsked => None, Done::No => Some(false), Done::Yes => Some(true) },
        "needs": missing.phrases,
        "uncounted": uncounted.map(|one| rendering::uncounted(one.why)),
        "next": next.map(|next| next.name.as_str()),
        "next_requires": next.map(|next| world.missing_to_enter(run, next).phrases).unwrap_or_default(),
        "finished": finished,
        "left_by": match skill.leave_skill {
            LeaveSkill::Agent => "agent",
            LeaveSkill::Finished => "finished",
            LeaveSkill::Human => "human",
        },
        "allows": phrase::lines(phase.lines(run.at_gate())),
        "forbids": phrase::lines(&forbidden(skill, phase)),
    });
    let mut answer = original(world, state, place);
    if let (Value::Object(fields), Some(session)) = (&mut answer, &run.held_by) {
        fields.insert("held_by".to_string(), json!(session));
    }
    if let (Value::Object(fields), true) = (&mut answer, run.stands_still()) {
        let why = stopped(state, run, skill, "", None);
        fields.insert("ways_on".to_string(), json!(format!("you {}", rendering::ways_on(&why))));
    }
    if let (Value::Object(fields), Value::Object(details)) = (&mut answer, details) {
        fields.extend(details);
        fields.extend(run.branch.as_ref().filter(|part| !part.name.is_empty()).map(branch));
        fields.extend(run.plan.as_ref().map(|progress| ("plan".to_string(), tasks::plan(state, run, phase, progress))));
        let steps = run.steps.as_ref().filter(|_| phase.steps.is_some());
        fields.extend(steps.map(|steps| ("steps".to_string(), steps.each.iter().map(step).collect())));
        fields.extend(run.parent.as_ref().map(|parent| ("part_of".to_string(), json!(parent))));
        fields.insert("way".to_string(), way(place));
        let artifacts = skill.artifacts.iter().map(|artifact| (artifact.name.clone(), kept(world, artifact, place)));
        fields.insert("artifacts".to_string(), Value::Object(artifacts.collect()));
        if let (true, Some((phase, skipped))) = (done == Done::Yes, moves::goes_on_to(world, run, skill)) {
            fields.insert("goes_on_to".to_string(), json!({"phase": phase, "skipped": skipped}));
        }
        let faults = missing.format_faults;
        fields.extend((!faults.is_empty()).then(|| ("format_faults".to_string(), json!(faults))));
        let warnings = warnings(skill, run);
        fields.extend((!warnings.is_empty()).then(|| ("warnings".to_string(), json!(warnings))));
    }
    answer
}

/// A step of the plan that is carried out.
fn step(step: &Step) -> Value {
    json!({"id": step.id, "state": step.state, "permits": step.permits()})
}

/// The files of an artifact that the run made, or that are there where none of its phases makes it.
pub(crate) fn made(world: &mut World<'_>, artifact: &Artifact, run: &Run) -> Value {
    match world.in_run(&artifact.content, run) {
        Value::Object(files) => files.into_iter().map(|(path, _)| path).collect(),
        _ => Value::Null,
    }
}

/// As [`made`]; of an artifact that a later phase makes anew, and has not yet, what is there of an earlier one.
fn kept(world: &mut World<'_>, artifact: &Artifact, place: &Place<'_>) -> Value {
    let Place { run, skill, index, .. } = *place;
    let made = made(world, artifact, run);
    let makes = |phase: &Phase| skill.produced_in(phase).any(|one| one.name == artifact.name);
    let was_in = |at: &usize| run.kept.iter().any(|(kept, _)| kept == at);
    let mut before = (0..index).filter(was_in).filter_map(|at| skill.phases.get(at));
    if made.as_array().is_none_or(|files| !files.is_empty()) || !before.any(makes) {
        return made;
    }
    match world.now(&artifact.content) {
        Value::Object(files) => files.into_iter().map(|(path, _)| path).collect(),
        _ => made,
    }
}

/// As [`made`], by these facts, also of a run that has ended; `null` if they do not tell.
pub fn files_made(artifact: &Artifact, run: &Run, facts: &Facts) -> Value {
    made(&mut World::new(facts), artifact, run)
}

/// The way that the run has gone: each phase with what became of it.
fn way(place: &Place<'_>) -> Value {
    let Place { run, skill, index, .. } = *place;
    let each = skill.phases.iter().enumerate().map(|(at, phase)| {
        let visited = run.kept.iter().any(|(kept, _)| *kept == at);
        let skipped = run.skipped.iter().rev().find(|one| one.phase == phase.name);
        let said = run.said_done.iter().rev().find(|one| one.phase == phase.name);
        // Of a phase that was left early, and of one that was entered after it was passed over, both are known.
        let skipped = skipped.filter(|one| !visited || (one.ahead.is_none() && run.backs.is_empty()));
        let mut fields = Map::from_iter([("phase".to_string(), json!(phase.name))]);
        let state = match (at == index, skipped, visited) {
            (true, ..) => "current",
            (_, Some(one), _) if at < index || one.ahead.is_some() => {
                fields.extend(caused(one.by, one.who.as_ref()));
                if let (Optional::When(condition), By::Agent | By::Platform) = (&phase.optional, one.by) {
                    fields.insert("why".to_string(), json!(phrase::reason(condition)));
                }
                "skipped"
            }
            (_, _, true) => {
                fields.extend(said.into_iter().flat_map(|said| caused(By::Human, said.who.as_ref())));
                "done"
            }
            _ => "ahead",
        };
        fields.insert("state".to_string(), json!(state));
        Value::Object(fields)
    });
    Value::from(each.collect::<Vec<_>>())
}

/// Who caused something.
fn caused(by: By, who: Option<&String>) -> impl Iterator<Item = (String, Value)> {
    let by = ("by".to_string(), json!(by));
    core::iter::once(by).chain(who.map(|who| ("who".to_string(), json!(who))))
}

/// What counts in a run and should not be so.
fn warnings(skill: &Skill, run: &Run) -> Vec<String> {
    let artifact = |name: &str| skill.artifacts.iter().find(|artifact| artifact.name == name);
    let said = run.deprecated.iter().filter_map(|file| Some(misplaced_files::told(artifact(&file.artifact)?, file)));
    said.collect()
}

/// The name of the branch or the element that a run is.
fn branch(part: &Branch) -> (String, Value) {
    ("branch".to_string(), json!(part.name))
}

/// What a phase forbids, and what the skill forbids everywhere. A line that forbids only until something has happened says so.
pub(crate) fn forbidden(skill: &Skill, phase: &Phase) -> Vec<Matcher> {
    let waits = phase.forbidden_until.iter().filter_map(|until| {
        let line = phase.forbidden.get(until.line)?;
        Some(Matcher { text: format!("{} until {}", line.text, phrase::wanted(&until.condition)), ..line.clone() })
    });
    let always = phase.always_forbidden().map(|(_, line)| line).chain(&skill.global_forbidden).cloned();
    waits.chain(always).collect()
}
