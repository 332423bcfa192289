//! `phasegate status export`: where a run stands, as the state file of another system (seed 001).

use std::collections::BTreeSet;
use std::time::SystemTime;

use phasegate_core::evidence::condition::{Condition, Wanted};
use phasegate_core::policy::plan::PlanFile;
use phasegate_core::policy::{Phase, Skill};
use phasegate_core::state::{Runs, Status};
use phasegate_runtime::timestamp;
use serde_json::{Map, Value, json};

use crate::command::runs::live::found::{Fits, found, list, text};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// Prints the state. What only the other system knows is taken from the state that was imported, and of a task from the
/// file that lists the tasks.
///
/// # Errors
///
/// No such run is live, or the state cannot be read.
pub(super) fn run(run: Option<&String>, context: &Context) -> Result<Exit, Failure> {
    let found = found(context, None)?;
    let is_root = |run: &Value| text(run, "scope") == "project" && run.get("part_of").is_none();
    let run = found.run(run, &Fits { test: &is_root, none: "no run of the project is live" })?;
    let skill = found.skill_of(run)?;
    let runs = found.runtime.project_state(&found.project)?.project.runs;
    let listed = Listed::of(&skill, run, &runs, &|path: &str| {
        let text = std::fs::read_to_string(found.project.root.join(path)).ok()?;
        serde_json::from_str(&text).ok()
    });
    context.out.value(&graph(&skill, run, &listed));
    Ok(Exit::Done)
}

/// The tasks as they are listed, and what is known besides.
struct Listed<'s> {
    skill: &'s Skill,
    /// The phase that does them, and how their fields are named.
    phase: Option<&'s Phase>,
    /// The file that lists them; where it is gone, the state that was imported.
    file: Value,
    /// The state that was imported.
    imported: Value,
    /// The tasks whose run came to its end by what the guard saw.
    seen: BTreeSet<String>,
}

impl<'s> Listed<'s> {
    fn of(skill: &'s Skill, run: &Value, runs: &Runs, read: &dyn Fn(&str) -> Option<Value>) -> Self {
        let phase = skill.phases.iter().find(|phase| phase.plan().is_some());
        let artifact = phase.and_then(Phase::plan).map(|plan| plan.artifact.as_str());
        let made = artifact.and_then(|artifact| first_file(run, artifact));
        let path = run.get("plan").map(|plan| text(plan, "path").to_string()).or(made);
        let (id, mut seen) = (text(run, "run"), BTreeSet::new());
        for part in runs.iter().filter(|part| part.parent.as_deref() == Some(id)) {
            let Some(branch) = &part.branch else { continue };
            // Of several runs of a task the last one counts; what nobody called done was seen.
            seen.remove(&branch.name);
            seen.extend((part.status == Status::Finished && part.said_done.is_empty()).then(|| branch.name.clone()));
        }
        let imported = runs.iter().find(|one| one.id == id).and_then(|run| run.imported.clone()).unwrap_or_default();
        let file = path.and_then(|path| read(&path)).unwrap_or_else(|| imported.clone());
        Self { skill, phase, file, imported, seen }
    }

    /// What the other system knows alone.
    fn kept(&self, key: &str) -> Option<Value> {
        [&self.imported, &self.file]
            .into_iter()
            .filter_map(|from| from.get(key))
            .find(|value| !value.is_null())
            .cloned()
    }

    /// Whether the guard saw the tests of a finished task pass.
    fn tested(&self, id: &str) -> bool {
        self.seen.contains(id) && self.asks_for_tests()
    }

    /// Whether what does a task asks for tests that passed.
    fn asks_for_tests(&self) -> bool {
        let runs = self.phase.and_then(|phase| phase.run.as_ref()).into_iter().flat_map(|runs| &runs.each);
        let mut skills = runs.filter_map(|run| self.skill.children.iter().find(|child| child.name == run.skill));
        skills.any(|child| child.phases.iter().filter_map(|phase| phase.done_when.as_ref()).any(asks_for_tests))
    }

    fn plan(&self) -> Option<&'s PlanFile> {
        self.phase.and_then(Phase::plan)
    }

    /// The tasks of the file.
    fn tasks(&self) -> &[Value] {
        let tasks = self.file.get("tasks").unwrap_or(&self.file).as_array();
        tasks.map(Vec::as_slice).unwrap_or_default()
    }

    /// What the file says of a task.
    fn task(&self, id: &str) -> Option<&Map<String, Value>> {
        let name = self.plan().map_or("id", |plan| plan.id.as_str());
        let is_it = |task: &&Value| text(task, name) == id || text(task, "id") == id;
        self.tasks().iter().find(is_it).and_then(Value::as_object)
    }
}

