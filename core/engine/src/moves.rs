//! Moves: how a run changes phase.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::decide::{Done, Line};
use crate::eval::World;
use crate::event::By;
use crate::graph::Way;
use crate::judge::{Verdict, times_back};
use crate::policy::{Leave, Skill};
use crate::state::{Provisional, Record, Run, Skipped, Status};

/// Carries out what the table said of an allowed call. Returns the record of a move, if there was one.
pub(crate) fn apply(run: &mut Run, skill: &Skill, verdict: &Verdict, done: Done, tool: &str) -> Option<Record> {
    let from = run.phase.clone();
    match (verdict.line, &verdict.way) {
        (Line::Entered, Some(way)) => enter(run, skill, way, done, By::Agent),
        (Line::Back, Some(way)) => go_back(run, skill, way.to),
        (Line::Returned, _) => go_home(run),
        _ => return None,
    }
    Some(record(run, from, tool))
}

fn record(run: &Run, from: String, triggered_by: &str) -> Record {
    Record::PhaseAdvance {
        run: run.id.clone(),
        skill: run.skill.clone(),
        from,
        phase: run.phase.clone(),
        triggered_by: triggered_by.to_string(),
    }
}

/// Enters a following phase; what is passed over or left early is recorded as skipped.
fn enter(run: &mut Run, skill: &Skill, way: &Way, done: Done, by: By) {
    let name = |index: usize| skill.phases.get(index).map(|phase| phase.name.clone());
    let Some(target) = name(way.to) else { return };
    let before =
        Provisional { phase: run.phase.clone(), visit: run.visit, skipped: run.skipped.len(), failed: run.failed };
    if done == Done::No {
        run.skipped.push(Skipped { phase: run.phase.clone(), by });
    }
    run.skipped.extend(way.between.iter().filter_map(|index| name(*index)).map(|phase| Skipped { phase, by }));
    run.evidence.retain(|evidence| evidence.phase != way.to);
    run.kept.retain(|(phase, _)| *phase != way.to);
    visit(run, way.to, target);
    run.provisional = (done != Done::NotAsked && by == By::Agent).then_some(before);
}

/// Goes back: the evidence of that phase and of all later ones is cleared.
fn go_back(run: &mut Run, skill: &Skill, to: usize) {
    let Some(target) = skill.phases.get(to).map(|phase| phase.name.clone()) else { return };
    let from = run.phase.clone();
    match run.backs.iter_mut().find(|(a, b, _)| *a == from && *b == target) {
        Some((_, _, times)) => *times = times.saturating_add(1),
        None => run.backs.push((from, target.clone(), 1)),
    }
    run.evidence.retain(|evidence| evidence.phase < to);
    run.kept.retain(|(phase, _)| *phase < to);
    visit(run, to, target);
}

/// Returns from a provisional phase, as if it had never been entered.
fn go_home(run: &mut Run) {
    let Some(before) = run.provisional.take() else { return };
    let left = run.visit;
    run.evidence.retain(|evidence| evidence.visit != left);
    run.kept.retain(|(_, visit)| *visit != left);
    run.skipped.truncate(before.skipped);
    run.phase_before = core::mem::replace(&mut run.phase, before.phase);
    run.visit = before.visit;
    run.failed = before.failed;
}

fn visit(run: &mut Run, index: usize, target: String) {
    run.phase_before = core::mem::replace(&mut run.phase, target);
    run.visits = run.visits.saturating_add(1);
    run.visit = run.visits;
    run.kept.push((index, run.visit));
    run.provisional = None;
    run.failed = false;
}

/// Moves a run whose phase is left as soon as it is done, as far as that goes.
pub(crate) fn settle(world: &mut World<'_>, run: &mut Run, skill: &Skill, cause: &str) -> Vec<Record> {
    let mut records = Vec::new();
    for _ in 0..=skill.phases.len() {
        let here = skill.phase_index(&run.phase).unwrap_or_default();
        let Some(phase) = skill.phases.get(here).filter(|phase| phase.leave == Leave::OnDone) else { break };
        let from = run.phase.clone();
        match world.done(run, phase) {
            Done::Yes if phase.next.is_empty() => {
                run.status = Status::Finished;
                records.push(ended(run, By::Platform));
                break;
            }
            Done::Yes => {
                let edge = phase.next.iter().find(|edge| {
                    let requires = skill.phases.get(edge.to).and_then(|next| next.requires.as_ref());
                    world.holds(edge.when.as_ref(), run) && world.holds(requires, run)
                });
                let Some(edge) = edge else { break };
                let way = Way { to: edge.to, between: Vec::new(), open: true };
                enter(run, skill, &way, Done::Yes, By::Platform);
            }
            Done::No if run.failed => {
                let back = phase.back.iter().find(|back| {
                    let target = skill.phases.get(back.to).map(|phase| phase.name.as_str()).unwrap_or_default();
                    back.on_failure
                        && times_back(run, &run.phase, target) < back.limit
                        && world.holds(back.when.as_ref(), run)
                });
                let Some(back) = back else { break };
                go_back(run, skill, back.to);
            }
            Done::No | Done::NotAsked => break,
        }
        records.push(record(run, from, cause));
    }
    records
}

/// Passes over the current phase because a person said so. `None` if nothing follows.
pub(crate) fn skip(run: &mut Run, skill: &Skill) -> Option<Record> {
    let here = skill.phase_index(&run.phase)?;
    let to = skill.phases.get(here)?.next.first()?.to;
    let from = run.phase.clone();
    enter(run, skill, &Way { to, between: Vec::new(), open: true }, Done::No, By::Human);
    Some(record(run, from, "skip_phase"))
}

/// The record of a run's end.
pub(crate) fn ended(run: &Run, by: By) -> Record {
    Record::DeactivateSkill {
        run: run.id.clone(),
        skill: run.skill.clone(),
        phase: run.phase.clone(),
        status: run.status,
        by,
    }
}
