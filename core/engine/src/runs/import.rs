//! Importing the state of another system: a run that stands where that one stood (seed 001, its state file).

use alloc::collections::BTreeMap;

use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::answers::denial::{BegunBy, DenialKind, InvalidCommand};
use crate::calls::cause::By;
use crate::evidence::artifact::Artifact;
use crate::policy::plan::{PlanFile, PlanProgress};
use crate::policy::{Mode, Optional, Phase, Policy, Skill};
use crate::prelude::*;
use crate::runs::activation::available;
use crate::runs::children::next_id;
use crate::runs::tree;
use crate::state::draft::Draft;
use crate::state::{Children, Evidence, Run, Skipped};
use crate::values::glob::path_fits;

/// The name of the format: a file `active_task_graph.json`.
pub const TASK_GRAPH: &str = "active_task_graph";

/// What of such a file says where a run stands. Its other fields are kept as they are.
#[derive(Deserialize)]
struct TaskGraph {
    current_phase: String,
    /// The path of the document that a phase made, by the name of the phase.
    #[serde(default)]
    phase_artifacts: BTreeMap<String, Option<String>>,
    #[serde(default)]
    skipped_phases: Vec<String>,
    /// The number of the wave.
    #[serde(default)]
    current_wave: u64,
    #[serde(default)]
    tasks: Vec<Task>,
    /// By the number of a wave.
    #[serde(default)]
    wave_gates: BTreeMap<String, WaveGate>,
}

/// What was found at the gate of a wave.
#[derive(Deserialize)]
struct WaveGate {
    #[serde(default)]
    reviews_complete: bool,
}

/// A task of such a file.
#[derive(Deserialize)]
struct Task {
    id: String,
    #[serde(default)]
    wave: u64,
    #[serde(default)]
    status: String,
    #[serde(default)]
    depends_on: Vec<String>,
    #[serde(default)]
    tests_passed: Option<bool>,
    #[serde(default)]
    review_status: Option<String>,
    #[serde(default)]
    critical_findings: Vec<Value>,
}

impl Task {
    /// Whether it is not to be done again: what was found out about it does not say that it has to be mended.
    fn is_finished(&self) -> bool {
        let reviewed = self.review_status.as_deref().is_none_or(|status| status == PASSED);
        let mended = self.tests_passed != Some(false) && reviewed && self.critical_findings.is_empty();
        self.status == CANCELLED || (FINISHED.contains(&self.status.as_str()) && mended)
    }
}

/// How deep a state may nest: a record that holds it is still read back.
const DEPTH: usize = 64;
/// The states of a task that is not to be done again.
const FINISHED: [&str; 2] = ["implemented", "completed"];
/// The state of a review that found nothing to mend.
const PASSED: &str = "passed";
/// What stands for the document of a phase that made none.
const COMPLETED: &str = "completed";
/// The state of a task that is not to be done.
const CANCELLED: &str = "cancelled";

/// A state to import, and how.
#[derive(Clone, Copy)]
pub(crate) struct Imported<'a> {
    /// The name of its format.
    pub(crate) format: &'a str,
    pub(crate) value: &'a Value,
    /// The path of its file, where known.
    pub(crate) path: Option<&'a str>,
    /// The mode that is asked for.
    pub(crate) mode: Option<Mode>,
}

fn invalid(why: String) -> DenialKind {
    DenialKind::CommandInvalid(InvalidCommand::StateNotImported { why })
}

/// Begins a run in the phase that the state names, of the only skill that has it.
///
/// # Errors
///
/// As for [`begin`]; a run is live, or not exactly one skill has the phase.
pub(crate) fn import(policy: &Policy, draft: &mut Draft, imported: Imported<'_>) -> Result<Value, DenialKind> {
    let graph = read(imported)?;
    if let Some(run) = tree::roots(draft.state()).next() {
        return Err(DenialKind::SkillActive { skill: run.skill.clone(), by: BegunBy::Person });
    }
    let mut skills = policy.skills.iter().filter(|skill| skill.phase_index(&graph.current_phase).is_some());
    let (Some(skill), None) = (skills.next(), skills.next()) else {
        let known = available(policy).join(", ");
        let phase = &graph.current_phase;
        return Err(invalid(format!("not exactly one of the skills [{known}] has a phase `{phase}`")));
    };
    begin(draft, skill, imported)
}

fn read(imported: Imported<'_>) -> Result<TaskGraph, DenialKind> {
    let Imported { format, value, .. } = imported;
    if format != TASK_GRAPH {
        return Err(invalid(format!("`{format}` is no known format; there is `{TASK_GRAPH}`")));
    }
    if is_deeper(value, DEPTH) {
        return Err(invalid(format!("it nests deeper than {DEPTH} levels")));
    }
    TaskGraph::deserialize(value).map_err(|error| invalid(error.to_string()))
}

