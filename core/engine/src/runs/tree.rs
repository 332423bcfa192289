//! Trees of runs: in each tree one leaf judges a call, and its ancestors only forbid. Several trees live side by side.

use alloc::collections::BTreeMap;

use crate::calls::cause::By;
use crate::policy::Policy;
use crate::prelude::*;
use crate::runs::moves;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{Barrier, Branch, Children, Run, State, Status};

/// The live runs that are part of no other live run. Each is the root of a tree.
pub(crate) fn roots(state: &State) -> impl Iterator<Item = &Run> {
    state.live_runs().filter(|run| parent(state, run).is_none())
}

/// The live run at the root of a run's tree.
pub(crate) fn root<'a>(state: &'a State, run: &'a Run) -> &'a Run {
    above(state, run).last().unwrap_or(run)
}

/// The live runs that a live run is a part of, the nearest first.
pub fn above<'a>(state: &'a State, run: &Run) -> impl Iterator<Item = &'a Run> {
    // No tree is deeper than there are runs, whatever the parents in a state say.
    let most = state.project.runs.len().saturating_add(state.session.runs.len());
    core::iter::successors(parent(state, run), |run| parent(state, run)).take(most)
}

/// The live run that a run is a part of.
fn parent<'a>(state: &'a State, run: &Run) -> Option<&'a Run> {
    let parent = state.run(run.parent.as_deref()?)?;
    (parent.status == Status::Active && run.branch.is_some()).then_some(parent)
}

/// Whether the skill of the run, or of one that it is a part of, must be finished.
pub(crate) fn must_finish(policy: &Policy, state: &State, run: &Run) -> bool {
    let required =
        |run: &Run| policy.skill_version(&run.skill, &run.version).is_some_and(|skill| skill.finish_required);
    required(run) || above(state, run).any(required)
}

/// The subagent to which the run of an agent is bound: itself, or the nearest that started it.
pub(crate) fn doer<'a>(state: &'a State, agent: &'a str) -> &'a str {
    let is_bound = |id: &str| state.project.runs.iter().chain(&state.session.runs).any(|run| bound_to(run) == Some(id));
    let agents = &state.session.agents;
    let mut at = agent;
    // No subagent has more of them above it than there are, whatever a state says.
    for _ in 0..=agents.len() {
        if is_bound(at) {
            return at;
        }
        let starter = agents.iter().find(|known| known.id == at).and_then(|known| known.starter.as_deref());
        let Some(starter) = starter else { break };
        at = starter;
    }
    agent
}

/// The subagent to which a run of an agent is or was bound; `None`: the agent does and did none.
pub(crate) fn bound_doer<'a>(state: &'a State, agent: &'a str) -> Option<&'a str> {
    let doer = doer(state, agent);
    let mut all = state.project.runs.iter().chain(&state.session.runs);
    all.any(|run| bound_to(run) == Some(doer)).then_some(doer)
}

/// Whether a live run is bound to an agent, or to one that started it.
pub(crate) fn has_run(state: &State, agent: &str) -> bool {
    let doer = doer(state, agent);
    state.live_runs().any(|run| bound_to(run) == Some(doer))
}

/// Whether the phase is over that an agent, or one that started it, was started for: the run was bound to it and has ended,
/// or has left the visit whose call started it.
pub(crate) fn has_left(state: &State, agent: &str) -> bool {
    let doer = doer(state, agent);
    if has_run(state, agent) || state.live_runs().any(|run| run.started(doer)) {
        return false;
    }
    let mut all = state.project.runs.iter().chain(&state.session.runs);
    all.any(|run| bound_to(run) == Some(doer) || run.agents.iter().any(|tied| tied.id == doer))
}

