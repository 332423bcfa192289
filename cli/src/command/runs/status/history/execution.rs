//! Where a run stands as `SkillExecutionState`, the state file of another system (seed 003).

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use phasegate_core::policy::{Phase, Scope, Skill};
use phasegate_core::state::{Run, Status};
use phasegate_core::{FactKey, Facts, Policy, Record, files_made};
use phasegate_runtime::facts::{World, gather};
use phasegate_runtime::operate::audit::history::walk;
use phasegate_runtime::operate::audit::project_moves::{Move, project_moves};
use phasegate_runtime::timestamp::timestamp;
use serde_json::{Map, Value, json};

use crate::command::runs::live::roots::{Root, Roots};
use crate::output::Failure;

/// The most characters of an id of a run's session.
const ID_CHARS: usize = 8;
/// The input that names the task.
const TASK: &str = "task_id";

/// When a run was where, as the journal has it.
#[derive(Default)]
struct Times {
    began: Option<i64>,
    updated: Option<i64>,
    /// The phases, each with when it was entered and left last.
    phases: BTreeMap<String, (Option<i64>, Option<i64>)>,
    /// The names of the phases in the order in which they were entered.
    way: Vec<String>,
}

/// The state of a root run.
///
/// # Errors
///
/// The journal of its session, or of the project, cannot be read.
pub(crate) fn state(found: &Roots, root: Root<'_>) -> Result<Value, Failure> {
    let run = root.run;
    let skill = found.skill(run);
    let times = times(found, root)?;
    let status = status(root, &times);
    let outputs = skill.as_ref().map(|skill| outputs(found, root, skill)).unwrap_or_default();
    // What a composite skill makes itself is its product.
    let of_phases = || outputs.iter().filter(|(of, _)| outputs.len() == 1 || **of != run.skill);
    let files: Vec<&Value> =
        of_phases().filter_map(|(_, all)| all.as_array()).flatten().filter_map(|one| one.get("files")).collect();
    let mut memory: Vec<&str> =
        files.iter().filter_map(|files| files.as_array()).flatten().filter_map(Value::as_str).collect();
    memory.sort_unstable();
    memory.dedup();
    let values = skill.as_ref().map(Skill::values).unwrap_or_default();
    let halt = halt(found, root, status);
    let time = |at: Option<i64>| at.map(timestamp);
    let stamp =
        |(began, ended): &(Option<i64>, Option<i64>)| json!({"started_at": time(*began), "completed_at": time(*ended)});
    let stamps: Map<String, Value> = times.phases.iter().map(|(phase, at)| (phase.clone(), stamp(at))).collect();
    Ok(json!({
        "schema_version": "1.0",
        "skill_name": run.skill,
        "task_id": values.get(TASK),
        "session_id": root.session.id.chars().filter(char::is_ascii_alphanumeric).take(ID_CHARS).collect::<String>(),
        "execution_session_id": root.session.id,
        "created_at": time(times.began),
        "updated_at": time(times.updated),
        "status": status,
        "halt_reason": halt.as_ref().map(|halt| halt.why.as_str()),
        "fsm": fsm(root, skill.as_ref(), &times, &Now { status, halt: halt.as_ref() }),
        "phase_outputs": outputs,
        "phase_timestamps": stamps,
        "memory_files": memory,
        "configuration": {"mode": run.mode.word(), "inputs": values},
        "metadata": {
            "run": run.id, "version": run.version,
            "halt": halt.as_ref().map(|halt| halt.kind),
            "ways_on": halt.as_ref().map(|halt| halt.ways_on.as_str()),
        },
    }))
}

