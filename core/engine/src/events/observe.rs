//! Observing: outcomes of open calls become evidence, subagents come and go.

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use serde_json::Value;

use crate::calls::analysis::UNKNOWN;
use crate::calls::builtin_tools::split_native;
use crate::calls::cause::{By, SessionSource};
use crate::calls::outcome::{CallOutcome, PermissionOutcome};
use crate::calls::tool::{AGENT, SKILL};
use crate::events::event::{Event, EventKind};
use crate::evidence::condition::{ReportWanted, Wanted};
use crate::evidence::proof::{Proved, VisitIs};
use crate::gates::pinning;
use crate::policy::steps::StepState;
use crate::prelude::*;
use crate::runs::holding;
use crate::runs::moves;
use crate::shell::test_report::TestReport;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::redacted_tests::digest;
use crate::state::{CallVisit, Evidence, OpenCall, Proof, Run, Session, State, Status, Uncounted, Why};

/// What an event shows of earlier ones.
pub(crate) fn observe(draft: &mut Draft, event: &Event) {
    draft.change(seen(&draft.state().session, event));
    let agent = event.subagent();
    match &event.kind {
        EventKind::SessionStart { source, parent } => {
            draft.change(Change::SessionStarted { source: *source, parent: parent.clone() });
            // The conversation that was cleared is over.
            if let (SessionSource::Clear, Some(parent)) = (source, parent) {
                holding::free(draft, parent);
            }
            // The process that made the calls that are still open is gone; a conversation that is compacted goes on.
            if *source != SessionSource::Compact {
                if !draft.state().session.agents.is_empty() {
                    draft.change(Change::AgentsCleared {});
                }
                give_up(draft, |_| true);
            }
        }
        EventKind::ToolResult { .. } => result(draft, event),
        EventKind::Permission { id, outcome } => permission(draft, id.as_deref(), *outcome),
        EventKind::BatchEnd {} | EventKind::Prompt { .. } | EventKind::Stop { .. } => {
            give_up(draft, |call| call.agent.as_deref() == agent && !call.launched);
        }
        EventKind::Tools { server, tools } => {
            pinning::seen(&draft.state().project, server, tools).into_iter().for_each(|change| draft.change(change));
        }
        EventKind::Join { from, .. } => draft.change(Change::SessionJoined { from: from.clone() }),
        EventKind::SessionEnd {} => ended(draft),
        EventKind::SubagentStart { id, kind, call, .. } => {
            draft.change(started(draft.state(), id, kind, call.as_deref()))
        }
        EventKind::SubagentStop { id, .. } => stopped(draft, id),
        EventKind::Message { .. }
        | EventKind::Idle {}
        | EventKind::Compact {}
        | EventKind::ToolCall { .. }
        | EventKind::Skill { .. }
        | EventKind::File { .. }
        | EventKind::ConfigChanged { .. }
        | EventKind::State { .. }
        | EventKind::Command { .. } => {}
    }
}

/// The session ends, and what is open in it has no outcome.
pub(crate) fn ended(draft: &mut Draft) {
    draft.change(Change::SessionEnded {});
    give_up(draft, |_| true);
    let own = draft.state().session.id.clone();
    holding::free(draft, &own);
}

fn seen(session: &Session, event: &Event) -> Change {
    Change::Seen {
        session: (session.id.is_empty() && !event.session.is_empty()).then(|| event.session.clone()),
        // A subagent may have a mode of its own.
        permission_mode: event
            .permission_mode
            .clone()
            .filter(|_| event.subagent().is_none() && event.permission_mode != session.permission_mode),
    }
}

/// The open call that a result is about, and whether its tool and its agent are those of the call.
pub(crate) fn paired<'s>(state: &'s State, event: &Event) -> Option<(&'s OpenCall, bool)> {
    let EventKind::ToolResult { id, tool, input, .. } = &event.kind else { return None };
    let digest = input.as_ref().map(digest);
    let tool = tool.as_deref().map(|tool| split_native(tool).map_or(tool, |(_, name)| name));
    let agent = event.subagent();
    let fits = |call: &OpenCall| {
        call.agent.as_deref() == agent
            && tool.is_none_or(|tool| tool == call.tool)
            && digest.as_ref().is_none_or(|digest| call.id.is_none() && *digest == call.input)
    };
    let calls = &state.session.calls;
    let call = match id {
        Some(id) => calls.iter().find(|call| call.id.as_deref() == Some(id)),
        None => calls.iter().find(|call| call.id.is_none() && fits(call)).or_else(|| only(calls, fits)),
    };
    let call = call?;
    let same = tool.is_none_or(|tool| tool == call.tool) && (agent.is_none() || call.agent.as_deref() == agent);
    Some((call, same))
}

