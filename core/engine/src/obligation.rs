//! Obligations: what the host must be told, given again until a later event shows that it was taken up.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::apply::obligation_prefix;
use crate::cause::By;
use crate::change::Change;
use crate::condition::Condition;
use crate::decision::Decision;
use crate::draft::Draft;
use crate::event::{Event, EventKind};
use crate::matcher::{Matcher, Use};
use crate::phrase;
use crate::policy::{Optional, Phase, Policy, Skill, Unlisted};
use crate::run_status;
use crate::state::{Obligation, Run, Status};
use crate::tool::SKILL;

/// The most characters of what began a run.
const MAX_BEGAN_CHARS: usize = 48;

/// Drops what an event shows to have been taken up, before the event itself is answered.
pub(crate) fn taken_up(draft: &mut Draft, event: &Event) {
    let result_of = match &event.kind {
        EventKind::ToolResult { id, .. } => id.as_deref(),
        _ => None,
    };
    // The end of a batch comes after the answers to its results were read.
    let goes_on = matches!(event.kind, EventKind::ToolCall { .. } | EventKind::BatchEnd {} | EventKind::Stop { .. });
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
            let parent = run.parent.as_deref().and_then(|parent| draft.run(parent)).map(|parent| parent.skill.as_str());
            let text = announce(skill, run, parent);
            Some(Change::ObligationDue { run: run.id.clone(), visit: run.visit, text })
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
        // The invocation is a call, whose answer this is a part of.
        EventKind::Skill { by: By::Agent, .. } => {
            let call = draft.state().session.calls.last().filter(|call| call.tool == SKILL);
            call.and_then(|call| call.id.clone())
        }
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

/// Where a run stands, in short lists. What finishes the phase stands there once.
fn announce(skill: &Skill, run: &Run, parent: Option<&str>) -> String {
    let index = skill.phase_index(&run.phase).unwrap_or_default();
    let Some(phase) = skill.phases.get(index) else { return String::new() };
    let mut finishing: Vec<&str> = Vec::new();
    if let Some(condition) = &phase.done_when {
        condition.each_use(Use::Permit, &mut |test, used| {
            if used == Use::Permit {
                finishing.push(&test.matcher.text);
            }
        });
    }
    let produced = skill.produced_in(phase).flat_map(|artifact| &artifact.writes);
    finishing.extend(produced.map(|writes| writes.text.as_str()));
    let finishes = |matcher: &&Matcher| finishing.contains(&&*matcher.text);
    let others: Vec<Matcher> = phase.allowed.iter().filter(|line| !finishes(line)).cloned().collect();
    let (name, place, total) = (&phase.name, index.saturating_add(1), skill.phases.len());
    let mode = run.mode.word();
    let of = part_of(run, parent);
    let began = run.began.as_ref().filter(|_| run.visits == 1);
    let began =
        began.map(|line| format!(" began by itself (`{}`)", phrase::cut(line, MAX_BEGAN_CHARS))).unwrap_or_default();
    let mut text =
        format!("phasegate: skill {}{of}{began}, phase \"{name}\" ({place} of {total}), mode {mode}.", skill.name);
    if !phase.description.is_empty() {
        text.push_str(&format!(" {}.", phase.description.trim_end_matches('.')));
    }
    let skipped = skipped(skill, run, index);
    if !skipped.is_empty() {
        text.push_str(&format!(" Skipped: {}.", skipped.join("; ")));
    }
    if let Some(kind) = &phase.done_by {
        text.push_str(&format!(" The subagent `{kind}` does this phase; the main agent starts it and reads."));
    }
    if let Some(runs) = &phase.run {
        let names: Vec<String> = runs.each.iter().map(|run| format!("`{}`", run.skill)).collect();
        text.push_str(&format!(" The phase asks {}.", phrase::of_runs(&names, runs.parallel)));
    }
    if !others.is_empty() {
        text.push_str(&format!(" Allowed: {}.", phrase::lines(&others)));
    }
    let forbidden = run_status::forbidden(skill, phase);
    if !forbidden.is_empty() {
        text.push_str(&format!(" Forbidden: {}.", phrase::lines(&forbidden)));
    }
    if let Some(condition) = &phase.done_when {
        let alone = if others.is_empty() && skill.unlisted_in(phase).1 != Unlisted::Allow {
            "Only this is allowed, and it"
        } else {
            "This"
        };
        text.push_str(&format!(" {alone} finishes the phase: {}.", phrase::wanted(condition)));
    }
    let next = phase.next.first().and_then(|edge| skill.phases.get(edge.to));
    let approved = approved(run, phase.done_when.iter().chain(next.and_then(|next| next.requires.as_ref())));
    if !approved.is_empty() {
        text.push_str(&format!(" The user has approved {}.", approved.join(" and ")));
    }
    if let Some(next) = next {
        text.push_str(&format!(" Next phase: \"{}\".", next.name));
    }
    text
}

/// What the run is a part of.
fn part_of(run: &Run, parent: Option<&str>) -> String {
    let named = run.branch.as_ref().map(|branch| branch.name.as_str()).filter(|name| !name.is_empty());
    let named = named.map(|name| format!(", branch \"{name}\"")).unwrap_or_default();
    parent.map(|parent| format!(" (part of {parent}{named})")).unwrap_or_default()
}

/// The phases that the last move passed over, each with why it may be.
fn skipped(skill: &Skill, run: &Run, here: usize) -> Vec<String> {
    let before = skill.phase_index(&run.phase_before).unwrap_or_default();
    let between = skill.phases.get(before.saturating_add(1)..here).unwrap_or_default();
    let passed = |phase: &&Phase| run.skipped.iter().any(|skipped| skipped.phase == phase.name);
    let why = |phase: &Phase| match &phase.optional {
        Optional::When(condition) => format!("\"{}\", as {}", phase.name, phrase::reason(condition)),
        Optional::No | Optional::Yes => format!("\"{}\"", phase.name),
    };
    between.iter().filter(passed).map(why).collect()
}

/// What a person approved of what conditions ask for, as it was then.
fn approved<'c>(run: &Run, conditions: impl Iterator<Item = &'c Condition>) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for condition in conditions {
        condition.each_gate(&mut |gate| {
            let given = run.approvals.iter().any(|approval| approval.gate == *gate);
            let name = format!("`{}`", gate.name);
            if given && !names.contains(&name) {
                names.push(name);
            }
        });
    }
    names
}
