//! `phasegate start --import FILE`: the state of another system, in which a run begins.

use std::path::Path;

use phasegate_core::runs::import::TASK_GRAPH;
use phasegate_runtime::bounds::MAX_SETTINGS_BYTES;
use serde_json::{Value, json};

use crate::output::Failure;

/// The state in a file, and where in the project it lies.
pub(super) fn state(file: &Path, root: &Path) -> Result<Value, Failure> {
    let wrong = |why: String| Failure::new(format!("`{}` cannot be imported: {why}", file.display()));
    let size = std::fs::metadata(file).map_err(|error| wrong(error.to_string()))?.len();
    if size > MAX_SETTINGS_BYTES {
        return Err(wrong(format!("it has {size} bytes, and at most {MAX_SETTINGS_BYTES} are read")));
    }
    let text = std::fs::read_to_string(file).map_err(|error| wrong(error.to_string()))?;
    let graph: Value = serde_json::from_str(&text).map_err(|error| wrong(format!("it is not JSON: {error}")))?;
    let path = file.canonicalize().ok().and_then(|path| Some(path.strip_prefix(root).ok()?.display().to_string()));
    Ok(json!({"format": TASK_GRAPH, "value": graph, "path": path}))
}
