//! What a person does to a run: has it go on, skips a phase, or decides about an element of its plan.

use serde_json::{Value, json};

use crate::answers::denial::{DenialKind, InvalidCommand};
use crate::calls::cause::By;
use crate::commands::target::{self, Meant, Named, Words};
use crate::decide::Done;
use crate::decide::graph;
use crate::evidence::eval::World;
use crate::policy::plan::PlanProgress;
use crate::policy::{Optional, Policy, Skill};
use crate::prelude::*;
use crate::runs::activation::end;
use crate::runs::moves;
use crate::runs::tree;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{Children, Run, Status};

/// The most characters of a person's name.
const MAX_WHO_CHARS: usize = 100;

/// What is done.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// The run goes on, or the element is begun anew.
    GoOn,
    /// The phase or the element is skipped.
    Skip,
}

/// What a command of this name does.
pub(crate) fn act(command: &str) -> Act {
    if matches!(command, "advance" | "retry_element") { Act::GoOn } else { Act::Skip }
}

/// A person's order about a phase.
pub(crate) struct Order<'a> {
    pub(crate) act: Act,
    pub(crate) words: Words<'a>,
    /// The name of the person, where known.
    pub(crate) who: Option<&'a str>,
    /// Whether the person said that what lies between is skipped.
    pub(crate) confirmed: bool,
}

/// Has a run go on, or skips a phase of it: the present one, or one that is still to come.
pub(crate) fn phase(
    world: &mut World<'_>,
    policy: &Policy,
    draft: &mut Draft,
    order: &Order<'_>,
) -> Result<Value, DenialKind> {
    let Order { act, words, who, .. } = order;
    let Meant { run: id, phase } = target::phase(policy, draft.state(), words, *act == Act::GoOn)?;
    let follows = || DenialKind::CommandInvalid(InvalidCommand::NoPhaseFollows);
    let run = draft.run(&id).ok_or_else(follows)?;
    let skill = policy.skill_version(&run.skill, &run.version).ok_or_else(follows)?;
    let who = who.map(|who| who.chars().filter(|letter| !letter.is_control()).take(MAX_WHO_CHARS).collect::<String>());
    let mut change = match (act, phase) {
        (Act::GoOn, None) => moves::advance(world, run, skill, None).ok_or_else(follows)?,
        (Act::GoOn, Some(phase)) => {
            let to = skill.phase_index(phase);
            to.and_then(|to| moves::advance(world, run, skill, Some(to))).ok_or_else(|| not_ahead(skill, run, phase))?
        }
        (Act::Skip, Some(phase)) if phase != run.phase => ahead(skill, run, phase)?,
        (Act::Skip, _) => moves::skip(run, skill).ok_or_else(follows)?,
    };
    if let Change::PhaseEntered { who: by, .. } | Change::PhaseSkipped { who: by, .. } = &mut change {
        by.clone_from(&who);
    }
    may_skip(world, run, skill, &change, order.confirmed).map_err(DenialKind::CommandInvalid)?;
    let answer = answer(world, run, skill, &change);
    draft.change(change);
    draft.announce(&id);
    let now = draft.run(&id).filter(|run| run.status == Status::Active).map(|run| run.phase.clone());
    Ok(match (answer, now) {
        (Value::Object(mut fields), now) => {
            fields.insert("current_phase".to_string(), json!(now));
            Value::Object(fields)
        }
        (other, _) => other,
    })
}

/// Whether a person may skip what a change skips: nobody skips some phases, and others are named first.
fn may_skip(
    world: &mut World<'_>,
    run: &Run,
    skill: &Skill,
    change: &Change,
    confirmed: bool,
) -> Result<(), InvalidCommand> {
    let (skipped, to): (&[String], _) = match change {
        Change::PhaseSkipped { phase, .. } => (core::slice::from_ref(phase), None),
        Change::PhaseEntered { skipped, phase, .. } => (skipped, Some(phase)),
        _ => return Ok(()),
    };
    let named = |name: &String| skill.phase_index(name).and_then(|index| skill.phases.get(index));
    let never = skipped.iter().filter(|name| named(name).is_some_and(|phase| phase.optional == Optional::Never));
    let never: Vec<String> = never.cloned().collect();
    if !never.is_empty() {
        return Err(InvalidCommand::NeverSkipped { skill: skill.name.clone(), phases: never });
    }
    let Some(to) = to.filter(|_| !confirmed) else { return Ok(()) };
    let here = skill.phase_index(&run.phase).unwrap_or_default();
    let way = skill.phase_index(to).and_then(|to| graph::way(skill, here, to));
    let between = way.into_iter().flat_map(|way| way.between).filter_map(|index| skill.phases.get(index));
    let unasked: Vec<String> =
        between.filter(|phase| !world.optional(run, phase)).map(|phase| phase.name.clone()).collect();
    if unasked.is_empty() {
        return Ok(());
    }
    Err(InvalidCommand::WouldSkip { to: to.clone(), phases: unasked })
}

