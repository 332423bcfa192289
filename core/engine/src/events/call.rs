//! A tool call: the gates judge it, and what is let through moves the runs and stays open until its outcome is seen.

use crate::answers::decision::{Confined, Decision, Effect, Gate};
use crate::answers::repeated_denials;
use crate::calls::analysis::{self, Access, PathUse, SimpleCommand, UNKNOWN, UNNAMED, Verdict};
use crate::calls::tool::{Call, EXECUTE, SHELL, only_reads};
use crate::decide::Line;
use crate::decide::judge::Caller;
use crate::decide::reach::{Reached, reach};
use crate::decide::run_verdict::RunVerdict;
use crate::decide::unprompted;
use crate::events::event::Event;
use crate::events::observe;
use crate::evidence::eval::World;
use crate::gates::budget::{self, Counted};
use crate::gates::gate::Context;
use crate::gates::permitting::Asked;
use crate::gates::{self, question};
use crate::policy::steps::StepState;
use crate::policy::{Policy, Skill};
use crate::prelude::*;
use crate::rules::earlier_calls;
use crate::runs::holding;
use crate::runs::settle::settle;
use crate::runs::standing_runs;
use crate::runs::start;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::open_call::Began;
use crate::state::pins::{OWN_SERVER, OWN_TOOLS};
use crate::state::redacted_tests::digest;
use crate::state::{OpenCall, State, Status};

/// The most paths of a call that are kept while it is open.
const MAX_WRITES: usize = 64;

/// Decides the call of a `tool_call` event and applies the decision.
pub(crate) fn decide(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, event: &Event) -> Decision {
    let Some(call) = event.call() else { return Decision::allow() };
    let (agent, kind) = (event.subagent(), agent_kind(draft.state(), event));
    let caller = Caller { agent, kind: &kind };
    let is_own = call.analysis.undoes || is_own(draft.state(), &call);
    world.hold(draft.state());
    holding::take_over(world, draft, &call);
    let mut found = if is_own { Reached::default() } else { reach(world, policy, draft, &call, caller) };
    if standing_runs::renew(world, policy, draft, &found.verdicts) {
        found = reach(world, policy, draft, &call, caller);
    }
    let asked = Asked { time: event.time, stated: event.stated.as_deref() };
    let mut allowed = None;
    let mut judge = |world: &mut World<'_>, draft: &Draft, verdicts: &[RunVerdict<'_>]| {
        let denied = gates::judge(
            world,
            &Context { policy, state: draft.state(), event, call: &call, caller, asked, is_own, verdicts },
        );
        let denied = question::answered(draft, &call, event, denied);
        let lift = denied.as_ref().and_then(|decision| question::lift(policy, &call, event, decision));
        allowed = lift.and_then(|lift| question::lifted(draft, &lift, event));
        denied.filter(|_| allowed.is_none())
    };
    let mut denied = judge(world, draft, &found.verdicts);
    // A call that is denied begins nothing, and neither does one of which nothing stays.
    let runs = denied.as_ref().is_none_or(Decision::lets_through) && !is_own && !is_held(&found.verdicts);
    if runs && start::by_call(policy, draft, &call, caller, &found.verdicts) {
        settle(world, policy, draft);
        found = reach(world, policy, draft, &call, caller);
        denied = judge(world, draft, &found.verdicts);
    }
    let verdicts = found.settled(draft, denied.as_ref().is_none_or(Decision::lets_through));
    let mut decision = denied.unwrap_or_else(|| Decision { tool: call.tool.name.clone(), ..Decision::allow() });
    decision.approved = !is_own && unprompted::is_approved(policy, draft.state(), &call, &decision);
    question::keep(draft, &call, event, &mut decision);
    if let Some(name) = allowed.filter(|_| decision.lets_through()) {
        draft.change(Change::QuestionClosed { name });
    }
    let mut open = open_call(policy, &call, event, &decision);
    if decision.effect != Effect::Deny && !is_own && !policy.budgets.is_empty() {
        let (budgets, verdicts, waits) = (policy.budgets.as_slice(), verdicts.as_slice(), open.asked);
        open.reports = budget::count(world, draft, &Counted { budgets, call: &call, caller, asked, verdicts, waits });
    }
    if !is_own {
        let let_through = Some(&mut open).filter(|_| decision.effect != Effect::Deny);
        earlier_calls::decided(policy, draft, &call, event, caller, let_through);
    }
    enact(world, draft, &call, &verdicts, &mut decision, &mut open);
    if call.analysis.unproven {
        open.visits.iter_mut().for_each(|visit| (visit.proves, visit.not_own) = (Vec::new(), Vec::new()));
    }
    if decision.effect != Effect::Deny {
        observe::superseded(draft, &open);
        draft.change(Change::CallOpened(Box::new(open)));
    } else {
        let lift = question::lift(policy, &call, event, &decision);
        repeated_denials::count(world, policy, draft, &open, lift, &mut decision);
    }
    decision
}