fn first_file(run: &Value, artifact: &str) -> Option<String> {
    let files = run.get("artifacts").and_then(|artifacts| artifacts.get(artifact)).and_then(Value::as_array)?;
    files.first().and_then(Value::as_str).map(ToString::to_string)
}

fn graph(skill: &Skill, run: &Value, listed: &Listed<'_>) -> Value {
    let file = |artifact: &str| first_file(run, artifact).unwrap_or_default();
    let skipped = list(run, "way").filter(|one| text(one, "state") == "skipped").map(|one| text(one, "phase"));
    let passed = run.pointer("/goes_on_to/skipped").and_then(Value::as_array).into_iter().flatten();
    let skipped = skipped.chain(passed.filter_map(Value::as_str));
    let tasks = tasks(run, listed);
    let executing = tasks.iter().filter(|task| text(task, "status") == "in_progress");
    let mut graph = json!({
        "title": listed.kept("title").unwrap_or_else(|| json!(skill.description)),
        "spec_file": file("spec"),
        "plan_file": file("plan"),
        "current_phase": current_phase(skill, run, listed),
        "phase_artifacts": artifacts(skill, run),
        "skipped_phases": skipped.collect::<Vec<_>>(),
        "current_wave": run.pointer("/plan/wave").cloned().unwrap_or_else(|| last_wave(&tasks)),
        "executing_tasks": executing.map(|task| text(task, "id")).collect::<Vec<_>>(),
        "wave_gates": gates(run, listed, &tasks),
        "updated_at": timestamp::timestamp(now()),
    });
    if let Value::Object(fields) = &mut graph {
        fields.extend(
            ["github_issue", "created_at"].into_iter().filter_map(|key| Some((key.to_string(), listed.kept(key)?))),
        );
        fields.insert("tasks".to_string(), Value::from(tasks));
    }
    graph
}

/// The phase as the other system counts it: it leaves one that is done at once, and has none after the tasks.
fn current_phase<'r>(skill: &'r Skill, run: &'r Value, listed: &Listed<'r>) -> &'r str {
    let here = run.pointer("/goes_on_to/phase").and_then(Value::as_str).unwrap_or(text(run, "current_phase"));
    match listed.phase {
        Some(last) if skill.phase_index(here) > skill.phase_index(&last.name) => &last.name,
        _ => here,
    }
}

/// The last wave of tasks that are all over; the first one of others.
fn last_wave(tasks: &[Value]) -> Value {
    let wave = |task: &Value| task.get("wave").and_then(Value::as_u64);
    let over = tasks.iter().all(|task| text(task, "status") == "completed");
    json!(tasks.iter().filter(|_| over).filter_map(wave).max().unwrap_or(1))
}

fn now() -> i64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(now.as_millis()).unwrap_or(i64::MAX)
}

/// What each phase made that the run has been in: a path, or that it is completed.
fn artifacts(skill: &Skill, run: &Value) -> Map<String, Value> {
    let visited = list(run, "way").filter(|one| matches!(text(one, "state"), "done" | "current"));
    let made = visited.filter_map(|one| {
        let phase = skill.phases.iter().find(|phase| phase.name == text(one, "phase"))?;
        let done = text(one, "state") == "done" || run.get("goes_on_to").is_some();
        let value = match skill.made_in(phase) {
            Some(artifact) => match first_file(run, &artifact.name) {
                Some(path) => json!(path),
                None if done => Value::Null,
                None => return None,
            },
            None if done => json!("completed"),
            None => return None,
        };
        Some((phase.name.clone(), value))
    });
    made.collect()
}

fn tasks(run: &Value, listed: &Listed<'_>) -> Vec<Value> {
    if let Some(plan) = run.get("plan") {
        return list(plan, "elements").map(|element| task(plan, element, listed)).collect();
    }
    let Some(plan) = listed.plan() else { return Vec::new() };
    let done = listed.phase.is_some_and(|phase| {
        list(run, "way").any(|one| text(one, "phase") == phase.name && text(one, "state") == "done")
    });
    let status = if done { "completed" } else { "pending" };
    let named = |task: &Value| {
        let mut fields = task.as_object().cloned().unwrap_or_default();
        let after = plan.after.as_ref().and_then(|after| task.get(after)).cloned().unwrap_or_else(|| json!([]));
        let wave = plan.barrier.as_ref().and_then(|wave| task.get(wave)).cloned().unwrap_or_else(|| json!(1));
        let own =
            [("id", json!(text(task, &plan.id))), ("wave", wave), ("depends_on", after), ("status", json!(status))];
        fields.extend(own.map(|(key, value)| (key.to_string(), value)));
        fields.extend((done && listed.tested(text(task, &plan.id))).then(|| ("tests_passed".to_string(), json!(true))));
        Value::Object(fields)
    };
    listed.tasks().iter().map(named).collect()
}

