//! Approvals: what a person is waited for, and what their word is given for (rules 4).

use alloc::collections::BTreeSet;

use serde_json::{Value, json};

use crate::answers::denial::{DenialKind, InvalidCommand};
use crate::answers::rendering;
use crate::calls::cause::By;
use crate::commands::pending_content;
use crate::decide::Done;
use crate::decide::graph::{self, Here};
use crate::evidence::condition::Gate;
use crate::evidence::eval::World;
use crate::gates::pinning;
use crate::gates::question;
use crate::policy::steps::{self, Step, Steps, StepsFile};
use crate::policy::{Phase, Policy, Skill};
use crate::prelude::*;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::unfinished_calls::{Question, Yes};
use crate::state::{Approval, Run, Shown, State};

/// What a run may do next, as far as an approval can change it.
#[derive(PartialEq)]
struct Ways {
    done: Done,
    /// For each phase of the skill, whether the way there is open.
    forward: Vec<bool>,
    /// For each rollback edge of the current phase, whether its condition holds.
    back: Vec<bool>,
}

/// The gates of a run that wait for a person: were all others passed, or as they are now, passing this one would change
/// what the run may do next.
pub(crate) fn waiting<'p>(world: &mut World<'_>, skill: &'p Skill, run: &Run) -> Vec<&'p Gate> {
    let mut gates: Vec<&Gate> = Vec::new();
    for condition in skill.phases.iter().flat_map(Phase::conditions) {
        condition.each_gate(&mut |gate| {
            if !gates.contains(&gate) {
                gates.push(gate);
            }
        });
    }
    gates.retain(|gate| !world.passed(gate, run).holds());
    let of_lines = asked_by_lines(world, skill, run);
    let all: BTreeSet<Gate> = gates.iter().map(|gate| (*gate).clone()).collect();
    gates.retain(|gate| {
        if of_lines.contains(gate) {
            return true;
        }
        let mut others = all.clone();
        others.remove(*gate);
        [others, BTreeSet::new()].into_iter().any(|mut assumed| {
            let without = world.assuming(assumed.clone(), |world| ways(world, skill, run));
            assumed.insert((*gate).clone());
            without != world.assuming(assumed, |world| ways(world, skill, run))
        })
    });
    gates
}

/// The gates that lines ask for, in the phase and in those that can be entered now.
fn asked_by_lines<'p>(world: &mut World<'_>, skill: &'p Skill, run: &Run) -> Vec<&'p Gate> {
    let mut gates = Vec::new();
    if skill.phases.iter().all(|phase| phase.line_conditions().next().is_none()) {
        return gates;
    }
    let Ways { forward, .. } = ways(world, skill, run);
    let here = skill.phase_index(&run.phase);
    for (index, phase) in skill.phases.iter().enumerate() {
        if here == Some(index) || forward.get(index) == Some(&true) {
            phase.line_conditions().for_each(|condition| condition.each_gate(&mut |gate| gates.push(gate)));
        }
    }
    gates
}

fn ways(world: &mut World<'_>, skill: &Skill, run: &Run) -> Ways {
    let index = skill.phase_index(&run.phase).unwrap_or_default();
    let Some(phase) = skill.phases.get(index) else {
        return Ways { done: Done::NotAsked, forward: Vec::new(), back: Vec::new() };
    };
    let done = world.done(run, phase);
    let mut open = |to: &Phase| {
        let found = graph::find(world, skill, run, Here { index, done: Some(done) }, &mut |next| next.name == to.name);
        found.is_some_and(|transition| transition.open)
    };
    let forward = skill.phases.iter().map(&mut open).collect();
    let back = phase.back.iter().map(|back| world.holds(back.when.as_ref(), run)).collect();
    Ways { done, forward, back }
}

/// The turn of the main agent ends: keeps what waits for a person as it is now.
pub(crate) fn show(world: &mut World<'_>, policy: &Policy, draft: &mut Draft) {
    let mut found = Vec::new();
    for run in draft.state().live_runs() {
        let Some(skill) = policy.skill_version(&run.skill, &run.version) else { continue };
        if !has_content(skill) {
            continue;
        }
        let mut shown = Vec::new();
        for gate in waiting(world, skill, run) {
            if let Some(content) = &gate.content {
                shown.push(Shown { gate: gate.clone(), content: world.in_run(content, run) });
            }
        }
        if run.shown != shown {
            found.push(Change::Shown { run: run.id.clone(), shown });
        }
    }
    found.into_iter().for_each(|change| draft.change(change));
}

