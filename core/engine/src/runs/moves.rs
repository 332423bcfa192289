//! Moves: how a run changes phase.

use crate::calls::cause::By;
use crate::decide::graph::{self, Transition};
use crate::decide::judge::Ruling;
use crate::decide::judge::rollback::{is_spent, may_go_back};
use crate::decide::{Done, Line};
use crate::evidence::eval::World;
use crate::policy::{Back, Leave, Optional, Phase, Policy, Skill, Spent};
use crate::prelude::*;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{Children, Run, SpentEdge, Status};

/// The move that the table means for an allowed call; `None` where the run stays in its phase.
pub(crate) fn of_call(run: &Run, skill: &Skill, ruling: &Ruling, done: Done) -> Option<Change> {
    match (ruling.line, &ruling.transition) {
        (Line::Entered, Some(way)) => enter(run, skill, way, done, By::Agent),
        (Line::Back, Some(transition)) => go_back(run, skill, transition.to, By::Agent),
        (Line::Returned, _) if run.provisional.is_some() => Some(Change::PhaseReturned { run: run.id.clone() }),
        _ => None,
    }
}

/// Enters a following phase; what is passed over or left early is skipped.
fn enter(run: &Run, skill: &Skill, transition: &Transition, done: Done, by: By) -> Option<Change> {
    let name = |index: usize| skill.phases.get(index).map(|phase| phase.name.clone());
    let here = skill.phase_index(&run.phase).unwrap_or_default();
    // A phase that nobody skips is over where an edge lets an agent leave it early.
    let is_over = by == By::Agent && skill.phases.get(here).is_some_and(|phase| phase.optional == Optional::Never);
    let early = (done == Done::No && !is_over).then(|| run.phase.clone());
    // What stands between in the file is passed over too where an edge leads past it.
    let past = (here.saturating_add(1)..transition.to).filter(|index| !transition.between.contains(index));
    let passed_over = transition.between.iter().copied().chain(past).filter_map(name);
    Some(Change::PhaseEntered {
        run: run.id.clone(),
        phase: name(transition.to)?,
        index: transition.to,
        by,
        skipped: early.into_iter().chain(passed_over).collect(),
        provisional: done != Done::NotAsked && by == By::Agent && !runs_others(skill, transition.to),
        said_done: false,
        who: None,
    })
}

/// Whether a phase consists of other runs.
fn runs_others(skill: &Skill, index: usize) -> bool {
    skill.phases.get(index).is_some_and(|phase| phase.run.is_some())
}

fn go_back(run: &Run, skill: &Skill, to: usize, by: By) -> Option<Change> {
    let phase = skill.phases.get(to)?.name.clone();
    let here = skill.phase_index(&run.phase).and_then(|here| skill.phases.get(here))?;
    let edge = |on_failure: bool| here.back.iter().any(|back| back.to == to && back.on_failure == on_failure);
    let failed = edge(true) && (by == By::Platform || run.failed || !edge(false));
    Some(Change::PhaseBack { run: run.id.clone(), phase, index: to, by, failed })
}

/// Whether a run has a move to make because its phase is left as soon as it is done.
pub(crate) fn settles(world: &mut World<'_>, policy: &Policy, run: &Run) -> bool {
    let skill = policy.skill_version(&run.skill, &run.version);
    skill.is_some_and(|skill| settling(world, run, skill).is_some())
}

/// Moves a run whose phase is left as soon as it is done, as far as that goes. Returns whether it moved or ended.
pub(crate) fn settle(world: &mut World<'_>, draft: &mut Draft, skill: &Skill, id: &str) -> bool {
    let mut moved = false;
    for _ in 0..=skill.phases.len() {
        let Some(change) = draft.run(id).and_then(|run| settling(world, run, skill)) else { break };
        let over = matches!(change, Change::RunEnded { .. });
        draft.change(change);
        moved = true;
        if over {
            break;
        }
    }
    moved
}

/// The next move of a run that is left as soon as its phase is done.
fn settling(world: &mut World<'_>, run: &Run, skill: &Skill) -> Option<Change> {
    if run.halted.is_some() {
        return None;
    }
    if let Some(edge) = &run.spent {
        let fails = edge.then == Spent::Halt && run.branch.is_some();
        return fails.then(|| ended(run, Status::Failed, By::Platform));
    }
    let here = skill.phase_index(&run.phase).unwrap_or_default();
    let by_children = matches!(run.children, Children::Finished | Children::Failed);
    let phase = skill.phases.get(here)?;
    let fails = phase.failed_when.is_some() && run.branch.is_some();
    if phase.leave != Leave::OnDone && !by_children && !fails {
        return None;
    }
    match world.done(run, phase) {
        Done::Yes if phase.leave == Leave::OnDone || by_children => completion(world, run, skill, here),
        Done::No if world.has_failed(run, phase) => {
            let edges = || phase.back.iter().filter(|back| back.on_failure);
            if let Some(back) = edges().find(|back| may_go_back(world, skill, run, back)) {
                return go_back(run, skill, back.to, By::Platform);
            }
            // A run that is a part of another one fails, and with it the phase of that one. Where nothing is left to try, a
            // person says how it goes on.
            let fails = run.branch.is_some() && (by_children || phase.failed_when.is_some());
            spent(world, run, skill, edges()).or_else(|| fails.then(|| ended(run, Status::Failed, By::Platform)))
        }
        Done::Yes | Done::No | Done::NotAsked => None,
    }
}