/// A task as it stands, with what the file says of it besides.
fn task(plan: &Value, element: &Value, listed: &Listed<'_>) -> Value {
    let id = text(element, "id");
    let mut fields = listed.task(id).cloned().unwrap_or_default();
    let status = status(plan, element);
    // What was found out about a task does not hold for one that is not finished.
    if !matches!(status, "implemented" | "completed") {
        const FOUND: [&str; 11] = [
            "tests_passed",
            "test_evidence",
            "new_tests_written",
            "new_test_evidence",
            "review_status",
            "critical_findings",
            "advisory_findings",
            "files_modified",
            "failure_reason",
            "retry_count",
            "start_sha",
        ];
        fields.retain(|key, _| !FOUND.contains(&key.as_str()));
    }
    let after = element.get("after").cloned().unwrap_or_else(|| json!([]));
    let own = [
        ("id", json!(id)),
        ("wave", element.get("wave").cloned().unwrap_or_else(|| json!(1))),
        ("status", json!(status)),
        ("depends_on", after),
    ];
    fields.extend(own.map(|(key, value)| (key.to_string(), value)));
    if listed.tested(id) && matches!(status, "implemented" | "completed") {
        fields.insert("tests_passed".to_string(), json!(true));
    }
    Value::Object(fields)
}

fn status(plan: &Value, element: &Value) -> &'static str {
    let number = |value: &Value| value.get("wave").and_then(Value::as_u64).unwrap_or(1);
    match text(element, "state") {
        "finished" if number(element) < number(plan) => "completed",
        "finished" => "implemented",
        "skipped" => "cancelled",
        "failed" | "left" => "failed",
        "live" if !text(element, "agent").is_empty() => "in_progress",
        _ => "pending",
    }
}

/// The gates of the waves that have ended. Tests count where the gate asks for them: the guard saw them pass.
fn gates(run: &Value, listed: &Listed<'_>, tasks: &[Value]) -> Map<String, Value> {
    let asks = listed.phase.and_then(|phase| phase.done_when.as_ref()).is_some_and(asks_for_tests);
    // Of a wave that was over when the run was imported, the file says what was seen.
    let imported = |wave: u64| listed.kept("wave_gates")?.get(wave.to_string()).cloned();
    let passed = |wave: u64| {
        let mut gate = json!({"impl_complete": true, "reviews_complete": true});
        let of_file = imported(wave).filter(|gate| gate.get("reviews_complete") == Some(&Value::Bool(true)));
        let tests = of_file.map_or(asks, |gate| gate.get("tests_passed") == Some(&Value::Bool(true)));
        if let (Value::Object(fields), true) = (&mut gate, tests) {
            fields.insert("tests_passed".to_string(), json!(true));
        }
        (wave.to_string(), gate)
    };
    let number = |value: &Value| value.get("wave").and_then(Value::as_u64).unwrap_or(1);
    let Some(plan) = run.get("plan") else {
        let over = tasks.iter().filter(|task| text(task, "status") == "completed");
        return over.map(|task| passed(number(task))).collect();
    };
    let present = number(plan);
    let at_gate = plan.get("gate") == Some(&Value::Bool(true));
    let over = |element: &Value| matches!(text(element, "state"), "finished" | "skipped");
    let ended = list(plan, "elements").filter(|element| number(element) == present).all(over);
    // A run that waits at a gate before its first wave was imported so.
    let before = present.checked_sub(1).filter(|wave| *wave > 0 && (ended || !at_gate));
    let waves = list(plan, "elements").map(number).filter(|wave| *wave < present).chain(before);
    let mut gates: Map<String, Value> = waves.map(passed).collect();
    if at_gate && ended {
        gates.insert(present.to_string(), json!({"impl_complete": true}));
    }
    gates
}

/// Whether a condition asks for tests that passed.
fn asks_for_tests(condition: &Condition) -> bool {
    let mut asks = false;
    condition.each_call(&mut |test| asks |= matches!(test.wanted, Wanted::Tests(_) | Wanted::Report(_)));
    asks
}