/// Whether a value nests deeper than so many levels.
fn is_deeper(value: &Value, levels: usize) -> bool {
    let Some(below) = levels.checked_sub(1) else { return true };
    match value {
        Value::Array(items) => items.iter().any(|item| is_deeper(item, below)),
        Value::Object(fields) => fields.values().any(|field| is_deeper(field, below)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// Begins a run of a skill in the phase that the state names.
///
/// Files of a phase that made a document count as new for it; whether they are there is looked at when it is asked.
///
/// # Errors
///
/// `command-invalid`: the format is unknown, the state is no such file, or the skill does not have the phase.
pub(crate) fn begin(draft: &mut Draft, skill: &Skill, imported: Imported<'_>) -> Result<Value, DenialKind> {
    let graph = read(imported)?;
    if skill.phase_index(&graph.current_phase).is_none() {
        return Err(invalid(format!("the skill `{}` has no phase `{}`", skill.name, graph.current_phase)));
    }
    possible(skill, &graph).map_err(invalid)?;
    let plan = plan(skill, &graph, imported.path.unwrap_or(TASK_GRAPH)).map_err(invalid)?;
    let id = next_id(draft.state(), skill.scope);
    let mode = imported.mode.max(skill.mode).unwrap_or(Mode::Warn);
    draft.announce(&id);
    let children = if plan.is_some() && waits(&graph) { Children::Gate } else { Children::None };
    let imported = Some(imported.value.clone());
    draft.begin(Run { plan, children, imported, ..standing(skill, Run::begun(skill, id, mode, By::Human), &graph) });
    Ok(json!({
        "status": "imported", "skill": skill.name, "mode": mode.word(), "current_phase": graph.current_phase,
    }))
}

/// Whether a run of the skill can stand so: nothing is skipped that nobody skips, and what a phase made lies where its
/// files belong.
fn possible(skill: &Skill, graph: &TaskGraph) -> Result<(), String> {
    let named = |name: &String| skill.phase_index(name).and_then(|index| skill.phases.get(index));
    let never = |name: &&String| named(name).is_some_and(|phase| phase.optional == Optional::Never);
    if let Some(phase) = graph.skipped_phases.iter().find(never) {
        return Err(format!("`skipped_phases` has `{phase}`, which nobody skips"));
    }
    if named(&graph.current_phase).and_then(Phase::plan).is_some() && graph.tasks.is_empty() {
        return Err(format!("`{}` works on tasks, and there are none", graph.current_phase));
    }
    for (phase, path) in &graph.phase_artifacts {
        let Some(path) = path.as_deref().filter(|path| *path != COMPLETED) else { continue };
        let artifact = named(phase).and_then(|phase| skill.made_in(phase));
        let lies_there = |artifact: &Artifact| artifact.paths.iter().any(|pattern| path_fits(pattern, path));
        if path.split('/').any(|part| part == "..") || artifact.is_some_and(|artifact| !lies_there(artifact)) {
            return Err(format!("Invalid artifact path `{path}` of `{phase}`"));
        }
    }
    Ok(())
}

/// Whether the gate of the wave before the present one is not passed.
fn waits(graph: &TaskGraph) -> bool {
    let before = graph.current_wave.saturating_sub(1);
    before > 0 && !graph.wave_gates.get(&before.to_string()).is_some_and(|gate| gate.reviews_complete)
}

/// How far the run has come with the tasks, where its phase runs them and there are any.
fn plan(skill: &Skill, graph: &TaskGraph, path: &str) -> Result<Option<PlanProgress>, String> {
    let phase = skill.phase_index(&graph.current_phase).and_then(|index| skill.phases.get(index));
    let Some(file) = phase.and_then(Phase::plan).filter(|_| !graph.tasks.is_empty()) else { return Ok(None) };
    let fields =
        PlanFile { id: "id".into(), after: Some("after".into()), barrier: Some("wave".into()), ..file.clone() };
    let element = |task: &Task| {
        let mut element = json!({"id": task.id, "wave": task.wave, "after": task.depends_on});
        let id = [(file.id.clone(), json!(task.id))];
        element.as_object_mut().into_iter().for_each(|fields| fields.extend(id.clone()));
        element
    };
    let listed = Value::from(graph.tasks.iter().map(element).collect::<Vec<_>>());
    let files = Map::from_iter([(path.to_string(), Value::Null)]);
    let plan = fields.read(&files, &json!({path: listed})).map_err(|fault| fault.to_string())?;
    let finished =
        graph.tasks.iter().enumerate().filter(|(_, task)| task.is_finished()).map(|(place, _)| place).collect();
    let wave = plan.waves.iter().position(|wave| *wave >= graph.current_wave).unwrap_or_default();
    let cancelled = graph.tasks.iter().enumerate().filter(|(_, task)| task.status == CANCELLED);
    let skipped = cancelled.map(|(place, _)| place).collect();
    let mut progress = PlanProgress { wave, finished, skipped, ..PlanProgress::new(plan) };
    if waits(graph) {
        progress.wave = progress.wave.saturating_sub(1);
    }
    Ok(Some(progress))
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
        skipped: skipped.map(|name| Skipped { phase: name.clone(), by: By::Human, who: None, ahead: None }).collect(),
        ..run
    }
}