/// Whether an approval of the skill is of a content.
fn has_content(skill: &Skill) -> bool {
    let mut found = false;
    for condition in skill.phases.iter().flat_map(Phase::conditions) {
        condition.each_gate(&mut |gate| found |= gate.content.is_some());
    }
    found
}

/// A live run with its skill.
struct Live<'a> {
    run: &'a Run,
    skill: &'a Skill,
}

/// The live runs whose skills are known, the one that began last first.
fn live<'a>(policy: &'a Policy, state: &'a State) -> Vec<Live<'a>> {
    let known = |run: &'a Run| Some(Live { run, skill: policy.skill_version(&run.skill, &run.version)? });
    let mut runs: Vec<Live<'_>> = state.live_runs().filter_map(known).collect();
    runs.reverse();
    runs
}

/// A run that waits for the approval of a name.
struct Waits {
    run: Run,
    /// The index of its phase.
    phase: usize,
    gates: Vec<Gate>,
}

/// What a person says to what waits for them.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// It is approved.
    Yes,
    /// It is not, as it is now.
    No,
}

/// Approves or rejects a name in the run that waits for it, or accepts a changed tool. Of several runs, the one that began
/// last.
pub(crate) fn answer(
    world: &mut World<'_>,
    policy: &Policy,
    draft: &mut Draft,
    answered: &Answered<'_>,
) -> Result<Value, DenialKind> {
    match answered.word {
        Word::Yes => approve(world, policy, draft, answered),
        Word::No => {
            if let Some(Question { name, of, skill, .. }) = question::refuse(draft, answered.name) {
                return Ok(json!({"status": "rejected", "name": name, "of": of, "skill": skill}));
            }
            of_run(world, policy, draft, answered)
        }
    }
}

/// An answer of a person.
pub(crate) struct Answered<'a> {
    pub(crate) name: &'a str,
    pub(crate) word: Word,
    /// The file that alone it is meant of, where the person names one.
    pub(crate) path: Option<&'a str>,
    /// When, in milliseconds since 1970-01-01 UTC, where known.
    pub(crate) at: Option<i64>,
}

fn approve(
    world: &mut World<'_>,
    policy: &Policy,
    draft: &mut Draft,
    answered: &Answered<'_>,
) -> Result<Value, DenialKind> {
    let Answered { name, at, .. } = *answered;
    let invalid = |why| DenialKind::CommandInvalid(why);
    if let Some(accepted) = pinning::accept(&draft.state().project, name) {
        draft.change(accepted.ok_or_else(|| invalid(InvalidCommand::NoToolChanged { name: name.to_string() }))?);
        return Ok(json!({"status": "approved", "name": name}));
    }
    if let Some(asked) = question::answer(draft, name, at) {
        let Question { name, of, skill, .. } = asked?;
        return Ok(json!({"status": "approved", "name": name, "of": of, "skill": skill}));
    }
    of_run(world, policy, draft, answered)
}

