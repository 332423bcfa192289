//! Waves: the elements of a plan that a phase runs, as far as they are due, and the gate at the end of each wave.

use alloc::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::evidence::eval::World;
use crate::evidence::fact::FactValue;
use crate::policy::plan::PlanProgress;
use crate::policy::steps::{self, Steps, StepsFile};
use crate::policy::{ChildRun, ChildRuns, Phase, Policy, Skill};
use crate::prelude::*;
use crate::runs::inputs;
use crate::runs::new_run::Place;
use crate::runs::tree;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{Approval, Children, Run, State, Status};

/// A run, and the plan whose elements its phase runs.
#[derive(Clone, Copy)]
pub(crate) struct Elements<'a> {
    pub(crate) skill: &'a Skill,
    pub(crate) run: &'a Run,
    pub(crate) runs: &'a ChildRuns,
    pub(crate) progress: &'a PlanProgress,
}

/// The runs of elements that are to begin now. What a skill with values is not made of yet is asked for.
pub(crate) fn due(world: &mut World<'_>, policy: &Policy, state: &State, of: Elements<'_>) -> Vec<Run> {
    let Elements { skill, run, runs, progress } = of;
    let Some((child, child_skill)) =
        runs.each.first().and_then(|child| Some((child, skill.children.iter().find(|one| one.name == child.skill)?)))
    else {
        return Vec::new();
    };
    let branches = tree::parts(state, run).filter_map(|part| part.branch.as_ref());
    let begun: BTreeSet<usize> = branches.filter(|own| !own.void).map(|own| own.place).collect();
    let mut due = Vec::new();
    for (at, element) in progress.ready().filter(|(at, _)| !begun.contains(at)) {
        let values = inputs::of_place(child_skill, child).into_iter().chain(element.values.clone()).collect();
        let Some(own) = inputs::made(world, policy, child_skill, &values) else { continue };
        let child = ChildRun { branch: element.id.clone(), ..child.clone() };
        due.push(Run::part_of(run, own, &child, Place { at, more: false }));
    }
    due
}

/// Reads the plans of phases that were entered, and passes on where a wave has ended. Returns whether anything did.
pub(crate) fn pass(world: &mut World<'_>, policy: &Policy, draft: &mut Draft) -> bool {
    // Each change is about its own run alone, and asks nothing of the others that they change.
    let of = |run: &Run| next(world, policy, draft.state(), run).map(|change| (run.id.clone(), change));
    let passed: Vec<(String, Change)> = draft.state().live_runs().filter_map(of).collect();
    let any = !passed.is_empty();
    for (id, change) in passed {
        draft.change(change);
        draft.announce(&id);
    }
    any
}

fn next(world: &mut World<'_>, policy: &Policy, state: &State, run: &Run) -> Option<Change> {
    let skill = policy.skill_version(&run.skill, &run.version)?;
    let phase = skill.phases.get(skill.phase_index(&run.phase)?)?;
    let id = || run.id.clone();
    if let (Some(file), None) = (&phase.steps, &run.steps) {
        let steps = steps_of(world, run, file)?.ok()?;
        return Some(Change::StepsRead { run: id(), steps });
    }
    let file = phase.plan()?;
    match (&run.plan, run.children) {
        (None, Children::None) => {
            let plan = world.plan(run, file)?.ok()?;
            Some(Change::PlanRead { run: id(), plan })
        }
        // A wave of which all was skipped before has no runs.
        (Some(progress), Children::Live | Children::None) => {
            let live = tree::parts(state, run).any(|part| part.status == Status::Active);
            let over = !live && progress.left().next().is_none();
            over.then(|| if has_gate(phase) { Change::GateReached { run: id() } } else { onward(run, progress) })
        }
        (Some(progress), Children::Gate) => world.gate_passed(run, phase).then(|| onward(run, progress)),
        _ => None,
    }
}

fn has_gate(phase: &Phase) -> bool {
    phase.run.as_ref().is_some_and(|run| run.gate)
}

/// The next wave; after the last one the phase is done.
fn onward(run: &Run, progress: &PlanProgress) -> Change {
    match progress.next_wave() {
        Some(wave) => Change::WaveBegan { run: run.id.clone(), wave },
        None => Change::ChildrenEnded { run: run.id.clone(), children: Children::Finished },
    }
}

impl World<'_> {
    /// The steps of the one file that is new here, or why it cannot be carried out; `None`: they are not known yet.
    pub(crate) fn steps(&mut self, file: &StepsFile, files: &Map<String, Value>) -> Option<Result<Steps, String>> {
        if let Err(fault) = steps::only(files) {
            return Some(Err(fault));
        }
        Some(match self.fact(&file.of(files))? {
            FactValue::Known(told) => steps::read(files, &told),
            FactValue::Absent | FactValue::Unknown => Err("its steps cannot be read".to_string()),
        })
    }
}

/// The steps of the plan that a phase carries out; `None`: not known yet, or unknown. They are those that a person
/// approved in this run.
fn steps_of(world: &mut World<'_>, run: &Run, file: &StepsFile) -> Option<Result<Steps, String>> {
    let of_plan =
        |approval: &&Approval| approval.gate.content.as_ref().is_some_and(|content| content.fact == file.content.fact);
    let approved = run.approvals.iter().rev().find(of_plan).and_then(|approval| approval.content.clone());
    let Some(Value::Object(files)) = approved else {
        return Some(Err("no person approved the plan".to_string()));
    };
    world.steps(file, &files)
}
