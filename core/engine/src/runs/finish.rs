//! Finishing: an agent that wants to end its turn is kept from it while a skill that it must finish is not done (rules 3.1).

use serde_json::Value;

use crate::answers::deadlock::is_hindered;
use crate::answers::decision::Effect;
use crate::answers::denial::{DecidingRun, Denial, DenialKind, Guidance};
use crate::answers::remedy;
use crate::answers::standstill::stopped;
use crate::calls::analysis::CallAnalysis;
use crate::calls::tool::{Call, Labels, Tool};
use crate::decide::Done;
use crate::decide::judge::{Caller, Ruling};
use crate::decide::run_verdict::{is_done, verdicts};
use crate::events::event::{Event, EventKind};
use crate::evidence::eval::World;
use crate::gates::gate::Context;
use crate::gates::permitting::Asked;
use crate::policy::{Mode, Policy, Scope, Skill};
use crate::prelude::*;
use crate::rules::own_action;
use crate::runs::tree;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{CallVisit, Held, Run, State};

/// How often in a row an agent without a person is kept from ending its turn.
const ATTEMPTS: u32 = 3;
/// How often in a row where a person sits at the session, or may.
const REMINDERS: u32 = 1;

/// What an end of a turn is answered.
pub(crate) enum Stopped {
    /// Nothing is missing that the agent could do.
    Passes,
    /// It goes on, because of this.
    Held(Box<Denial>),
    /// It ends, and the person is told what the person has to do.
    Waits(Vec<Denial>),
    /// It ends, and the person is told that this is missing.
    Unfinished(Vec<Denial>),
}

/// A prompt came: nothing is held against the agent.
pub(crate) fn prompted(draft: &mut Draft) {
    if draft.state().session.held.is_some() {
        draft.change(Change::StopHeld { held: None, agent: None });
    }
}

/// The main agent wants to end its turn.
#[derive(Clone, Copy)]
pub(crate) struct Ends<'e> {
    pub(crate) event: &'e Event,
    /// Whether the platform can have it go on.
    pub(crate) can_hold: bool,
    /// Whether a person sits at the session, if known.
    pub(crate) interactive: Option<bool>,
}

/// Answers that the main agent wants to end its turn.
pub(crate) fn stop(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, ends: Ends<'_>) -> Stopped {
    let of_runs = finishing(world, policy, draft, ends);
    if matches!(of_runs, Stopped::Held(_)) {
        return of_runs;
    }
    // What a rule says holds also while a run waits or stands still: an agent can halt its own run.
    match (by_rules(world, policy, draft, ends), of_runs) {
        (Stopped::Unfinished(rules), Stopped::Waits(runs) | Stopped::Unfinished(runs)) => {
            Stopped::Unfinished(runs.into_iter().chain(rules).collect())
        }
        (Stopped::Passes, of_runs) => of_runs,
        (by_rules, _) => by_rules,
    }
}

/// Whether a rule is against the end of the turn. The agent is kept as often as for a skill.
fn by_rules(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, ends: Ends<'_>) -> Stopped {
    let Some(denial) = own_action::of_stop(world, policy, draft.state(), ends.event) else { return Stopped::Passes };
    let held = draft.state().session.held;
    let times = held.map_or(0, |held| held.times);
    if denial.effect > Effect::Warn && ends.can_hold && times < ends.most() {
        let held = Some(Held { times: times.saturating_add(1), progress: held.map_or(0, |held| held.progress) });
        draft.change(Change::StopHeld { held, agent: None });
        return Stopped::Held(Box::new(denial));
    }
    Stopped::Unfinished([denial].into())
}

impl Ends<'_> {
    /// How often in a row the agent is kept.
    fn most(&self) -> u32 {
        if self.interactive == Some(false) { ATTEMPTS } else { REMINDERS }
    }
}