fn of_run(
    world: &mut World<'_>,
    policy: &Policy,
    draft: &mut Draft,
    answered: &Answered<'_>,
) -> Result<Value, DenialKind> {
    let Answered { name, word, path, at } = *answered;
    let invalid = |why| DenialKind::CommandInvalid(why);
    let mut known: Vec<String> = draft.state().session.questions.iter().map(|question| question.name.clone()).collect();
    let mut found = None;
    for Live { run, skill } in live(policy, draft.state()) {
        let gates = waiting(world, skill, run);
        let meant: Vec<Gate> = gates.iter().filter(|gate| gate.name == name).map(|gate| (*gate).clone()).collect();
        if found.is_none() && !meant.is_empty() {
            let phase = skill.phase_index(&run.phase).unwrap_or_default();
            found = Some(Waits { run: run.clone(), phase, gates: meant });
        }
        known.extend(gates.into_iter().map(|gate| gate.name.clone()));
    }
    known.sort();
    known.dedup();
    let Some(Waits { run, phase, gates }) = found else {
        let runs: Vec<Run> = draft.state().live_runs().cloned().collect();
        let given = runs.iter().flat_map(|run| run.approvals.iter().map(move |approval| (run, &approval.gate)));
        if given.into_iter().any(|(run, gate)| gate.name == name && world.passed(gate, run).holds()) {
            return Err(invalid(InvalidCommand::AlreadyApproved { name: name.to_string() }));
        }
        return Err(invalid(match rewritten(world, policy, draft.state(), name) {
            Some(path) => InvalidCommand::Rewritten { path },
            None => InvalidCommand::NothingWaits { name: name.to_string(), waiting: known },
        }));
    };
    let given = gates.into_iter().map(|gate| {
        let content = content(world, &run, &gate).map_err(&invalid)?;
        Ok(Approval { gate, content, by: By::Human, at, phase, visit: run.visit })
    });
    let given = given.collect::<Result<Vec<Approval>, DenialKind>>()?;
    if let Some(path) = path {
        of_one_file(&given, name, path).map_err(&invalid)?;
    }
    let now = given
        .iter()
        .filter_map(|approval| Some(Shown { gate: approval.gate.clone(), content: approval.content.clone()? }));
    if let Some(changed) = (word == Word::Yes).then(|| pending_content::changed(draft, &run, now.collect())).flatten() {
        return Err(invalid(changed));
    }
    let plan = match approved_plan(world, policy, &run, &given).filter(|_| word == Word::Yes) {
        None => None,
        Some(Ok(plan)) => Some(plan),
        Some(Err(why)) => return Err(invalid(InvalidCommand::PlanUnusable { name: name.to_string(), why })),
    };
    for approval in given {
        let run = run.id.clone();
        draft.change(match word {
            Word::Yes => Change::ApprovalGiven { run, approval },
            Word::No => Change::Rejected { run, no: approval },
        });
    }
    if word == Word::No {
        let text = rendering::rejected(name);
        draft.change(Change::NoticeDue { run: run.id.clone(), about: format!("no to {name}"), text });
    }
    let status = if word == Word::Yes { "approved" } else { "rejected" };
    Ok(answered_with(json!({"status": status, "name": name, "skill": run.skill}), plan.as_ref()))
}

/// The file that a live run wrote to have it approved under this name, and that another session wrote after it.
fn rewritten(world: &World<'_>, policy: &Policy, state: &State, name: &str) -> Option<String> {
    live(policy, state).into_iter().find_map(|Live { run, skill }| {
        let mut found = None;
        for condition in skill.phases.iter().flat_map(Phase::conditions) {
            condition.each_gate(&mut |gate| {
                let content = gate.content.as_ref().filter(|_| gate.name == name && found.is_none());
                found = content.and_then(|content| world.rewritten(content, run)).or(found.take());
            });
        }
        found
    })
}

/// Checks that the word is about the file that a person means, and no other.
fn of_one_file(given: &[Approval], name: &str, named: &str) -> Result<(), InvalidCommand> {
    let files = given.iter().filter_map(|one| one.content.as_ref()?.as_object()).flat_map(|files| files.keys());
    let (meant, others): (Vec<&String>, Vec<&String>) = files.partition(|file| steps::is_meant(file, named));
    if others.is_empty() {
        // What is approved of no file is not what the words after its name mean.
        let nothing =
            || InvalidCommand::NothingWaits { name: format!("{name} {named}"), waiting: Vec::from([name.to_string()]) };
        return if meant.is_empty() { Err(nothing()) } else { Ok(()) };
    }
    let others: Vec<String> = others.into_iter().cloned().collect();
    if meant.is_empty() {
        return Err(InvalidCommand::OtherPlan { named: named.to_string(), waiting: others });
    }
    let why = format!("`{}` was written beside it", others.join("`, `"));
    Err(InvalidCommand::PlanUnusable { name: name.to_string(), why })
}

/// What a gate is about, as it is now; `None`: it is about no content.
fn content(world: &mut World<'_>, run: &Run, gate: &Gate) -> Result<Option<Value>, InvalidCommand> {
    let Some(content) = &gate.content else { return Ok(None) };
    match world.in_run(content, run) {
        value if value.is_null() || value.as_object().is_some_and(serde_json::Map::is_empty) => {
            Err(InvalidCommand::NothingToApprove { name: gate.name.clone(), what: content.text.clone() })
        }
        value => Ok(Some(value)),
    }
}

/// The answer, with the file and the steps of the plan that was approved.
fn answered_with(mut answer: Value, plan: Option<&Steps>) -> Value {
    if let (Some(plan), Value::Object(fields)) = (plan, &mut answer) {
        let step =
            |step: &Step| json!({"id": step.id, "text": step.text, "permits": step.permits(), "after": step.after});
        fields.insert("path".to_string(), Value::from(plan.path.as_str()));
        fields.insert("steps".to_string(), plan.each.iter().map(step).collect());
    }
    answer
}

