//! A tool call in all live runs: each judges, the strictest answer wins, and only an allowed call moves.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::change::Change;
use crate::code::Code;
use crate::decide::{Done, Line};
use crate::decision::{Decision, Effect, Gate};
use crate::draft::Draft;
use crate::eval::{World, each_call};
use crate::event::{By, Event};
use crate::graph::can_finish;
use crate::guidance::{self, Judged};
use crate::judge::{Caller, Held, Verdict};
use crate::matcher::Use;
use crate::moves;
use crate::observe;
use crate::pins;
use crate::policy::{LeaveSkill, Mode, Policy, Skill};
use crate::protection;
use crate::state::{CallVisit, OpenCall, Proof, Run, State, Status};
use crate::tool::{Call, EXECUTE, SHELL, only_reads};

/// What one run makes of the call, once the run itself may change.
struct Opinion<'a> {
    run: String,
    skill: &'a Skill,
    held: Held<'a>,
    verdict: Verdict,
    /// The rule that the call broke.
    broke: Option<Code>,
    /// The run is over: the call would break its rules, but its last phase is done and the agent may leave it.
    over: bool,
}

/// Decides the call of a `tool_call` event and carries the decision out.
pub(crate) fn decide(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, event: &Event) -> Decision {
    let Some(call) = event.call() else { return Decision::allow() };
    let (agent, kind) = caller(draft.state(), event);
    let caller = Caller { agent: agent.as_deref(), kind: &kind };
    let state = draft.state();
    let Judgement { decision: judged, opinions } = if pins::is_own(state, &call) {
        Judgement { decision: Decision { tool: call.tool.name.clone(), ..Decision::allow() }, opinions: Vec::new() }
    } else {
        judge(world, policy, state, &call, caller)
    };
    let protected = protection::judge(policy, state, &call, known_to_read(policy, &call, caller));
    let changed = pins::judge(policy, state, &call);
    let mut decision =
        protected.into_iter().chain(changed).chain([judged]).reduce(stricter).unwrap_or_else(Decision::allow);
    let mut open = open_call(&call, event, decision.effect);
    for opinion in &opinions {
        let (run, tool) = (opinion.run.clone(), call.tool.name.clone());
        draft.change(Change::Judged { run, tool, broke: opinion.broke });
    }
    for opinion in &opinions {
        carry_out(world, draft, opinion, &mut decision, &mut open);
    }
    if decision.effect != Effect::Deny {
        observe::superseded(draft, &open);
        draft.change(Change::CallOpened(Box::new(open)));
    }
    decision
}

/// Carries out what one run makes of the call, and notes in the decision and the open call what came of it.
fn carry_out(
    world: &mut World<'_>,
    draft: &mut Draft,
    opinion: &Opinion<'_>,
    decision: &mut Decision,
    open: &mut OpenCall,
) {
    let Some(run) = draft.run(&opinion.run) else { return };
    let before = run.phase.clone();
    if decision.lets_through()
        && let Some(change) = moved(world, run, opinion)
    {
        draft.change(change);
        draft.announce(&opinion.run);
    }
    let Some(run) = draft.run(&opinion.run) else { return };
    if decision.code.is_none() && !opinion.over && (decision.skill.is_none() || run.phase != before) {
        decision.gate = Some(Gate::Phase);
        decision.line = Some(opinion.verdict.line);
        decision.skill = Some(run.skill.clone());
        decision.phase = Some(run.phase.clone());
        decision.phase_before = Some(before);
    }
    open.may_execute |= opinion.held.may_execute();
    if run.status == Status::Active {
        note_visit(open, run, opinion);
    }
}

/// The answer of all live runs.
struct Judgement<'a> {
    decision: Decision,
    opinions: Vec<Opinion<'a>>,
}

/// The strictest answer of all live runs, and what each of them found. The first of equally strict runs answers.
fn judge<'a>(
    world: &mut World<'_>,
    policy: &'a Policy,
    state: &State,
    call: &'a Call,
    caller: Caller<'a>,
) -> Judgement<'a> {
    let mut decision = Decision { tool: call.tool.name.clone(), ..Decision::allow() };
    let mut opinions = Vec::new();
    let mut worst: Option<Judged<'_>> = None;
    for run in state.live_runs() {
        let Some(skill) = policy.skill_version(&run.skill, &run.version) else {
            decision = stricter(decision, gone(run));
            continue;
        };
        let held = Held::new(skill, call, caller);
        let verdict = held.judge(world, run);
        let judged = Judged { run, skill, verdict: verdict.clone() };
        // A call that belongs to a phase to come goes through that phase's gates; it does not end the run.
        let outside = verdict.line.is_violation() && verdict.line != Line::NotDone;
        let over = outside && is_over(world, run, skill);
        let mut broke = None;
        if verdict.line.is_violation() && !over {
            broke = Some(guidance::code(verdict.line));
            let effect = guidance::effect(&judged);
            if worst.as_ref().is_none_or(|worst| effect > guidance::effect(worst)) {
                worst = Some(judged);
            }
        }
        opinions.push(Opinion { run: run.id.clone(), skill, held, verdict, broke, over });
    }
    if let Some(worst) = worst {
        decision = stricter(guidance::violation(world, policy, state, &worst, (call, caller)), decision);
    }
    Judgement { decision, opinions }
}