fn result(draft: &mut Draft, event: &Event) {
    let EventKind::ToolResult { outcome, ok, exit_code, tests, .. } = &event.kind else { return };
    let Some((call, same)) = paired(draft.state(), event) else { return };
    let stated = outcome.unwrap_or(if *ok == Some(true) { CallOutcome::Ok } else { CallOutcome::Failed });
    // An id that names another tool's or another agent's call proves nothing for either.
    let outcome = if same { proven(stated, *exit_code, call.executes) } else { CallOutcome::Unknown };
    // Of a line of several commands, the last one did not run.
    let ran = if exit_code.is_some_and(|code| NOT_RUN.contains(&code)) { CallOutcome::Failed } else { outcome };
    let (number, agent_ended) = (call.number, call.ended);
    close_with(draft, number, Seen { outcome, ran, tests });
    if outcome == CallOutcome::Launched && agent_ended {
        close(draft, number, CallOutcome::Ok);
    }
}

/// A subagent ended, and with it its calls. So did the call that started it, if that was launched; else its result is
/// to come.
fn stopped(draft: &mut Draft, id: &str) {
    give_up(draft, |call| call.agent.as_deref() == Some(id));
    draft.change(Change::AgentEnded { id: id.to_string() });
    let calls = &draft.state().session.calls;
    let Some(call) = calls.iter().find(|call| call.started.as_deref() == Some(id)) else { return };
    let (number, launched) = (call.number, call.launched);
    if launched {
        close(draft, number, CallOutcome::Ok);
    } else {
        draft.change(Change::CallAgentEnded { call: number });
    }
}

/// The only call that fits.
fn only(calls: &[Arc<OpenCall>], fits: impl Fn(&OpenCall) -> bool) -> Option<&Arc<OpenCall>> {
    let mut fitting = calls.iter().filter(|call| fits(call));
    fitting.next().filter(|_| fitting.next().is_none())
}

/// A call under an id that is open already: which of the two a result is about cannot be known.
pub(crate) fn superseded(draft: &mut Draft, new: &OpenCall) {
    if new.id.is_some() {
        give_up(draft, |call| call.id == new.id);
    }
}

/// The exit statuses with which a shell says that there is no such program, or that it cannot be run.
const NOT_RUN: [i64; 2] = [126, 127];

/// What a stated outcome proves: a program that ran is `ok` only with a known exit status 0, and one that did not run has
/// not failed.
fn proven(stated: CallOutcome, exit_code: Option<i64>, executes: bool) -> CallOutcome {
    match (stated, exit_code) {
        (CallOutcome::Ok | CallOutcome::Failed, Some(code)) if executes && NOT_RUN.contains(&code) => {
            CallOutcome::Unknown
        }
        (CallOutcome::Ok, Some(0)) => CallOutcome::Ok,
        (CallOutcome::Ok, Some(_)) => CallOutcome::Failed,
        (CallOutcome::Ok, None) if executes => CallOutcome::Unknown,
        (stated, _) => stated,
    }
}

fn permission(draft: &mut Draft, id: Option<&str>, outcome: PermissionOutcome) {
    let pairs = |call: &&Arc<OpenCall>| if id.is_some() { call.id.as_deref() == id } else { call.asked };
    let Some(call) = draft.state().session.calls.iter().find(pairs).map(|call| call.number) else { return };
    match outcome {
        PermissionOutcome::Asked => draft.change(Change::CallAsked { call }),
        PermissionOutcome::Granted => {}
        PermissionOutcome::Refused => close(draft, call, CallOutcome::Refused),
    }
}

/// Ends the calls whose end was not seen, with an outcome that is not known.
fn give_up(draft: &mut Draft, over: impl Fn(&OpenCall) -> bool) {
    let calls = draft.state().session.calls.iter();
    let ended: Vec<u64> = calls.filter(|call| over(call)).map(|call| call.number).collect();
    ended.into_iter().for_each(|call| close(draft, call, CallOutcome::Unknown));
}

/// A call has an outcome, which becomes evidence in every run in which the visit that the call was decided in counts.
fn close(draft: &mut Draft, number: u64, outcome: CallOutcome) {
    close_with(draft, number, Seen { outcome, ran: outcome, tests: &[] });
}