/// What is told of the change before it is made.
fn answer(world: &mut World<'_>, run: &Run, skill: &Skill, change: &Change) -> Value {
    match change {
        Change::PhaseSkipped { phase, .. } => {
            json!({"status": "skipped", "skill": skill.name, "run": run.id, "phase": phase})
        }
        Change::PhaseEntered { skipped, said_done, .. } if !skipped.contains(&run.phase) => json!({
            "status": "advanced", "skill": skill.name, "run": run.id, "phase": run.phase, "was_done": !said_done,
            "skipped": skipped,
        }),
        Change::RunEnded { .. } => {
            let here = skill.phase_index(&run.phase).and_then(|here| skill.phases.get(here));
            let was_done = here.is_none_or(|here| world.done(run, here) != Done::No);
            json!({
                "status": "finished", "skill": skill.name, "run": run.id, "phase": run.phase, "was_done": was_done,
                "skipped": [],
            })
        }
        _ => json!({"status": "skipped", "skill": skill.name}),
    }
}

/// A phase that is still to come is skipped.
fn ahead(skill: &Skill, run: &Run, phase: &str) -> Result<Change, DenialKind> {
    let here = skill.phase_index(&run.phase).unwrap_or_default();
    let index = skill.phase_index(phase).filter(|to| graph::way(skill, here, *to).is_some());
    let index = index.ok_or_else(|| not_ahead(skill, run, phase))?;
    if run.is_to_skip(phase) {
        return Err(DenialKind::CommandInvalid(InvalidCommand::AlreadySkipped { phase: phase.to_string() }));
    }
    Ok(Change::PhaseSkipped { run: run.id.clone(), phase: phase.to_string(), index, who: None })
}

fn not_ahead(skill: &Skill, run: &Run, phase: &str) -> DenialKind {
    let here = skill.phase_index(&run.phase).unwrap_or_default();
    let indices = (0..skill.phases.len()).filter(|to| graph::way(skill, here, *to).is_some());
    let ahead: Vec<String> = indices.filter_map(|at| Some(skill.phases.get(at)?.name.clone())).collect();
    let (skill, phase) = (skill.name.clone(), phase.to_string());
    DenialKind::CommandInvalid(InvalidCommand::NotAhead { skill, phase, ahead })
}

/// Has an element of a plan begun anew, or skips it.
pub(crate) fn element(draft: &mut Draft, act: Act, named: Named<'_>) -> Result<Value, DenialKind> {
    let found = target::element(draft.state(), named)?;
    let (run, place) = (found.run, found.place);
    let progress = run.plan.as_ref();
    let known = progress.and_then(|progress| progress.plan.elements.get(place));
    let element = known.map(|element| element.id.clone()).unwrap_or_default();
    // At the gate of its wave, one that has finished may have to be mended.
    let of_wave = |progress: &PlanProgress| {
        progress.plan.elements.get(place).is_some_and(|element| element.wave == progress.wave)
    };
    // One that was skipped can be begun after all while its wave goes on.
    let was_skipped = |progress: &PlanProgress| progress.skipped.contains(&place) && run.children != Children::Failed;
    let open_again =
        act == Act::GoOn && progress.is_some_and(of_wave) && (run.at_gate() || progress.is_some_and(was_skipped));
    if !open_again && progress.is_some_and(|progress| progress.finished.contains(&place)) {
        return Err(DenialKind::CommandInvalid(InvalidCommand::ElementFinished { id: element }));
    }
    let at_place = |part: &&Run| part.branch.as_ref().is_some_and(|branch| branch.place == place && !branch.void);
    let part = tree::parts(draft.state(), run).find(at_place);
    if act == Act::GoOn && part.is_none() && !open_again {
        return Err(DenialKind::CommandInvalid(InvalidCommand::ElementNotBegun { id: element }));
    }
    let (id, skill) = (run.id.clone(), run.skill.clone());
    if let Some(live) = part.filter(|part| part.status == Status::Active).map(|part| part.id.clone()) {
        end(draft, &live, Status::Left, By::Human);
        draft.announce(&live);
    }
    let run = id.clone();
    draft.change(match act {
        Act::GoOn => Change::ElementRetried { run, element: place },
        Act::Skip => Change::ElementSkipped { run, element: place },
    });
    draft.announce(&id);
    let status = if act == Act::GoOn { "retried" } else { "skipped" };
    Ok(json!({"status": status, "skill": skill, "run": id, "element": element}))
}
