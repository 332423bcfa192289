//! Importing the state of another system: a run that stands where that one stood (seed 001, its state file).

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::activation::available;
use crate::cause::By;
use crate::children::next_id;
use crate::denial::{DenialKind, InvalidCommand};
use crate::draft::Draft;
use crate::policy::{Mode, Policy, Skill};
use crate::state::{Evidence, Run, Skipped};

/// The name of the format: a file `active_task_graph.json`.
pub const TASK_GRAPH: &str = "active_task_graph";

/// What of such a file says where a run stands. Its other fields are not imported.
#[derive(Deserialize)]
struct TaskGraph {
    current_phase: String,
    /// The path of the document that a phase made, by the name of the phase.
    #[serde(default)]
    phase_artifacts: BTreeMap<String, Option<String>>,
    #[serde(default)]
    skipped_phases: Vec<String>,
}

/// Begins a run in the phase that the state names, of the only skill that has it.
///
/// Files of a phase that made a document count as new for it; whether they are there is looked at when it is asked.
///
/// # Errors
///
/// `command-invalid`: the format is unknown, the state is no such file, a run is live, or not exactly one skill has the
/// phase.
pub(crate) fn import(policy: &Policy, draft: &mut Draft, format: &str, value: &Value) -> Result<Value, DenialKind> {
    let invalid = |why: String| DenialKind::CommandInvalid(InvalidCommand::StateNotImported { why });
    if format != TASK_GRAPH {
        return Err(invalid(format!("`{format}` is no known format; there is `{TASK_GRAPH}`")));
    }
    let graph = TaskGraph::deserialize(value).map_err(|error| invalid(error.to_string()))?;
    if let Some(run) = draft.state().live_runs().next() {
        return Err(DenialKind::SkillActive { skill: run.skill.clone() });
    }
    let mut skills = policy.skills.iter().filter(|skill| skill.phase_index(&graph.current_phase).is_some());
    let (Some(skill), None) = (skills.next(), skills.next()) else {
        let known = available(policy).join(", ");
        let phase = &graph.current_phase;
        return Err(invalid(format!("not exactly one of the skills [{known}] has a phase `{phase}`")));
    };
    let id = next_id(draft.state(), skill.scope);
    let mode = skill.mode.unwrap_or(Mode::Warn);
    draft.announce(&id);
    draft.begin(standing(skill, Run::begun(skill, id, mode, By::Human), &graph));
    Ok(json!({"status": "imported", "skill": skill.name, "current_phase": graph.current_phase}))
}

/// The run where the state says that it stands: each phase up to the current one had a visit.
fn standing(skill: &Skill, run: Run, graph: &TaskGraph) -> Run {
    let here = skill.phase_index(&graph.current_phase).unwrap_or_default();
    let visits: Vec<(usize, u32)> = (0..=here).zip(1..).collect();
    let made = |name: &str| graph.phase_artifacts.get(name).is_some_and(Option::is_some);
    let mut evidence = Vec::new();
    for (index, visit) in &visits {
        let phase = skill.phases.get(*index).filter(|phase| made(&phase.name));
        let produced = phase.into_iter().flat_map(|phase| skill.produced_in(phase));
        evidence.extend(produced.filter_map(|artifact| artifact.content.since).map(|atom| Evidence {
            phase: *index,
            visit: *visit,
            atom,
            as_of: Some(Value::Object(Map::new())),
            about: Vec::new(),
        }));
    }
    let skipped = graph.skipped_phases.iter().filter(|name| skill.phase_index(name).is_some());
    let visit = visits.last().map_or(1, |(_, visit)| *visit);
    Run {
        phase: graph.current_phase.clone(),
        phase_before: graph.current_phase.clone(),
        visit,
        visits: visit,
        kept: visits,
        evidence,
        skipped: skipped.map(|name| Skipped { phase: name.clone(), by: By::Human }).collect(),
        ..run
    }
}
