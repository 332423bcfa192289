//! Child runs: a phase that consists of runs begins them, and a subagent does the one that its start is a call of.

use alloc::sync::Arc;

use crate::calls::tool::AGENT;
use crate::events::event::{Event, EventKind};
use crate::evidence::eval::World;
use crate::policy::{ChildRuns, Policy, Scope, Skill};
use crate::prelude::*;
use crate::runs::inputs;
use crate::runs::new_run::Place;
use crate::runs::tree;
use crate::runs::waves::{self, Elements};
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{AgentInfo, CallVisit, Children, OpenCall, Run, State, Status, TiedAgent};

/// Begins the runs that the present phases of live runs consist of, as far as they are due. Returns whether any began.
pub(crate) fn begin_due(world: &mut World<'_>, policy: &Policy, draft: &mut Draft) -> bool {
    let due: Vec<Run> = draft.state().live_runs().flat_map(|run| due(world, policy, draft.state(), run)).collect();
    let any = !due.is_empty();
    for run in due {
        let run = Run { id: next_id(draft.state(), run.scope), ..run };
        draft.announce(&run.id);
        draft.begin(run);
    }
    any
}

/// The id of the next run.
pub(crate) fn next_id(state: &State, scope: Scope) -> String {
    match scope {
        Scope::Session => format!("r{}", state.session.runs_begun.saturating_add(1)),
        Scope::Project => format!("p{}", state.project.runs_begun.saturating_add(1)),
    }
}

/// The runs that are to begin now in the phase of a run.
fn due(world: &mut World<'_>, policy: &Policy, state: &State, run: &Run) -> Vec<Run> {
    if matches!(run.children, Children::Finished | Children::Failed | Children::Gate) {
        return Vec::new();
    }
    let Some(skill) = policy.skill_version(&run.skill, &run.version) else { return Vec::new() };
    let Some(runs) = of_phase(skill, run) else { return Vec::new() };
    if let Some(progress) = &run.plan {
        return waves::due(world, policy, state, Elements { skill, run, runs, progress });
    }
    if runs.plan.is_some() {
        return Vec::new();
    }
    // A session that goes on with copies of runs has only those that were live.
    let place = |part: &Run| part.branch.as_ref().map(|branch| branch.place.saturating_add(1));
    let begun = tree::parts(state, run).filter_map(place).max().unwrap_or_default();
    let live = tree::parts(state, run).any(|part| part.status == Status::Active);
    let (at, most) = if runs.parallel { (0, usize::MAX) } else { (begun, 1) };
    if (runs.parallel && begun > 0) || (!runs.parallel && live) {
        return Vec::new();
    }
    let more = |at: usize| !runs.parallel && at.saturating_add(1) < runs.each.len();
    let wanted = runs.each.iter().enumerate().skip(at).take(most);
    let mut due = Vec::new();
    for (at, child) in wanted {
        let Some(own) = skill.children.iter().find(|one| one.name == child.skill) else { continue };
        let Some(own) = inputs::made(world, policy, own, &inputs::of_place(own, child)) else { continue };
        due.push(Run::part_of(run, own, child, Place { at, more: more(at) }));
    }
    due
}

/// The runs that the present phase of a run consists of.
pub(crate) fn of_phase<'p>(skill: &'p Skill, run: &Run) -> Option<&'p ChildRuns> {
    let phase = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index))?;
    phase.run.as_deref()
}

/// Binds a subagent that begins to the run whose phase it does, and frees the runs of subagents that are gone.
pub(crate) fn bind(policy: &Policy, draft: &mut Draft, event: &Event) {
    let state = draft.state();
    let mut changes = Vec::new();
    if let EventKind::SubagentStart { id, kind, .. } = &event.kind {
        changes.extend(started_by(policy, state, id, kind).map(|run| Change::BranchBound {
            run,
            agent: Some(id.clone()),
            session: Some(state.session.id.clone()),
        }));
        changes.extend(tied_to(state, id, kind));
    }
    let gone = |run: &&Run| {
        let branch = run.branch.as_ref().filter(|branch| branch.session.as_ref() == Some(&state.session.id));
        let agent = branch.and_then(|branch| branch.agent.as_ref());
        agent.is_some_and(|agent| !state.session.agents.iter().any(|known| known.id == *agent))
    };
    for run in state.live_runs().filter(gone) {
        let agent = goes_on(policy, state, run);
        let session = agent.as_ref().map(|_| state.session.id.clone());
        changes.push(Change::BranchBound { run: run.id.clone(), agent, session });
    }
    changes.into_iter().for_each(|change| draft.change(change));
}

/// Ties a subagent to the visits in which the call was decided that started it. Where it may be any of several, those count
/// that all of them have.
fn tied_to(state: &State, id: &str, kind: &str) -> Vec<Change> {
    let calls = || state.session.calls.iter();
    let may_have = |call: &&Arc<OpenCall>| {
        call.tool == AGENT && call.started.is_none() && call.starts_as.as_deref().is_none_or(|name| name == kind)
    };
    let mut started: Vec<_> = calls().filter(|call| call.started.as_deref() == Some(id)).collect();
    if started.is_empty() {
        started = calls().filter(may_have).collect();
    }
    let Some((first, others)) = started.split_first() else { return Vec::new() };
    let same = |one: &CallVisit, other: &CallVisit| one.run == other.run && one.visit == other.visit;
    let in_all = |place: &&CallVisit| others.iter().all(|call| call.visits.iter().any(|other| same(place, other)));
    let tied = |place: &CallVisit| TiedAgent { id: id.to_string(), visit: place.visit };
    let live = first.visits.iter().filter(in_all).filter(|place| {
        let run = state.run(&place.run).filter(|run| run.status == Status::Active);
        run.is_some_and(|run| !run.agents.contains(&tied(place)))
    });
    live.map(|place| Change::AgentTied { run: place.run.clone(), agent: tied(place) }).collect()
}

/// A subagent that goes on with a run whose own subagent is gone: one that it started, and that may do the phase.
fn goes_on(policy: &Policy, state: &State, run: &Run) -> Option<String> {
    let gone = run.branch.as_ref().and_then(|branch| branch.agent.as_deref())?;
    let skill = policy.skill_version(&run.skill, &run.version)?;
    let phase = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index))?;
    let does = |kind: &str| phase.done_by.as_deref().is_none_or(|by| by == kind);
    let started = |known: &&AgentInfo| known.starter.as_deref() == Some(gone) && does(&known.kind);
    state.session.agents.iter().find(started).map(|known| known.id.clone())
}

/// The child run whose phase lists the start of the subagent, and is done by subagents of its type.
fn started_by(policy: &Policy, state: &State, id: &str, kind: &str) -> Option<String> {
    let call = state.session.calls.iter().find(|call| call.started.as_deref() == Some(id))?;
    let does = |place: &&CallVisit| {
        let run = state.run(&place.run).filter(|run| run.status == Status::Active)?;
        let free = run.branch.as_ref().is_some_and(|branch| branch.agent.is_none());
        let skill = policy.skill_version(&run.skill, &run.version)?;
        let phase = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index))?;
        let does = free && place.listed && place.visit == run.visit;
        let its = phase.done_by.as_deref() == Some(kind) || (phase.done_by.is_none() && tree::is_element(state, run));
        (does && its).then_some(())
    };
    let mut places = call.visits.iter().filter(|place| does(place).is_some());
    places.next().map(|place| place.run.to_string())
}