/// What becomes of a run whose phase failed, and whose rollback edges are spent: the first that says it.
fn spent<'e>(
    world: &mut World<'_>,
    run: &Run,
    skill: &Skill,
    mut edges: impl Iterator<Item = &'e Back>,
) -> Option<Change> {
    let back = edges.find(|back| back.then.is_some() && is_spent(world, skill, run, back))?;
    let edge = SpentEdge { to: skill.phases.get(back.to)?.name.clone(), limit: back.limit, then: back.then? };
    Some(Change::LimitSpent { run: run.id.clone(), edge })
}

/// The move of a run whose phase is done. Optional phases whose condition holds are passed over.
fn completion(world: &mut World<'_>, run: &Run, skill: &Skill, here: usize) -> Option<Change> {
    let (mut at, mut between) = (here, Vec::new());
    for _ in &skill.phases {
        let phase = skill.phases.get(at)?;
        if phase.next.is_empty() {
            return Some(ended(run, Status::Finished, By::Platform));
        }
        let to = phase.next.iter().find_map(|edge| {
            let next = skill.phases.get(edge.to)?;
            let passable = passes_over(world, run, next) && !between.contains(&edge.to);
            let open = world.holds(edge.when.as_ref(), run) && (passable || world.admits(run, next));
            open.then_some(edge.to)
        })?;
        let next = skill.phases.get(to)?;
        if between.contains(&to) || !passes_over(world, run, next) {
            let transition = Transition { to, between, open: true };
            return enter(run, skill, &transition, Done::Yes, By::Platform);
        }
        between.push(to);
        at = to;
    }
    None
}

/// The phase to which completion leads a run whose phase is done, and what it passes over.
pub(crate) fn goes_on_to(world: &mut World<'_>, run: &Run, skill: &Skill) -> Option<(String, Vec<String>)> {
    let here = skill.phase_index(&run.phase)?;
    let change = completion(world, run, skill, here)?;
    if let Change::PhaseEntered { phase, skipped, .. } = change { Some((phase, skipped)) } else { None }
}

/// Whether completion passes over the phase: it is optional under a condition that holds, or a person said that it is skipped.
fn passes_over(world: &mut World<'_>, run: &Run, phase: &Phase) -> bool {
    run.is_to_skip(&phase.name) || (matches!(phase.optional, Optional::When(_)) && world.optional(run, phase))
}

/// Passes over the current phase because a person said so. `None` if nothing follows.
pub(crate) fn skip(run: &Run, skill: &Skill) -> Option<Change> {
    let here = skill.phase_index(&run.phase)?;
    let to = skill.phases.get(here)?.next.first()?.to;
    enter(run, skill, &Transition::straight(to), Done::No, By::Human)
}

/// Has a run go on because a person said so: to this phase, or as completion would. After the last phase it ends. `None`:
/// no way leads to the phase.
pub(crate) fn advance(world: &mut World<'_>, run: &Run, skill: &Skill, to: Option<usize>) -> Option<Change> {
    let here = skill.phase_index(&run.phase)?;
    let done = world.done(run, skill.phases.get(here)?);
    let way = match to {
        Some(to) => Some(graph::way(skill, here, to)?),
        None => onward(world, run, skill, here),
    };
    let Some(way) = way else { return Some(ended(run, Status::Finished, By::Human)) };
    let mut entered = enter(run, skill, &way, Done::Yes, By::Human)?;
    if let Change::PhaseEntered { said_done, .. } = &mut entered {
        *said_done = done == Done::No;
    }
    Some(entered)
}

/// The way on that a person means without naming a phase: what a phase requires is not asked. `None`: nothing follows.
fn onward(world: &mut World<'_>, run: &Run, skill: &Skill, here: usize) -> Option<Transition> {
    let (mut at, mut between) = (here, Vec::new());
    loop {
        let edges = &skill.phases.get(at)?.next;
        let open = edges.iter().find(|edge| world.holds(edge.when.as_ref(), run));
        let to = open.or(edges.first())?.to;
        let passed = skill.phases.get(to).is_some_and(|next| passes_over(world, run, next));
        if between.contains(&to) || !passed {
            return Some(Transition { to, between, open: true });
        }
        between.push(to);
        at = to;
    }
}

/// The end of a run.
pub(crate) fn ended(run: &Run, status: Status, by: By) -> Change {
    Change::RunEnded { run: run.id.to_string(), status, by }
}