/// The path from the root of a tree to the leaf that judges the call of an agent; the leaf is the last.
///
/// A subagent has the run that is bound to it, or to the one that started it. Every other agent has the first branch that is
/// bound to none and whose leaf lists the call, or else the first such branch. Where all branches are bound to others, the
/// run is the leaf; so it is for a subagent that no element of the run's plan is bound to.
pub(crate) fn path<'a>(
    state: &'a State,
    below: &Below<'a>,
    root: &'a Run,
    agent: Option<&str>,
    lists: &mut dyn FnMut(&Run) -> bool,
) -> Vec<&'a Run> {
    let agent = agent.map(|agent| doer(state, agent));
    descend(below, root, agent, lists, state.live_runs().count())
}

/// As [`path`], from a run at most so many levels down, whatever the parents in a state say.
fn descend<'a>(
    within: &Below<'a>,
    run: &'a Run,
    agent: Option<&str>,
    lists: &mut dyn FnMut(&Run) -> bool,
    levels: usize,
) -> Vec<&'a Run> {
    let mut path = alloc::vec![run];
    let mut first: Option<Vec<&Run>> = None;
    let (mut listed, mut still): (Option<Vec<&Run>>, Option<Vec<&Run>>) = (None, None);
    let Some(levels) = levels.checked_sub(1) else { return path };
    // A subagent whose run has ended has no other one.
    let did = |part: &Run| part.status != Status::Active && agent.is_some() && bound_to(part) == agent;
    let is_past = within.parts(run).any(did);
    for child in within.parts(run).filter(|part| part.status == Status::Active) {
        // Of an element that another agent does, nothing is asked.
        let other = bound_to(child);
        if within.is_leaf(child) && (other.is_some() || is_past) && (agent.is_none() || other != agent) {
            continue;
        }
        let below = descend(within, child, agent, lists, levels);
        if agent.is_some() && below.iter().any(|run| bound_to(run) == agent) {
            path.extend(below);
            return path;
        }
        if is_past || other.is_some() {
            continue;
        }
        let stands_still = below.last().is_some_and(|leaf| leaf.stands_still());
        if listed.is_none() && below.last().is_some_and(|leaf| lists(leaf)) {
            listed = Some(below);
        } else if stands_still {
            still.get_or_insert(below);
        } else {
            first.get_or_insert(below);
        }
    }
    // A subagent that no element of a plan is bound to does none: the phase itself judges it.
    if agent.is_some() && run.plan.is_some() {
        return path;
    }
    path.extend(listed.or(first).or(still).into_iter().flatten());
    path
}

/// The subagent that does the run, where it is a part of another one.
pub(crate) fn bound_to(run: &Run) -> Option<&str> {
    run.branch.as_ref().and_then(|branch| branch.agent.as_deref())
}

/// The live runs that are parts of the run's present visit.
pub(crate) fn children<'a>(state: &'a State, run: &'a Run) -> impl Iterator<Item = &'a Run> {
    parts(state, run).filter(|part| part.status == Status::Active)
}

/// The runs that are parts of the run's present visit, live or ended.
pub(crate) fn parts<'a>(state: &'a State, run: &Run) -> impl Iterator<Item = &'a Run> {
    let all = state.project.runs.iter().chain(&state.session.runs);
    all.filter(move |part| part.parent.as_ref() == Some(&run.id) && is_of_visit(part, run))
}

/// Whether a run that another one is the parent of is a part of its present visit.
fn is_of_visit(part: &Run, run: &Run) -> bool {
    part.branch.as_ref().is_some_and(|at| at.visit == run.visit)
}

/// The runs that are parts of others, by these, for questions about all of a tree.
pub(crate) struct Below<'a>(BTreeMap<&'a str, Vec<&'a Run>>);

impl<'a> Below<'a> {
    pub(crate) fn of(state: &'a State) -> Self {
        let mut below: BTreeMap<&str, Vec<&Run>> = BTreeMap::new();
        for run in state.project.runs.iter().chain(&state.session.runs) {
            if let Some(parent) = &run.parent {
                below.entry(parent).or_default().push(run);
            }
        }
        Self(below)
    }

    /// Whether no run ever was a part of this one.
    fn is_leaf(&self, run: &Run) -> bool {
        !self.0.contains_key(run.id.as_str())
    }