fn finishing(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, ends: Ends<'_>) -> Stopped {
    let Ends { can_hold, interactive, .. } = ends;
    if !must_finish(policy) {
        return Stopped::Passes;
    }
    let missing = open(world, policy, draft.state(), Caller { agent: None, kind: "" });
    // While something else than a call of the agent is waited for, the run waits. Nobody knows whether what goes on in
    // the background ever ends.
    let (waiting, mut missing): (Vec<Missing>, Vec<Missing>) = missing.into_iter().partition(|missing| missing.waits);
    for run in missing.iter().filter(|missing| missing.background && !missing.marked) {
        draft.change(Change::RunUnfinished { run: run.run.clone() });
    }
    missing.retain(|missing| !missing.background);
    if missing.is_empty() {
        return match waiting.is_empty() {
            true => Stopped::Passes,
            false => Stopped::Waits(waiting.into_iter().map(|missing| missing.denial).collect()),
        };
    }
    let held = draft.state().session.held;
    // Evidence that is lost and found again is no progress.
    let progress = missing.iter().map(|missing| missing.progress).sum::<u64>();
    let went_on = interactive == Some(false) && held.is_some_and(|held| progress > held.progress);
    let progress = held.map_or(progress, |held| held.progress.max(progress));
    let times = held.filter(|_| !went_on).map_or(0, |held| held.times);
    let most = ends.most();
    let strict = missing.iter().position(|missing| missing.mode == Mode::Block && !missing.stuck);
    match strict.filter(|_| can_hold && times < most) {
        Some(first) => {
            let held = Some(Held { times: times.saturating_add(1), progress });
            draft.change(Change::StopHeld { held, agent: None });
            let mut missing = missing;
            Stopped::Held(Box::new(missing.swap_remove(first).denial))
        }
        None => {
            for run in missing.iter().filter(|missing| !missing.marked) {
                draft.change(Change::RunUnfinished { run: run.run.clone() });
            }
            Stopped::Unfinished(missing.into_iter().map(|missing| missing.denial).collect())
        }
    }
}

/// Why a subagent may not end: it does the phase of a run that must be finished, and the phase is not done.
pub(crate) fn subagent(
    world: &mut World<'_>,
    policy: &Policy,
    draft: &mut Draft,
    caller: Caller<'_>,
) -> Option<Box<Denial>> {
    let id = caller.agent?;
    let does = |missing: &Missing| {
        let run = draft.state().run(&missing.run)?;
        let skill = policy.skill_version(&run.skill, &run.version)?;
        let phase = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index))?;
        let is_its = run.branch.as_ref().is_none_or(|branch| branch.agent.as_deref() == Some(id));
        (is_its && phase.done_by.as_deref() == Some(caller.in_run(skill, run).kind)).then_some(())
    };
    if !must_finish(policy) {
        return None;
    }
    let open = open(world, policy, draft.state(), caller).into_iter();
    let mut missing: Vec<Missing> = open.filter(|missing| does(missing).is_some()).collect();
    missing.retain(|missing| missing.mode == Mode::Block && !missing.waits && !missing.background && !missing.stuck);
    let first = missing.into_iter().next()?;
    let held = draft.state().session.agents.iter().find(|known| known.id == id)?.held;
    let went_on = held.is_some_and(|held| first.progress > held.progress);
    let times = held.filter(|_| !went_on).map_or(0, |held| held.times);
    if times >= ATTEMPTS {
        return None;
    }
    let progress = held.map_or(first.progress, |held| held.progress.max(first.progress));
    let held = Some(Held { times: times.saturating_add(1), progress });
    draft.change(Change::StopHeld { held, agent: Some(id.to_string()) });
    Some(Box::new(first.denial))
}

/// The main agent's turn or its session is ended, with all that it has to finish there.
pub(crate) fn left(world: &mut World<'_>, policy: &Policy, draft: &mut Draft) {
    if !must_finish(policy) {
        return;
    }
    let missing = open(world, policy, draft.state(), Caller { agent: None, kind: "" })
        .into_iter()
        .filter(|missing| !missing.waits && !missing.marked);
    for Missing { run, .. } in missing {
        if draft.run(&run).is_some_and(|run| run.scope == Scope::Session) {
            draft.change(Change::RunUnfinished { run });
        }
    }
}

/// Whether a skill must be finished.
fn must_finish(policy: &Policy) -> bool {
    policy.skills.iter().chain(&policy.earlier).any(|skill| skill.finish_required)
}

/// What a run that must be finished still misses.
struct Missing {
    run: String,
    mode: Mode,
    /// How far it has come, as [`progress`] says.
    progress: u64,
    /// Whether it is marked as unfinished already.
    marked: bool,
    /// Whether only a person can bring it on.
    waits: bool,
    /// Whether what the agent has in the background may bring it on.
    background: bool,
    /// Whether no call that the policy names would be allowed.
    stuck: bool,
    denial: Denial,
}

impl Missing {
    /// That a run stands still: the agent can do nothing for it.
    fn of_stopped(state: &State, run: &Run, skill: &Skill) -> Self {
        let why = stopped(state, run, skill, "", None);
        let deciding = DecidingRun {
            skill: run.skill.clone(),
            phase: Some(run.phase.clone()),
            line: None,
            began: false,
            compat: false,
        };
        let kind = DenialKind::Stopped(Box::new(why));
        Self {
            run: run.id.clone(),
            mode: run.mode,
            progress: 0,
            marked: run.unfinished,
            waits: true,
            background: false,
            stuck: true,
            denial: Denial { run: Some(deciding), ..Denial::new(kind, Effect::of_violation(run.mode)) },
        }
    }
}

