//! Observing: outcomes of open calls become evidence, subagents come and go.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::Value;

use crate::event::{By, Event, EventKind, Outcome, PermissionOutcome, SessionSource, split_native};
use crate::moves;
use crate::pins;
use crate::policy::Policy;
use crate::state::{AgentInfo, Evidence, KEPT, OpenCall, Record, State, Status};
use crate::tool::{AGENT, SKILL};

/// What an event shows of earlier ones.
pub(crate) fn observe(policy: &Policy, state: &mut State, event: &Event, records: &mut Vec<Record>) {
    state.session.events = state.session.events.saturating_add(1);
    if state.session.id.is_empty() {
        state.session.id.clone_from(&event.session);
    }
    if event.permission_mode.is_some() {
        state.session.permission_mode.clone_from(&event.permission_mode);
    }
    let agent = event.subagent();
    match &event.kind {
        EventKind::SessionStart { source, parent } => {
            state.session.source = Some(*source);
            state.session.ended = false;
            if parent.is_some() {
                state.session.parent.clone_from(parent);
            }
            // Whoever made the calls that are still open is gone; a conversation that is compacted goes on.
            if *source != SessionSource::Compact {
                state.session.agents.clear();
                give_up(policy, state, records, |_| true);
            }
        }
        EventKind::ToolResult { .. } => result(policy, state, event, records),
        EventKind::Permission { id, outcome } => permission(policy, state, (id.as_deref(), *outcome), records),
        EventKind::BatchEnd {} | EventKind::Prompt { .. } | EventKind::Stop {} => {
            give_up(policy, state, records, |call| call.agent.as_deref() == agent && !call.launched);
        }
        EventKind::Tools { server, tools } => pins::observe(&mut state.project, server, tools, records),
        EventKind::Join { from, .. } => state.session.parent = Some(from.clone()),
        EventKind::SessionEnd {} => {
            state.session.ended = true;
            give_up(policy, state, records, |_| true);
        }
        EventKind::SubagentStart { id, kind, call, .. } => started(state, id, kind, call.as_deref()),
        EventKind::SubagentStop { id, .. } => {
            give_up(policy, state, records, |call| call.agent.as_deref() == Some(id.as_str()));
            state.session.agents.retain(|known| known.id != *id);
            let by_it = |call: &OpenCall| call.started.as_deref() == Some(id.as_str());
            if let Some(place) = state.session.calls.iter().position(by_it) {
                over(policy, state, place, records);
            }
        }
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

fn result(policy: &Policy, state: &mut State, event: &Event, records: &mut Vec<Record>) {
    let EventKind::ToolResult { id, outcome, ok, exit_code, tool, input, .. } = &event.kind else { return };
    let digest = input.as_ref().map(digest);
    let tool = tool.as_deref().map(|tool| split_native(tool).map_or(tool, |(_, name)| name));
    let agent = event.subagent();
    let fits = |call: &OpenCall| {
        call.agent.as_deref() == agent
            && tool.is_none_or(|tool| tool == call.tool)
            && digest.as_ref().is_none_or(|digest| *digest == call.input)
    };
    let calls = &state.session.calls;
    let place = match id {
        Some(id) => calls.iter().position(|call| call.id.as_deref() == Some(id)),
        None => calls.iter().position(|call| call.id.is_none() && fits(call)).or_else(|| only(calls, fits)),
    };
    let Some(place) = place else { return };
    let stated = outcome.unwrap_or(if *ok == Some(true) { Outcome::Ok } else { Outcome::Failed });
    let call = state.session.calls.get(place);
    let executes = call.is_some_and(|call| call.executes);
    // An id that names another tool's or another agent's call proves nothing for either.
    let same = call.is_some_and(|call| {
        tool.is_none_or(|tool| tool == call.tool) && (agent.is_none() || call.agent.as_deref() == agent)
    });
    let outcome = if same { proven(stated, *exit_code, executes) } else { Outcome::Unknown };
    if outcome == Outcome::Launched {
        if let Some(call) = state.session.calls.get_mut(place) {
            call.launched = true;
            let call = call.clone();
            close(policy, state, &call, outcome, records);
            if call.ended {
                over(policy, state, place, records);
            }
        }
        return;
    }
    let call = state.session.calls.remove(place);
    close(policy, state, &call, outcome, records);
}

/// The subagent that a call started is at its end: so is the call, if it was launched; else its result is to come.
fn over(policy: &Policy, state: &mut State, place: usize, records: &mut Vec<Record>) {
    let Some(call) = state.session.calls.get_mut(place) else { return };
    call.ended = true;
    if call.launched {
        let call = state.session.calls.remove(place);
        close(policy, state, &call, Outcome::Ok, records);
    }
}

/// The place of the only call that fits.
fn only(calls: &[OpenCall], fits: impl Fn(&OpenCall) -> bool) -> Option<usize> {
    let mut places = calls.iter().enumerate().filter(|(_, call)| fits(call)).map(|(place, _)| place);
    places.next().filter(|_| places.next().is_none())
}

/// A call under an id that is open already: nobody will know which of the two a result is about.
pub(crate) fn superseded(policy: &Policy, state: &mut State, new: &OpenCall, records: &mut Vec<Record>) {
    if new.id.is_some() {
        give_up(policy, state, records, |call| call.id == new.id);
    }
}

/// What a stated outcome proves: a program that ran is `ok` only with a known exit status 0.
fn proven(stated: Outcome, exit_code: Option<i64>, executes: bool) -> Outcome {
    match (stated, exit_code) {
        (Outcome::Ok, Some(0)) => Outcome::Ok,
        (Outcome::Ok, Some(_)) => Outcome::Failed,
        (Outcome::Ok, None) if executes => Outcome::Unknown,
        (stated, _) => stated,
    }
}

fn permission(
    policy: &Policy,
    state: &mut State,
    (id, outcome): (Option<&str>, PermissionOutcome),
    records: &mut Vec<Record>,
) {
    let pairs = |call: &OpenCall| if id.is_some() { call.id.as_deref() == id } else { call.asked };
    let Some(place) = state.session.calls.iter().position(pairs) else { return };
    match outcome {
        PermissionOutcome::Asked => {
            if let Some(call) = state.session.calls.get_mut(place) {
                call.asked = true;
            }
        }
        PermissionOutcome::Granted => {}
        PermissionOutcome::Refused => {
            let call = state.session.calls.remove(place);
            close(policy, state, &call, Outcome::Refused, records);
        }
    }
}

/// Calls whose end was not seen: nobody knows how they ended.
fn give_up(policy: &Policy, state: &mut State, records: &mut Vec<Record>, over: impl Fn(&OpenCall) -> bool) {
    let calls = core::mem::take(&mut state.session.calls);
    let (ended, open): (Vec<_>, Vec<_>) = calls.into_iter().partition(over);
    state.session.calls = open;
    for call in &ended {
        close(policy, state, call, Outcome::Unknown, records);
    }
}

/// A skill whose call came to nothing was never read: a run that it began, and in which nothing was called, ends.
fn not_invoked(state: &mut State, call: &OpenCall, outcome: Outcome, records: &mut Vec<Record>) {
    let nothing = matches!(outcome, Outcome::Refused | Outcome::Failed | Outcome::Cancelled);
    if call.tool != SKILL || call.id.is_none() || !nothing {
        return;
    }
    for run in state.project.runs.iter_mut().chain(&mut state.session.runs) {
        if run.status == Status::Active && run.call == call.id && run.history.is_empty() {
            run.status = Status::Left;
            records.push(moves::ended(run, By::Platform));
        }
    }
}

/// An outcome becomes evidence in every run in which the visit that the call was decided in still counts.
fn close(policy: &Policy, state: &mut State, call: &OpenCall, outcome: Outcome, records: &mut Vec<Record>) {
    not_invoked(state, call, outcome, records);
    for place in &call.visits {
        let Some(run) = state.run_mut(&place.run) else { continue };
        let here = run.visit == place.visit;
        let before = run.provisional.as_ref().is_some_and(|before| before.visit == place.visit);
        // A call counts where it was decided, however late its outcome is seen; what was cleared stays cleared.
        if !here && !before && !run.kept.contains(&(place.phase, place.visit)) {
            continue;
        }
        let mut proved = false;
        for proof in call.proves.iter().filter(|proof| proof.run == place.run && proof.wanted.accepts(outcome)) {
            let evidence = Evidence { phase: place.phase, visit: place.visit, atom: proof.atom };
            if !run.evidence.contains(&evidence) {
                run.evidence.push(evidence);
                proved = true;
            }
        }
        if place.listed && here {
            run.failed |= outcome == Outcome::Failed;
            if outcome == Outcome::Ok {
                run.provisional = None;
            }
        } else if place.listed
            && outcome == Outcome::Failed
            && let Some(before) = &mut run.provisional
        {
            before.failed = true;
        }
        if proved {
            let skill = policy.skill_version(&run.skill, &run.version);
            let phase = skill.and_then(|skill| skill.phases.get(place.phase)).map(|phase| phase.name.clone());
            records.push(Record::EvidenceSeen {
                run: place.run.clone(),
                phase: phase.unwrap_or_default(),
                tool: call.tool.clone(),
                outcome,
            });
        }
    }
}

fn started(state: &mut State, id: &str, kind: &str, call: Option<&str>) {
    let untied = |open: &&mut OpenCall| match call {
        Some(wanted) => open.id.as_deref() == Some(wanted),
        None => open.tool == AGENT && open.started.is_none(),
    };
    let mut candidates: Vec<&mut OpenCall> = state.session.calls.iter_mut().filter(untied).collect();
    if let [only] = candidates.as_mut_slice() {
        only.started = Some(id.to_string());
    }
    let agents = &mut state.session.agents;
    agents.retain(|known| known.id != id);
    agents.push(AgentInfo { id: id.to_string(), kind: kind.to_string() });
    let surplus = agents.len().saturating_sub(KEPT);
    agents.drain(..surplus);
}

/// A digest of a call's arguments, to pair a result that has no id (FNV-1a of the JSON text, 16 hexadecimal digits).
pub(crate) fn digest(input: &Value) -> String {
    let text = input.to_string();
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    alloc::format!("{hash:016x}")
}