/// `initialized`, `executing`, `halted` or `completed`.
fn status(root: Root<'_>, times: &Times) -> &'static str {
    let run = root.run;
    match run.status {
        Status::Finished => "completed",
        Status::Left | Status::Failed => "halted",
        Status::Active if run.stands_still() => "halted",
        Status::Active if times.way.len() < 2 && is_fresh(run) && root.parts(run).all(is_fresh) => "initialized",
        Status::Active => "executing",
    }
}

/// Whether nothing has been done in a run, and nobody was started for it. What its artifacts were when it began is no deed.
fn is_fresh(run: &Run) -> bool {
    let untouched = run.evidence.iter().all(|one| one.as_of.is_some());
    run.status == Status::Active && untouched && run.branch.as_ref().is_none_or(|at| at.agent.is_none())
}

/// Why a run does not go on, and what a person can do.
struct Halt {
    /// `halted`: by a person or the agent. `stopped`: it stands still by itself. `ended` and `failed`: it is over.
    kind: &'static str,
    why: String,
    ways_on: String,
}

fn halt(found: &Roots, root: Root<'_>, status: &str) -> Option<Halt> {
    if status != "halted" {
        return None;
    }
    let run = root.run;
    let values = found.skill(run).map(|skill| skill.values()).unwrap_or_default();
    let values: String = values.iter().map(|(name, value)| format!(" {name}={value}")).collect();
    let over = |kind: &'static str, why: &str| Halt {
        kind,
        why: why.to_owned(),
        ways_on: format!("the run is over: `phasegate start {}{values}` begins another one", run.skill),
    };
    Some(match run.status {
        Status::Failed => over("failed", "it failed"),
        Status::Left | Status::Finished => over("ended", "it was ended before it was done"),
        Status::Active => {
            let answer = found.answer(root);
            let said = |key: &str| answer.as_ref()?.get(key)?.as_str().map(ToOwned::to_owned);
            Halt {
                kind: if run.halted.is_some() { "halted" } else { "stopped" },
                why: said("stopped").unwrap_or_default(),
                ways_on: said("ways_on").unwrap_or_default(),
            }
        }
    })
}

/// Where a run is now.
struct Now<'a> {
    status: &'a str,
    halt: Option<&'a Halt>,
}

/// The way of a run in the words of the other system: `PHASE_0_5`, `SKIPPED_1`, `HALTED: why`.
fn history(run: &Run, phases: &[Phase], times: &Times, now: &Now<'_>) -> Vec<String> {
    let named = |word: &str, phase: &str| {
        format!("{word}_{}", phase.strip_prefix("phase-").unwrap_or(phase).replace(['-', '.'], "_"))
    };
    let place = |name: &str| phases.iter().position(|phase| phase.name == name);
    let is_skipped = |name: &str| run.skipped.iter().any(|one| one.phase == name);
    let mut history = vec!["INITIALIZED".to_owned()];
    let mut after = None;
    for phase in &times.way {
        let between = after.zip(place(phase)).and_then(|(after, here)| phases.get(after..here)).unwrap_or_default();
        let passed = between.iter().map(|phase| phase.name.as_str()).filter(|name| is_skipped(name));
        history.extend(passed.map(|name| named("SKIPPED", name)));
        history.push(named("PHASE", phase));
        after = place(phase);
    }
    history.extend(match (now.status, now.halt) {
        ("completed", _) => Some("COMPLETED".to_owned()),
        ("halted", halt) => Some(halt.map_or_else(|| "HALTED".to_owned(), |halt| format!("HALTED: {}", halt.why))),
        _ => None,
    });
    history
}

fn fsm(root: Root<'_>, skill: Option<&Skill>, times: &Times, now: &Now<'_>) -> Value {
    let (run, status) = (root.run, now.status);
    let phases = skill.map(|skill| skill.phases.as_slice()).unwrap_or_default();
    let history = history(run, phases, times, now);
    let state_of = |phase: &Phase| {
        let is_skipped = run.skipped.iter().any(|one| one.phase == phase.name && one.ahead.is_none());
        let before = phases.iter().take_while(|one| one.name != phase.name).map(|one| one.name.as_str());
        match () {
            () if run.phase == phase.name && status != "completed" => match run.status {
                Status::Active => "in_progress",
                Status::Failed => "failed",
                Status::Left | Status::Finished => "left",
            },
            () if is_skipped || run.is_to_skip(&phase.name) => "skipped",
            () if times.is_left(&phase.name) && !times.is_back_before(&phase.name, before) => "completed",
            () if status == "completed" => "skipped",
            () => "pending",
        }
    };
    let told = |phase: &Phase| json!({"status": state_of(phase), "description": phase.task});
    let info = phases.iter().map(|phase| (phase.name.clone(), told(phase)));
    let completed: Vec<&str> =
        phases.iter().filter(|phase| state_of(phase) == "completed").map(|phase| phase.name.as_str()).collect();
    let skipped: Vec<&str> =
        phases.iter().filter(|phase| state_of(phase) == "skipped").map(|phase| phase.name.as_str()).collect();
    let backs = run.backs.iter().map(|(from, to, times)| (format!("{from} -> {to}"), json!(times)));
    let branches = root.parts(run).filter_map(|part| {
        let at = part.branch.as_ref().filter(|at| at.visit == run.visit && !at.name.is_empty())?;
        Some((at.name.clone(), json!(part.progress())))
    });
    json!({
        "skill_name": run.skill,
        "state": status.to_uppercase(),
        "current_phase_id": run.phase,
        "history": history,
        "phase_info": Value::Object(info.collect()),
        "completed_phases": completed,
        "iteration_counters": Value::Object(backs.collect()),
        "skipped_phases": skipped,
        "parallel_branches": Value::Object(branches.collect()),
    })
}

