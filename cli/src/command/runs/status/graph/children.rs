//! The runs that a phase consists of: as the skill says, or as a run has them.

use std::collections::BTreeMap;

use phasegate_core::policy::{ChildRun, Phase, Skill};
use serde_json::Value;

use super::words::{State, note};
use crate::command::runs::live::found::{list, text};

/// The runs that a phase consists of, in rows: those of a row go on at once, or each after the one before.
pub(super) struct Group {
    pub(super) rows: Vec<Row>,
    /// What passes the gate of each wave; empty: there is none.
    pub(super) gate: String,
}

/// Runs beside each other.
pub(super) struct Row {
    /// What the row is; empty: nothing need be said.
    pub(super) label: String,
    /// Whether each begins when the one before has ended.
    pub(super) in_order: bool,
    pub(super) parts: Vec<Part>,
}

/// One of the runs.
pub(super) struct Part {
    pub(super) name: String,
    /// What is said of it, a line each.
    pub(super) notes: Vec<String>,
    pub(super) state: State,
}

/// The runs of a phase; where a run stands in it, with how far they are.
pub(super) fn group(skill: &Skill, phase: &Phase, run: Option<&Value>, live: &[Value]) -> Option<Group> {
    let runs = phase.run.as_ref()?;
    let asks = phase.done_when.as_ref().filter(|_| runs.gate);
    let gate = asks.map(|condition| note(&condition.wanted())).unwrap_or_default();
    if let Some(plan) = run.and_then(|run| run.get("plan")) {
        return Some(Group { rows: waves(plan), gate });
    }
    let part = |child: &ChildRun| part(skill, child, live);
    let parts: Vec<Part> = runs.each.iter().map(part).collect();
    let label = match &runs.plan {
        Some(plan) if plan.barrier.is_some() => format!("for each of {}, in waves", plan.artifact),
        Some(plan) => format!("for each of {}", plan.artifact),
        None if runs.parallel => "at once".to_string(),
        None if parts.len() > 1 => "in order".to_string(),
        None => String::new(),
    };
    let in_order = !runs.parallel && runs.plan.is_none();
    Some(Group { rows: vec![Row { label, in_order, parts }], gate })
}

fn part(skill: &Skill, child: &ChildRun, live: &[Value]) -> Part {
    let own = |run: &&Value| text(run, "skill_name") == child.skill && text(run, "branch") == child.branch;
    let live = live.iter().find(own);
    let phases: Vec<&str> = skill
        .children
        .iter()
        .filter(|one| one.name == child.skill)
        .flat_map(|one| &one.phases)
        .map(|phase| phase.name.as_str())
        .collect();
    let mut notes = Vec::new();
    if !child.branch.is_empty() {
        notes.push(child.skill.clone());
    }
    notes.push(match live {
        Some(run) => format!("in phase {}", text(run, "current_phase")),
        None => note(&phases.join(" \u{2192} ")),
    });
    if child.may_fail {
        notes.push("may fail".to_string());
    }
    let name = if child.branch.is_empty() { child.skill.clone() } else { child.branch.clone() };
    Part { name, notes, state: if live.is_some() { State::Current } else { State::Ahead } }
}

/// The elements of a plan, a row for each wave.
fn waves(plan: &Value) -> Vec<Row> {
    let mut waves: BTreeMap<u64, Vec<Part>> = BTreeMap::new();
    for element in list(plan, "elements") {
        let after: Vec<&str> = list(element, "after").filter_map(Value::as_str).collect();
        let phase = Some(text(element, "phase")).filter(|phase| !phase.is_empty());
        let state = text(element, "state");
        let mut notes = vec![match phase {
            Some(phase) => format!("{state}, {phase}"),
            None => state.to_string(),
        }];
        if !after.is_empty() {
            notes.push(format!("after {}", after.join(", ")));
        }
        let part = Part { name: text(element, "id").to_string(), notes, state: State::of(state) };
        waves.entry(element.get("wave").and_then(Value::as_u64).unwrap_or_default()).or_default().push(part);
    }
    let several = waves.len() > 1;
    let row = |(number, parts)| Row {
        label: if several { format!("wave {number}") } else { String::new() },
        in_order: false,
        parts,
    };
    waves.into_iter().map(row).collect()
}