/// The steps of the plan that would be approved, or why it cannot be carried out; `None`: it is none of which a phase
/// carries out the steps, or they are not known yet.
fn approved_plan(
    world: &mut World<'_>,
    policy: &Policy,
    run: &Run,
    given: &[Approval],
) -> Option<Result<Steps, String>> {
    let skill = policy.skill_version(&run.skill, &run.version)?;
    let of = |file: &StepsFile| {
        let is_it =
            |one: &&Approval| one.gate.content.as_ref().is_some_and(|content| content.fact == file.content.fact);
        given.iter().find(is_it).and_then(|one| one.content.as_ref()?.as_object())
    };
    let (file, files) = skill.phases.iter().find_map(|phase| {
        let file = phase.steps.as_deref()?;
        Some((file, of(file)?))
    })?;
    world.steps(file, files)
}

/// Takes an approval back, in the run that has it and began last. The answer says whether the run waits for it again: it
/// does not if it has passed what the approval opened.
pub(crate) fn revoke(
    world: &mut World<'_>,
    policy: &Policy,
    draft: &mut Draft,
    name: &str,
) -> Result<Value, DenialKind> {
    if let Some(Question { name, of, skill, .. }) = question::refuse(draft, name) {
        return Ok(json!({"status": "revoked", "name": name, "of": of, "skill": skill, "waits": true}));
    }
    let has = |run: &&Run| run.approvals.iter().any(|approval| approval.gate.name == name);
    let run = draft.state().live_runs().filter(has).last().map(|run| (run.id.clone(), run.skill.clone()));
    let Some((run, skill)) = run else {
        let all = draft.state().live_runs().flat_map(|run| &run.approvals);
        let approved = all.map(|approval| approval.gate.name.clone()).collect();
        let why = InvalidCommand::NothingApproved { name: name.to_string(), approved };
        return Err(DenialKind::CommandInvalid(why));
    };
    draft.change(Change::ApprovalRevoked { run: run.clone(), name: name.to_string() });
    let mut answer = json!({"status": "revoked", "name": name, "skill": skill});
    let of_run = live(policy, draft.state()).into_iter().find(|live| live.run.id == run);
    if let (Some(Live { run, skill }), Value::Object(fields)) = (of_run, &mut answer) {
        let waits = waiting(world, skill, run).iter().any(|gate| gate.name == name);
        fields.insert("waits".to_string(), Value::from(waits));
        fields.insert("phase".to_string(), Value::from(run.phase.as_str()));
    }
    Ok(answer)
}

/// The gates that wait for a person, and the approvals that were given in live runs.
pub(crate) fn list(world: &mut World<'_>, policy: &Policy, state: &State) -> Value {
    let (mut waits, mut given) = (Vec::new(), Vec::new());
    for Question { name, of, skill, phase, yes, .. } in &state.session.questions {
        match yes {
            None => waits.push(json!({"name": name, "skill": skill, "phase": phase, "of": of})),
            Some(Yes { by, at }) => given.push(json!({"name": name, "skill": skill, "of": of, "by": by, "at": at})),
        }
    }
    for Live { run, skill } in live(policy, state) {
        for gate in waiting(world, skill, run) {
            let what = gate.content.as_ref().map(|content| content.text.as_str());
            let mut one = json!({
                "name": gate.name, "skill": run.skill, "phase": run.phase, "of": what, "run": run.id, "scope": run.scope,
            });
            if let Value::Object(fields) = &mut one {
                let files = gate.content.as_ref().map(|content| world.in_run(content, run)).filter(Value::is_object);
                fields.extend(files.map(|files| ("files".to_string(), files)));
                fields.extend(world.is_rejected(gate, run).then(|| ("rejected".to_string(), Value::from(true))));
            }
            waits.push(one);
        }
        for approval in &run.approvals {
            let what = approval.gate.content.as_ref().map(|content| content.text.as_str());
            let holds = world.passed(&approval.gate, run).holds();
            given.push(json!({
                "name": approval.gate.name, "skill": run.skill, "of": what, "by": approval.by, "at": approval.at,
                "holds": holds, "run": run.id, "scope": run.scope,
            }));
        }
    }
    json!({"waiting": waits, "approved": given})
}