/// What each phase left: the runs that it consisted of, each with the files of its artifacts that are there.
fn outputs(found: &Roots, root: Root<'_>, skill: &Skill) -> Map<String, Value> {
    let mut outputs: Map<String, Value> = Map::new();
    for part in root.parts(root.run) {
        let Some(phase) = root.run.phase_of(skill, part) else { continue };
        // A part is stored with the skill that it is a part of.
        // It is stored by itself where its place gives it values.
        let own = skill.child(&part.skill, &part.version).cloned().or_else(|| found.skill(part));
        let made = own.map(|own| files(found, &own, part)).unwrap_or_default();
        let output = json!({"skill": part.skill, "status": part.progress(), "files": made});
        let of_phase = outputs.entry(phase.to_owned()).or_insert_with(|| json!([]));
        if let Some(list) = of_phase.as_array_mut() {
            list.push(output);
        }
    }
    let own = files(found, skill, root.run);
    if !own.is_empty() {
        outputs.insert(root.run.skill.clone(), json!([{"files": own}]));
    }
    outputs
}

/// The files of a skill's artifacts that a run made, or that are there where none of its phases makes them.
fn files(found: &Roots, skill: &Skill, run: &Run) -> Vec<String> {
    let (policy, mut facts) = (Policy::default(), Facts::new());
    let world = World::of(&found.project, &policy);
    let keys: Vec<FactKey> = skill.artifacts.iter().map(|artifact| artifact.content.fact.clone()).collect();
    gather(world, &keys, &mut facts);
    let made = skill.artifacts.iter().map(|artifact| files_made(artifact, run, &facts));
    let paths = made.filter_map(|files| files.as_array().cloned()).flatten();
    paths.filter_map(|path| path.as_str().map(ToOwned::to_owned)).collect()
}

fn times(found: &Roots, root: Root<'_>) -> Result<Times, Failure> {
    let id = &root.run.id;
    let mut times = Times::default();
    if root.run.scope == Scope::Project {
        let moves = project_moves(&found.project)?;
        moves.iter().filter(|one| one.run == *id).for_each(|one| times.note(one));
        return Ok(times);
    }
    walk(&found.runtime.policies, &found.project, &root.session.id, |past| {
        for record in past.records {
            let (run, left, entered) = match record {
                Record::ActivateSkill { run, phase, .. } => (run, None, Some(phase)),
                Record::PhaseAdvance { run, from, phase, .. } => (run, Some(from), Some(phase)),
                Record::DeactivateSkill { run, phase, .. } => (run, Some(phase), None),
                _ => continue,
            };
            if run == *id {
                times.note(&Move { time: past.time, run, left, entered });
            }
        }
        ControlFlow::Continue(())
    })?;
    Ok(times)
}

impl Times {
    fn is_left(&self, phase: &str) -> bool {
        self.phases.get(phase).is_some_and(|(_, left)| left.is_some())
    }

    /// Whether the run went back from a phase, to one before it, and has not come to it again.
    fn is_back_before<'p>(&self, phase: &str, mut before: impl Iterator<Item = &'p str>) -> bool {
        let last = |name: &str| self.way.iter().rposition(|entered| entered == name);
        last(phase).is_some_and(|at| before.any(|name| last(name).is_some_and(|other| other > at)))
    }

    fn note(&mut self, one: &Move) {
        let time = Some(one.time);
        match &one.left {
            Some(phase) => self.phases.entry(phase.clone()).or_default().1 = time,
            None => self.began = time,
        }
        if let Some(phase) = &one.entered {
            self.way.push(phase.clone());
            self.phases.insert(phase.clone(), (time, None));
        }
        self.updated = time;
    }
}
