//! The plan of a run whose phase runs its elements: the elements by wave.

use std::collections::BTreeMap;

use owo_colors::OwoColorize as _;
use serde_json::Value;

use crate::output::Output;

/// Prints a line for each wave.
pub(super) fn waves(out: Output, run: &Value) {
    let Some(plan) = run.get("plan") else { return };
    let present = plan.get("wave").and_then(Value::as_u64);
    let at_gate = plan.get("gate") == Some(&Value::Bool(true));
    let mut waves: BTreeMap<u64, Vec<String>> = BTreeMap::new();
    for element in plan.get("elements").and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| element.get(key).and_then(Value::as_str).unwrap_or_default();
        let number = element.get("wave").and_then(Value::as_u64).unwrap_or_default();
        let named = match text("state") {
            "finished" => format!("{} {}", text("id"), "finished".green()),
            "live" => format!("{} {}", text("id"), "live".yellow()),
            state @ ("failed" | "left" | "skipped") => format!("{} {}", text("id"), state.red()),
            _ => format!("{} waits", text("id")),
        };
        waves.entry(number).or_default().push(named);
    }
    for (number, elements) in waves {
        let gate = if at_gate && present == Some(number) { "; waits at its gate" } else { "" };
        out.line(format_args!("    wave {number}: {}{gate}", elements.join(", ")));
    }
}
