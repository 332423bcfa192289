//! What a drawing shows: the phases of a skill, the ways between them, and where a run stands.

use phasegate_core::policy::{Back, Edge, Optional, Phase, Skill};
use serde_json::Value;

use super::children::{Group, group};
use super::words::{State, note, shortened};
use crate::command::runs::live::found::{list, text};

/// The most characters of a condition beside a way.
const MAX_WAY_CHARS: usize = 56;
/// A skill to draw.
pub(super) struct Graph {
    pub(super) name: String,
    pub(super) phases: Vec<Node>,
    pub(super) ways: Vec<Way>,
}

/// A phase.
pub(super) struct Node {
    pub(super) name: String,
    /// What is said of it, a line each.
    pub(super) notes: Vec<String>,
    pub(super) optional: bool,
    pub(super) state: State,
    pub(super) group: Option<Group>,
}

/// A way between two phases.
pub(super) struct Way {
    pub(super) from: usize,
    pub(super) to: usize,
    /// When it can be taken; empty: whenever the phase is done.
    pub(super) label: String,
    /// Whether it leads back.
    pub(super) back: bool,
}

impl Graph {
    /// The graph of a skill; of a run, with where it stands and the runs that are part of it.
    pub(super) fn of(skill: &Skill, run: Option<&Value>, parts: &[Value]) -> Self {
        let word = |name: &str| {
            let mut way = run.into_iter().flat_map(|run| list(run, "way"));
            way.find(|one| text(one, "phase") == name).map_or("", |one| text(one, "state")).to_string()
        };
        let boxed = |phase: &Phase| {
            let state = State::of(&word(&phase.name));
            let here = run.filter(|_| state == State::Current);
            Node {
                name: phase.name.clone(),
                notes: notes(skill, phase),
                optional: phase.optional.is_possible(),
                state,
                group: group(skill, phase, here, parts),
            }
        };
        let each = skill.phases.iter().enumerate();
        let ways = each.flat_map(|(at, phase)| {
            let forward = phase.next.iter().map(move |edge| way(at, edge));
            forward.chain(phase.back.iter().map(move |back| way_back(at, back)))
        });
        Self { name: skill.name.clone(), phases: skill.phases.iter().map(boxed).collect(), ways: ways.collect() }
    }
}

fn notes(skill: &Skill, phase: &Phase) -> Vec<String> {
    let mut notes = Vec::new();
    match &phase.optional {
        Optional::No => {}
        Optional::Never => notes.push("never skipped".to_string()),
        Optional::Yes => notes.push("optional".to_string()),
        Optional::When(condition) => notes.push(format!("optional while {}", note(&condition.reason()))),
    }
    notes.extend(phase.done_by.as_ref().map(|kind| format!("by subagent {kind}")));
    let produced: Vec<&str> = skill.produced_in(phase).map(|artifact| artifact.name.as_str()).collect();
    if !produced.is_empty() {
        notes.push(format!("makes {}", produced.join(", ")));
    }
    if phase.run.is_none() {
        notes.extend(
            phase
                .done_when
                .as_ref()
                .filter(|_| produced.is_empty())
                .map(|condition| format!("needs {}", note(&condition.wanted()))),
        );
    }
    notes
}

fn way(from: usize, edge: &Edge) -> Way {
    let when = edge.when.as_ref().map(|condition| format!("when {}", shortened(&condition.reason(), MAX_WAY_CHARS)));
    let early = edge.early.then(|| "early".to_string());
    let label = early.into_iter().chain(when).collect::<Vec<_>>().join(", ");
    Way { from, to: edge.to, label, back: edge.to <= from }
}

fn way_back(from: usize, back: &Back) -> Way {
    let times = match back.limit {
        u32::MAX => None,
        1 => Some("once".to_string()),
        limit => Some(format!("at most {limit} times")),
    };
    let failure = back.on_failure.then(|| "on failure".to_string());
    let when = back.when.as_ref().map(|condition| format!("when {}", shortened(&condition.reason(), MAX_WAY_CHARS)));
    let label = failure.into_iter().chain(times).chain(when).collect::<Vec<_>>().join(", ");
    Way { from, to: back.to, label, back: true }
}
