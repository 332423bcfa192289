//! Obligations: what the host must be told, given again until a later event shows that it was taken up.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::apply::obligation_prefix;
use crate::change::Change;
use crate::decision::Decision;
use crate::draft::Draft;
use crate::eval::bracketed;
use crate::event::{Event, EventKind};
use crate::policy::{Policy, Skill};
use crate::state::{Obligation, Run, Status};

/// Drops what an event shows to have been taken up, before the event itself is answered.
pub(crate) fn taken_up(draft: &mut Draft, event: &Event) {
    let result_of = match &event.kind {
        EventKind::ToolResult { id, .. } => id.as_deref(),
        _ => None,
    };
    let goes_on = matches!(event.kind, EventKind::ToolCall { .. } | EventKind::Stop {});
    drop_those(draft, |obligation| {
        obligation.given > 0
            && match &obligation.call {
                Some(call) => result_of == Some(call.as_str()),
                None => goes_on,
            }
    });
}

/// Brings the obligations in line with the live runs: where each stands.
pub(crate) fn derive(policy: &Policy, draft: &mut Draft) {
    for id in draft.take_announced() {
        let run = draft.run(&id).filter(|run| run.status == Status::Active);
        let due = run.and_then(|run| {
            let skill = policy.skill_version(&run.skill, &run.version)?;
            Some(Change::ObligationDue { run: run.id.clone(), visit: run.visit, text: announce(skill, run) })
        });
        match due {
            Some(due) => draft.change(due),
            None => {
                let prefix = obligation_prefix(&id);
                drop_those(draft, |obligation| obligation.id.starts_with(&prefix));
            }
        }
    }
    if draft.state().session.obligations.is_empty() {
        return;
    }
    let live: Vec<String> = draft.state().live_runs().map(|run| obligation_prefix(&run.id)).collect();
    drop_those(draft, |obligation| !live.iter().any(|prefix| obligation.id.starts_with(prefix)));
}

/// Notes with which answer the obligations go out. A denied call's answer is not counted: nothing will show that it was
/// read.
pub(crate) fn give(draft: &mut Draft, event: &Event, decision: Option<&Decision>) {
    let call = match &event.kind {
        EventKind::ToolCall { id, .. } if decision.is_none_or(Decision::lets_through) => id.clone(),
        EventKind::SessionStart { .. }
        | EventKind::SubagentStart { .. }
        | EventKind::Prompt { .. }
        | EventKind::ToolResult { .. }
        | EventKind::Skill { .. } => None,
        _ => return,
    };
    if !draft.state().session.obligations.is_empty() {
        draft.change(Change::ObligationsGiven { call });
    }
}

fn drop_those(draft: &mut Draft, dropped: impl Fn(&Obligation) -> bool) {
    let owed = draft.state().session.obligations.iter();
    let ids: Vec<String> =
        owed.filter(|obligation| dropped(obligation)).map(|obligation| obligation.id.clone()).collect();
    if !ids.is_empty() {
        draft.change(Change::ObligationsDropped { ids });
    }
}

fn announce(skill: &Skill, run: &Run) -> String {
    let index = skill.phase_index(&run.phase).unwrap_or_default();
    let Some(phase) = skill.phases.get(index) else { return String::new() };
    let mode = run.mode.word();
    let mut text = format!(
        "phasegate: skill {}, phase \"{}\" ({} of {}), mode {mode}. Allowed tools: {}.",
        skill.name,
        phase.name,
        index.saturating_add(1),
        skill.phases.len(),
        bracketed(&phase.allowed),
    );
    if !phase.forbidden.is_empty() || !skill.global_forbidden.is_empty() {
        let mut forbidden = phase.forbidden.clone();
        forbidden.extend(skill.global_forbidden.iter().cloned());
        text.push_str(&format!(" Forbidden tools: {}.", bracketed(&forbidden)));
    }
    if let Some(condition) = &phase.done_when {
        text.push_str(&format!(" The phase is done when this was seen: {condition}."));
    }
    if let Some(next) = phase.next.first().and_then(|edge| skill.phases.get(edge.to)) {
        text.push_str(&format!(" Next phase: \"{}\".", next.name).to_string());
    }
    text
}