/// The live runs that must be finished and are not done.
fn open(world: &mut World<'_>, policy: &Policy, state: &State, caller: Caller<'_>) -> Vec<Missing> {
    let tool = Tool { name: String::new(), native: None, server: None, labels: Labels::new() };
    let call = Call { id: None, tool, input: Value::Null, analysis: CallAnalysis::default(), background: false };
    let mut verdicts = verdicts(world, policy, state, &call, caller);
    // No call is judged here: what a list forbids is no matter.
    for verdict in &mut verdicts {
        verdict.ruling = Ruling::outside();
    }
    let (event, asked) = (Event::new("", EventKind::Idle {}), Asked::default());
    let context =
        Context { policy, state, event: &event, call: &call, caller, asked, is_own: false, verdicts: &verdicts };
    let mut open = Vec::new();
    for verdict in verdicts.iter().filter(|verdict| verdict.judges) {
        let Some(run) = state.run(&verdict.run).filter(|run| !run.tentative) else { continue };
        if !tree::must_finish(policy, state, run) {
            continue;
        }
        if is_done(world, run, verdict.skill) {
            continue;
        }
        if run.stands_still() {
            open.push(Missing::of_stopped(state, run, verdict.skill));
            continue;
        }
        let Some(mut denial) = remedy::violation(world, &context, verdict) else { continue };
        let standing = if let Guidance::Strict(standing) = &mut denial.guidance { Some(standing) } else { None };
        let done = standing.as_ref().is_some_and(|standing| standing.done.is_some());
        let after = if done { waits_after(world, run, verdict.skill) } else { None };
        let mut waits = false;
        if let Some(standing) = standing {
            if let Some((phase, needs, gates)) = after {
                (standing.phase, standing.needs, standing.gates) = (phase, needs, gates);
                (standing.only_gates, standing.next) = (true, Vec::new());
            }
            waits = standing.only_gates;
        }
        let others = verdicts.len() > 1 && !waits;
        let stuck = others && is_hindered(world, &context, run, verdict.skill);
        let skill = run.skill.clone();
        denial.kind = DenialKind::Unfinished { skill, phase: run.phase.to_string(), done };
        open.push(Missing {
            run: run.id.clone(),
            mode: run.mode,
            progress: progress(run),
            marked: run.unfinished,
            waits,
            background: in_background(state, run, verdict.skill, caller.agent)
                || is_done_but_for_open(world, run, verdict.skill),
            stuck,
            denial,
        });
    }
    open
}

/// How far a run has come: it grows with each visit and proof. Who goes back, and forward again to the same place, has come no
/// further.
fn progress(run: &Run) -> u64 {
    let backs: u64 = run.backs.iter().map(|(_, _, times)| u64::from(*times)).sum();
    let visits = u64::from(run.visits).saturating_sub(backs.saturating_mul(2));
    visits.saturating_add(run.evidence.len() as u64)
}

/// The phase that follows a done one, what it requires and which names are to be approved for it, where that is only a
/// person's word.
fn waits_after(world: &mut World<'_>, run: &Run, skill: &Skill) -> Option<(String, Vec<String>, Vec<String>)> {
    let here = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index))?;
    let next = skill.phases.get(here.next.first()?.to)?;
    let missing = world.missing_there(run, next.requires.as_ref()?);
    let gates = missing.gates.iter().map(|gate| gate.name.to_string()).collect();
    missing.is_persons().then(|| (next.name.clone(), missing.phrases.clone(), gates))
}

/// Whether all that keeps the phase from being done is a call that goes on and may change files: the agent need not wait for
/// its end.
fn is_done_but_for_open(world: &mut World<'_>, run: &Run, skill: &Skill) -> bool {
    let here = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index));
    here.is_some_and(|phase| {
        world.done(run, phase) != Done::Yes && world.without_open(|world| world.done(run, phase)) == Done::Yes
    })
}

/// Whether a call that the phase lists and whose outcome it asks for goes on in the background, beside the agent that ends.
fn in_background(state: &State, run: &Run, skill: &Skill, agent: Option<&str>) -> bool {
    let here = skill.phase_index(&run.phase).and_then(|index| skill.phases.get(index));
    let by_agent = here.is_some_and(|phase| phase.done_by.is_some());
    state.session.calls.iter().any(|call| {
        let asked = |place: &CallVisit| place.run == run.id && place.visit == run.visit && place.listed;
        let is_its_own = agent.is_some() && call.started.as_deref() == agent;
        call.launched
            && !is_its_own
            && call.visits.iter().any(|place| asked(place) && (by_agent || !place.proves.is_empty()))
    })
}