    /// As [`parts`].
    fn parts(&self, run: &Run) -> impl Iterator<Item = &'a Run> {
        let all = self.0.get(run.id.as_str()).map(Vec::as_slice).unwrap_or_default();
        all.iter().copied().filter(move |part| is_of_visit(part, run))
    }
}

/// Whether a run is an element of a plan that another one runs.
pub(crate) fn is_element(state: &State, run: &Run) -> bool {
    parent(state, run).is_some_and(|parent| parent.plan.is_some())
}

/// The next change that the ends of runs bring to others: a run whose budget is spent or whose place is gone ends, and
/// the ends of parts finish or fail the phase of their parent.
pub(crate) fn settling(state: &State) -> Option<Change> {
    state.live_runs().find_map(|run| {
        if run.visit_budget.is_some_and(|budget| run.visits > budget) {
            return Some(moves::ended(run, Status::Failed, By::Platform));
        }
        if run.branch.as_ref().is_some_and(|branch| is_over(state, run, branch)) {
            return Some(moves::ended(run, Status::Left, By::Platform));
        }
        if run.children != Children::Live {
            return None;
        }
        let children = outcome(state, run);
        let ended = matches!(children, Children::Finished | Children::Failed);
        ended.then(|| Change::ChildrenEnded { run: run.id.clone(), children })
    })
}

/// Whether the visit that a run belongs to has ended, or nothing more is waited for in it.
fn is_over(state: &State, run: &Run, branch: &Branch) -> bool {
    let ended = |parent: &Run| matches!(parent.children, Children::Finished | Children::Failed);
    parent(state, run).is_none_or(|parent| parent.visit != branch.visit || ended(parent))
}

/// What the ends of the parts of a visit mean to its phase.
fn outcome(state: &State, run: &Run) -> Children {
    if run.plan.is_some() {
        let counts = |part: &Run| part.branch.as_ref().is_none_or(|branch| !branch.void);
        let failed = |part: &Run| counts(part) && matches!(part.status, Status::Left | Status::Failed);
        return if parts(state, run).any(failed) { Children::Failed } else { Children::Live };
    }
    let mut barrier = Barrier::All;
    let (mut live, mut finished, mut failed) = (0_usize, 0_usize, 0_usize);
    // What follows a part that has ended is yet to begin.
    let mut more = false;
    for part in parts(state, run) {
        barrier = part.branch.as_ref().map_or(barrier, |branch| branch.barrier);
        more = part.branch.as_ref().is_some_and(|branch| branch.more);
        let may_fail = part.branch.as_ref().is_some_and(|branch| branch.may_fail);
        match part.status {
            Status::Active => live = live.saturating_add(1),
            Status::Finished => finished = finished.saturating_add(1),
            Status::Left | Status::Failed if may_fail => finished = finished.saturating_add(1),
            Status::Left | Status::Failed => failed = failed.saturating_add(1),
        }
    }
    if more {
        live = live.saturating_add(1);
    }
    match barrier {
        Barrier::Any if finished > 0 => Children::Finished,
        Barrier::Any if live > 0 => Children::Live,
        Barrier::All if failed == 0 && live > 0 => Children::Live,
        Barrier::All if failed == 0 && finished > 0 => Children::Finished,
        _ if failed > 0 => Children::Failed,
        _ => Children::None,
    }
}

/// Applies what the ends of runs bring to others, up to the roots, and has every run that moves announced.
pub(crate) fn settle(draft: &mut Draft, moved: &mut dyn FnMut(&mut Draft, &str)) {
    // Every run ends once, and its parent hears of it once a visit.
    let most = draft.state().live_runs().count().saturating_mul(4);
    for _ in 0..most {
        let Some(change) = settling(draft.state()) else { break };
        let run = match &change {
            Change::ChildrenEnded { run, .. } | Change::RunEnded { run, .. } => run.clone(),
            _ => break,
        };
        draft.change(change);
        draft.announce(&run);
        moved(draft, &run);
    }
}