/// Whether the platform or a skill of the policy says that the tool reads, and none that it does more.
fn known_to_read(policy: &Policy, call: &Call, caller: Caller<'_>) -> bool {
    let skills = policy.skills.iter().chain(&policy.earlier).filter(|skill| !skill.tools.is_empty());
    let mut labels = call.tool.labels.clone();
    labels.extend(skills.flat_map(|skill| Held::new(skill, call, caller).labels().clone()));
    only_reads(&labels)
}

/// The stricter of two answers; of equally strict ones the first.
fn stricter(one: Decision, other: Decision) -> Decision {
    if other.effect > one.effect { other } else { one }
}

/// Whether the agent may leave the run because all that it asks for was done. It could deactivate it now; that it
/// goes on to something else says the same. The seed's form asks for nothing and ends by a command only.
fn is_over(world: &mut World<'_>, run: &Run, skill: &Skill) -> bool {
    let Some(here) = skill.phase_index(&run.phase) else { return false };
    let done = skill.phases.get(here).map_or(Done::NotAsked, |phase| world.done(run, phase));
    skill.leave_skill == LeaveSkill::Finished && done == Done::Yes && can_finish(world, skill, run, (here, done))
}

/// The move that an allowed call means in a run.
fn moved(world: &mut World<'_>, run: &Run, opinion: &Opinion<'_>) -> Option<Change> {
    if opinion.over {
        return Some(moves::ended(run, Status::Finished, By::Agent));
    }
    if opinion.verdict.line.is_violation() {
        return None;
    }
    let here = opinion.skill.phase_index(&run.phase).and_then(|index| opinion.skill.phases.get(index));
    let done = here.map_or(Done::NotAsked, |phase| world.done(run, phase));
    moves::of_call(run, opinion.skill, &opinion.verdict, done)
}

/// Notes in which visit the call was decided, and what its outcome would prove there.
fn note_visit(open: &mut OpenCall, run: &Run, opinion: &Opinion<'_>) {
    let phase = opinion.skill.phase_index(&run.phase).unwrap_or_default();
    let lists = |line| matches!(line, Line::Allowed | Line::Returned | Line::Entered | Line::Back);
    let listed = lists(opinion.verdict.line);
    let mut proves: Vec<Proof> = Vec::new();
    each_call(opinion.skill, phase, &mut |test| {
        let proof = Proof { atom: test.atom, wanted: test.wanted };
        if opinion.held.one(&test.matcher, Use::Permit) && !proves.contains(&proof) {
            proves.push(proof);
        }
    });
    open.visits.push(CallVisit { run: run.id.clone(), phase, visit: run.visit, listed, proves });
}

/// The policy of a live run is gone: nothing can be said for the call, so it is a violation.
fn gone(run: &Run) -> Decision {
    let effect = match run.mode {
        Mode::Warn => Effect::Warn,
        Mode::Block => Effect::Deny,
    };
    let reason = format!("the policy that skill \"{}\" began with is gone", run.skill);
    let mut decision = Decision::problem(effect, Gate::Phase, Code::PolicyMissing, reason);
    decision.skill = Some(run.skill.clone());
    decision
}

/// Who calls: the id and kind of a subagent, its kind taken from its start where the event has none.
fn caller(state: &State, event: &Event) -> (Option<String>, String) {
    let kind = event.agent.as_ref().map(|agent| agent.kind.clone()).unwrap_or_default();
    let Some(id) = event.subagent() else { return (None, kind) };
    let known = || state.session.agents.iter().find(|agent| agent.id == id).map(|agent| agent.kind.clone());
    let kind = if kind.is_empty() { known().unwrap_or_default() } else { kind };
    (Some(id.to_string()), kind)
}

fn open_call(call: &Call, event: &Event, effect: Effect) -> OpenCall {
    OpenCall {
        number: 0,
        id: call.id.clone(),
        agent: event.subagent().map(ToString::to_string),
        tool: call.tool.name.clone(),
        input: match (&call.id, &call.reading.shortened) {
            (Some(_), _) => String::new(),
            (None, Some(before)) => before.digest.clone(),
            (None, None) => observe::digest(&call.input),
        },
        executes: [EXECUTE, SHELL].iter().any(|label| call.tool.labels.contains(*label)),
        may_execute: call.tool.labels.is_empty() || call.tool.labels.contains(EXECUTE),
        since: event.time,
        launched: false,
        ended: false,
        asked: effect == Effect::Ask,
        started: None,
        visits: Vec::new(),
        older_proofs: Vec::new(),
    }
}