/// What was seen of the end of a call.
#[derive(Clone, Copy)]
struct Seen<'a> {
    outcome: CallOutcome,
    /// As the outcome, by which it shows whether a part of the call may have changed something.
    ran: CallOutcome,
    tests: &'a [TestReport],
}

fn close_with(draft: &mut Draft, number: u64, seen: Seen<'_>) {
    let Seen { outcome, ran, tests } = seen;
    let Some(call) = draft.state().session.calls.iter().find(|call| call.number == number).cloned() else { return };
    not_invoked(draft, &call, outcome);
    // Where nobody can be asked, a client reports the call that was not made as failed: that it ran and failed is not known.
    let asked = call.question.is_some() && outcome == CallOutcome::Failed;
    let outcome = if asked { CallOutcome::Unknown } else { outcome };
    // A call that did not run can still be answered by its name.
    let open = matches!(outcome, CallOutcome::Unknown | CallOutcome::Refused);
    if let Some(name) = call.question.clone().filter(|_| !open) {
        draft.change(Change::QuestionClosed { name });
    }
    draft.change(Change::CallOutcome { call: number, outcome });
    // What a subagent started goes on when that subagent is gone.
    if let Some(id) = call.started.as_ref().filter(|_| outcome != CallOutcome::Launched && call.agent.is_none())
        && draft.state().session.agents.iter().any(|known| known.id == *id)
    {
        give_up(draft, |open| open.agent.as_deref() == Some(id));
        draft.change(Change::AgentEnded { id: id.clone() });
    }
    for place in &call.visits {
        let begun = call.may_have_changed(ran) && place.listed;
        if begun && draft.run(&place.run).is_some_and(|run| run.tentative) {
            draft.change(Change::RunTaken { run: place.run.clone() });
        }
        let of_plan = draft.run(&place.run).is_some_and(|run| run.visit == place.visit && run.steps.is_some());
        for step in place.steps.iter().filter(|_| of_plan) {
            draft.change(Change::StepIs { run: place.run.clone(), step: *step, state: StepState::after(outcome) });
        }
        let name = format!("{}:{number}", draft.state().session.id);
        let seen = Closed { outcome, tests, name: &name };
        let proved = draft.run(&place.run).and_then(|run| proved(run, place, seen));
        proved.into_iter().for_each(|proved| draft.change(Change::Proved(proved)));
        let own = place.proves.iter().filter(|proof| proof.own && proof.wanted.proven_by(outcome, tests));
        let written = own.filter_map(|proof| proof.about.first()).flatten();
        let paths: Vec<String> = written.filter(|path| *path != UNKNOWN).cloned().collect();
        if !paths.is_empty() {
            draft.change(Change::OwnFilesWritten { call: name, paths });
        }
    }
}

/// How a call ended, and its name in the project.
#[derive(Clone, Copy)]
struct Closed<'a> {
    outcome: CallOutcome,
    tests: &'a [TestReport],
    name: &'a str,
}

/// Ends the runs that a call to a skill began, where the call came to nothing and nothing was called in them: the skill
/// was never read.
fn not_invoked(draft: &mut Draft, call: &OpenCall, outcome: CallOutcome) {
    let nothing = matches!(outcome, CallOutcome::Refused | CallOutcome::Failed | CallOutcome::Cancelled);
    if call.tool != SKILL || call.id.is_none() || !nothing {
        return;
    }
    let began = |run: &&Run| run.call == call.id && run.history.is_empty();
    let ended: Vec<Change> =
        draft.state().live_runs().filter(began).map(|run| moves::ended(run, Status::Left, By::Platform)).collect();
    ended.into_iter().for_each(|change| draft.change(change));
}

