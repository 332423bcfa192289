//! Reaching the run that judges a call: what has to be entered or is over before, in trees of runs (rules 3.2).

use crate::calls::cause::By;
use crate::calls::tool::Call;
use crate::decide::judge::Caller;
use crate::decide::run_verdict::{RunVerdict, is_done, verdicts};
use crate::decide::{Done, Line};
use crate::evidence::eval::World;
use crate::policy::Policy;
use crate::prelude::*;
use crate::runs::moves;
use crate::runs::settle::settle;
use crate::runs::standing_runs;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{Run, State, Status};

/// The most moves that one call means before it is judged.
const MAX_MOVES: usize = 64;

/// What the live runs say to a call, and where they stood before it.
#[derive(Default)]
pub(crate) struct Reached<'a> {
    /// What they say where they stand now.
    pub(crate) verdicts: Vec<RunVerdict<'a>>,
    /// The draft as it was, and what they said then; `None`: nothing moved.
    before: Option<(Draft, Vec<RunVerdict<'a>>)>,
}

impl<'a> Reached<'a> {
    /// What they say after all. A call that is denied moves nothing.
    pub(crate) fn settled(self, draft: &mut Draft, passes: bool) -> Vec<RunVerdict<'a>> {
        match self.before {
            Some((before, verdicts)) if !passes => {
                *draft = before;
                verdicts
            }
            _ => self.verdicts,
        }
    }
}

/// Enters phases that consist of runs, and ends those of them that are done, as far as the call asks for it.
pub(crate) fn reach<'a>(
    world: &mut World<'_>,
    policy: &'a Policy,
    draft: &mut Draft,
    call: &'a Call,
    caller: Caller<'a>,
) -> Reached<'a> {
    let mut found = verdicts(world, policy, draft.state(), call, caller);
    let first = found.iter().any(|verdict| towards(world, draft.state(), verdict).is_some());
    if !first {
        return Reached { verdicts: found, before: None };
    }
    let (before, said) = (draft.clone(), verdicts(world, policy, draft.state(), call, caller));
    for _ in 0..MAX_MOVES {
        let Some(change) = found.iter().find_map(|verdict| towards(world, draft.state(), verdict)) else { break };
        let (Change::PhaseEntered { run, .. } | Change::PhaseBack { run, .. } | Change::RunEnded { run, .. }) = &change
        else {
            break;
        };
        let run = run.clone();
        draft.change(change);
        draft.announce(&run);
        settle(world, policy, draft);
        // A run in force that ended begins anew, and judges the call.
        standing_runs::hold_all(world, policy, draft);
        settle(world, policy, draft);
        found = verdicts(world, policy, draft.state(), call, caller);
    }
    // What nobody asked for stays as it is: a run that is done goes on while its calls pass there.
    let broke = |verdicts: &[RunVerdict<'_>]| verdicts.iter().any(|verdict| verdict.broke.is_some());
    if !broke(&said)
        && !said.iter().any(enters_runs)
        && !found.iter().any(|verdict| verdict.judges && lists(verdict.ruling.line))
    {
        *draft = before;
        return Reached { verdicts: said, before: None };
    }
    Reached { verdicts: found, before: Some((before, said)) }
}

fn lists(line: Line) -> bool {
    matches!(line, Line::Allowed | Line::Returned | Line::Entered | Line::Back)
}

/// The next move that brings the call to the run that judges it.
fn towards(world: &mut World<'_>, state: &State, verdict: &RunVerdict<'_>) -> Option<Change> {
    let run = state.run(&verdict.run).filter(|_| verdict.judges)?;
    if run.branch.is_some() && !lists(verdict.ruling.line) && is_done(world, run, verdict.skill) {
        return Some(moves::ended(run, Status::Finished, By::Agent));
    }
    if !enters_runs(verdict) {
        return None;
    }
    let done = here_done(world, run, verdict);
    moves::of_call(run, verdict.skill, &verdict.ruling, done)
}

/// Whether the call enters a phase that consists of runs: one of them judges it.
fn enters_runs(verdict: &RunVerdict<'_>) -> bool {
    let to = verdict.ruling.transition.as_ref().filter(|_| verdict.judges && lists(verdict.ruling.line));
    to.and_then(|way| verdict.skill.phases.get(way.to)).is_some_and(|phase| phase.run.is_some())
}

fn here_done(world: &mut World<'_>, run: &Run, verdict: &RunVerdict<'_>) -> Done {
    let skill = verdict.skill;
    let here = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index));
    here.map_or(Done::NotAsked, |phase| world.done(run, phase))
}

/// Whether a skill is one that a live run runs, now or in a phase to come: it begins as a part of that.
pub(crate) fn is_part(policy: &Policy, state: &State, name: &str) -> bool {
    let skill = |run: &Run| policy.skill_version(&run.skill, &run.version);
    state.live_runs().any(|run| skill(run).is_some_and(|skill| skill.runs(name)))
}
