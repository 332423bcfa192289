//! `phasegate start --import FILE`: the state of another system, in which a run begins.

use std::path::Path;

use phasegate_core::runs::import::TASK_GRAPH;
use serde_json::{Map, Value, json};

use crate::output::Failure;

/// The fields of such a file that say where a run stands.
const IMPORTED: [&str; 5] = ["current_phase", "phase_artifacts", "skipped_phases", "current_wave", "wave_gates"];
/// Those of a task.
const OF_TASK: [&str; 7] = ["id", "wave", "status", "depends_on", "tests_passed", "review_status", "critical_findings"];

/// The state in a file, as far as it says where a run stands. The journal keeps no more of it.
pub(super) fn state(file: &Path, root: &Path) -> Result<Value, Failure> {
    let wrong = |why: String| Failure::new(format!("`{}` cannot be imported: {why}", file.display()));
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let graph: Value = serde_json::from_str(&text).map_err(|error| wrong(format!("it is not JSON: {error}")))?;
    let mut kept = only(&graph, &IMPORTED);
    let tasks = graph.get("tasks").and_then(Value::as_array);
    kept.extend(tasks.map(|tasks| {
        let tasks = tasks.iter().map(|task| Value::Object(only(task, &OF_TASK)));
        ("tasks".to_string(), tasks.collect())
    }));
    let path = file.canonicalize().ok().and_then(|path| Some(path.strip_prefix(root).ok()?.display().to_string()));
    Ok(json!({"format": TASK_GRAPH, "value": kept, "path": path}))
}

fn only(value: &Value, keys: &[&str]) -> Map<String, Value> {
    let fields = value.as_object().into_iter().flatten();
    fields.filter(|(key, _)| keys.contains(&key.as_str())).map(|(key, value)| (key.clone(), value.clone())).collect()
}