/// Has the runs take up what they said of the call.
fn enact(
    world: &mut World<'_>,
    draft: &mut Draft,
    call: &Call,
    verdicts: &[RunVerdict<'_>],
    decision: &mut Decision,
    open: &mut OpenCall,
) {
    decision.confined = judged(draft, call, verdicts).filter(|_| decision.lets_through()).map(Box::new);
    for verdict in verdicts {
        apply(world, draft, verdict, decision, open);
        let works = verdict.ruling.line.lists() || !only_reads(verdict.call.labels());
        if decision.lets_through() && verdict.judges && works {
            holding::hold(draft, &verdict.run);
        }
        if let Some(edge) = &verdict.ruling.spent {
            draft.change(Change::LimitSpent { run: verdict.run.clone(), edge: edge.clone() });
            draft.announce(&verdict.run);
        }
    }
}

/// Whether a run has the call held, so that nothing of it stays.
fn is_held(verdicts: &[RunVerdict<'_>]) -> bool {
    verdicts.iter().any(|verdict| verdict.ruling.line == Line::Confined)
}

/// Notes that the runs judged the call. Gives how the shell is to run it, where a run asks for that.
fn judged(draft: &mut Draft, call: &Call, verdicts: &[RunVerdict<'_>]) -> Option<Confined> {
    let mut judging = verdicts.iter().filter(|verdict| verdict.judges && !verdict.over);
    let held = |verdict: &RunVerdict<'_>| {
        verdict.call.confinement(draft.state(), draft.run(&verdict.run)?, verdict.ruling.line)
    };
    let confined = judging.find_map(held);
    for verdict in verdicts {
        let (run, tool) = (verdict.run.clone(), call.tool.name.clone());
        let shown_stays = draft.run(&run).is_some_and(|run| !run.shown.is_empty());
        draft.change(Change::Judged { run, tool, broke: verdict.broke, shown_stays });
    }
    confined
}

/// Applies what one run says to the call, and notes in the decision and the open call what came of it.
fn apply(
    world: &mut World<'_>,
    draft: &mut Draft,
    verdict: &RunVerdict<'_>,
    decision: &mut Decision,
    open: &mut OpenCall,
) {
    let Some(run) = draft.run(&verdict.run) else { return };
    let before = run.phase.clone();
    if decision.lets_through()
        && let Some(change) = verdict.moved(world, run)
    {
        draft.change(change);
        draft.announce(&verdict.run);
    }
    let Some(run) = draft.run(&verdict.run) else { return };
    if decision.code.is_none() && !verdict.over && (decision.skill.is_none() || run.phase != before) {
        decision.gate = Some(Gate::Phase);
        decision.line = Some(verdict.ruling.line);
        decision.skill = Some(run.skill.clone());
        decision.phase = Some(run.phase.clone());
        decision.phase_before = Some(before);
    }
    open.may_execute |= verdict.call.may_execute();
    if verdict.judges && run.status == Status::Active {
        let visit = verdict.visit(world, run);
        if decision.lets_through() {
            for step in &visit.steps {
                draft.change(Change::StepIs { run: visit.run.clone(), step: *step, state: StepState::Begun });
            }
        }
        open.visits.push(visit);
    }
}

/// Whether a host's call is one of our own tools, which our proxy decides as a command when the call reaches it.
fn is_own(state: &State, call: &Call) -> bool {
    let Some(server) = call.tool.server.as_deref() else { return false };
    OWN_TOOLS.contains(&call.tool.name.as_str()) && (server == OWN_SERVER || state.project.servers.contains_key(server))
}

/// The kind of the agent that calls, taken from its start where the event does not say; empty where not known.
pub(crate) fn agent_kind(state: &State, event: &Event) -> String {
    let kind = event.agent.as_ref().map(|agent| agent.kind.clone()).unwrap_or_default();
    let Some(id) = event.subagent().filter(|_| kind.is_empty()) else { return kind };
    let known = state.session.agents.iter().find(|agent| agent.id == id);
    known.map(|agent| agent.kind.clone()).unwrap_or_default()
}

/// What a call changes, as far as that is known, where a skill asks whether files are as they were or as a call wrote them.
fn writes(policy: &Policy, call: &Call) -> Vec<String> {
    let changes = |path: &&PathUse| path.access != Access::Read && path.written != UNNAMED && path.written != UNKNOWN;
    let written = call.analysis.paths.iter().filter(changes).filter_map(|path| path.resolved.clone());
    let mut skills = policy.skills.iter().chain(&policy.earlier);
    let of_line = call.tool.labels.contains(SHELL) && skills.any(Skill::asks_whether_unchanged);
    if !of_line && !policy.asks_what_was_written() {
        return Vec::new();
    }
    written.take(MAX_WRITES).collect()
}

/// Whether a call that fails may have changed something before: not where a single command of a known program fails.
fn changes_in_part(call: &Call) -> bool {
    let known = |command: &SimpleCommand| command.verdict <= Verdict::Write && command.status == analysis::Status::Own;
    let single = matches!(call.analysis.commands.as_slice(), [command] if known(command));
    [EXECUTE, SHELL].iter().any(|label| call.tool.labels.contains(*label)) && !single
}

fn open_call(policy: &Policy, call: &Call, event: &Event, decision: &Decision) -> OpenCall {
    OpenCall {
        number: 0,
        id: call.id.clone(),
        agent: event.subagent().map(ToString::to_string),
        tool: call.tool.name.clone(),
        input: match &call.analysis.redacted {
            Some(before) => before.digest.clone(),
            None => digest(&call.input),
        },
        executes: [EXECUTE, SHELL].iter().any(|label| call.tool.labels.contains(*label)),
        may_execute: call.tool.labels.is_empty() || call.tool.labels.contains(EXECUTE),
        changes_in_part: changes_in_part(call),
        writes: writes(policy, call),
        changes: false,
        since: event.time,
        launched: false,
        ended: false,
        asked: decision.effect == Effect::Ask,
        question: decision.question.clone(),
        started: None,
        starts_as: call.analysis.starts_as.clone(),
        visits: Vec::new(),
        tests: Vec::new(),
        began: Began::default(),
        reports: Vec::new(),
    }
}