/// What the outcome of a call means to one run; `None`: nothing. A call counts where it was decided, however late its
/// outcome is seen, and what was cleared stays cleared.
fn proved(run: &Run, place: &CallVisit, closed: Closed<'_>) -> Option<Proved> {
    let Closed { outcome, tests, name } = closed;
    let here = run.visit == place.visit;
    let earlier = run.provisional.as_ref().is_some_and(|before| before.visit == place.visit);
    if !here && !earlier && !run.kept.contains(&(place.phase, place.visit)) {
        return None;
    }
    let (mut atoms, mut as_of, mut about) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    for proof in place.proves.iter().filter(|proof| proof.wanted.proven_by(outcome, tests)) {
        let (phase, visit, atom) = (place.phase, place.visit, proof.atom);
        let then = if proof.own { Some(Value::from(name)) } else { proof.as_of.clone() };
        let evidence = Evidence { phase, visit, atom, as_of: then, about: proof.about.clone() };
        if !run.evidence.contains(&evidence) && !atoms.contains(&proof.atom) {
            atoms.push(proof.atom);
            as_of.extend(evidence.as_of.map(|value| (proof.atom, value)));
            about.extend(Some((proof.atom, evidence.about)).filter(|(_, values)| !values.is_empty()));
        }
    }
    let held = |proof: &Proof| {
        let is = |one: &Evidence| one.atom == proof.atom && one.visit <= place.visit && one.shares(&proof.about);
        run.evidence.iter().any(is)
    };
    let undoes = |proof: &&Proof| !proof.lasting && proof.wanted.undone_by(outcome, tests) && held(proof);
    let mut undone = Vec::new();
    for proof in place.proves.iter().filter(undoes) {
        undone.push(proof.atom);
        about.extend(Some((proof.atom, proof.about.clone())).filter(|(_, values)| !values.is_empty()));
    }
    let uncounted = if here { uncounted(run, place, outcome, tests, &undone) } else { Vec::new() };
    let visit_is = match outcome {
        CallOutcome::Ok if place.result && here && run.failed => Some(VisitIs::Recovered),
        CallOutcome::Ok if place.listed && here && run.provisional.is_some() => Some(VisitIs::Settled),
        CallOutcome::Failed if place.result && here && !run.failed => Some(VisitIs::Failed),
        CallOutcome::Failed
            if place.result && !here && run.provisional.as_ref().is_some_and(|before| !before.failed) =>
        {
            Some(VisitIs::EarlierFailed)
        }
        _ => None,
    };
    let means = !atoms.is_empty() || !undone.is_empty() || visit_is.is_some() || !uncounted.is_empty();
    let (run, phase, visit) = (run.id.clone(), place.phase, place.visit);
    means.then_some(Proved { run, phase, visit, atoms, as_of, about, undone, visit_is, uncounted })
}

/// The conditions that the call is about and that its outcome does not prove, as far as the run does not hold them so
/// already.
fn uncounted(
    run: &Run,
    place: &CallVisit,
    outcome: CallOutcome,
    tests: &[TestReport],
    undone: &[u32],
) -> Vec<Uncounted> {
    let held = |atom: u32| run.evidence.iter().any(|evidence| evidence.visit == place.visit && evidence.atom == atom);
    let proven = |atom: u32| held(atom) && !undone.contains(&atom);
    let otherwise = place.proves.iter().filter(|proof| !proof.wanted.proven_by(outcome, tests));
    let sure = |report: ReportWanted| Wanted::Report(ReportWanted { unsure: false, ..report });
    let why = |proof: &Proof| match proof.wanted {
        Wanted::Report(report) if report.unsure && sure(report).proven_by(outcome, tests) => Why::OwnProgram,
        Wanted::Report(report) if report.part && proof.wanted.accepts(outcome) => Why::Part,
        Wanted::Report(report) if proof.wanted.accepts(outcome) && report.only_broken(tests) => Why::Broken,
        Wanted::Report(report) if proof.wanted.accepts(outcome) => match report.through {
            Some(_) => Why::Filtered,
            None => Why::Report,
        },
        _ => Why::Outcome(outcome),
    };
    let otherwise = otherwise.map(|proof| Uncounted { atom: proof.atom, why: why(proof) });
    let not_own = place.not_own.iter().map(|atom| Uncounted { atom: *atom, why: Why::NotOwnStatus });
    let mut found: Vec<Uncounted> = Vec::new();
    for one in otherwise.chain(not_own) {
        let known =
            proven(one.atom) || run.uncounted.contains(&one) || found.iter().any(|other| other.atom == one.atom);
        if !known {
            found.push(one);
        }
    }
    found
}

fn started(state: &State, id: &str, kind: &str, call: Option<&str>) -> Change {
    let calls = &state.session.calls;
    let untied = |open: &OpenCall| open.tool == AGENT && open.started.is_none();
    let found = match call {
        Some(wanted) => only(calls, |open| open.id.as_deref() == Some(wanted)),
        None => {
            only(calls, |open| untied(open) && open.starts_as.as_deref() == Some(kind)).or_else(|| only(calls, untied))
        }
    };
    let call = found.map(|open| open.number);
    Change::AgentStarted { id: id.to_string(), kind: kind.to_string(), call }
}
