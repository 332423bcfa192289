//! The plan of a run whose phase runs its elements: the elements by wave.

use std::collections::BTreeMap;

use owo_colors::OwoColorize as _;
use phasegate_core::values::one_line::one_line;
use serde_json::Value;

use crate::output::Output;

/// Prints the steps of a plan that a person approved, with what became of each.
pub(super) fn steps(out: Output, run: &Value) {
    let Some(steps) = run.get("steps").and_then(Value::as_array) else { return };
    let text = |step: &Value, key: &str| step.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    let named = |step: &Value| {
        let (id, state) = (one_line(&text(step, "id")), text(step, "state"));
        match state.as_str() {
            _ if step.get("permits").is_none_or(Value::is_null) => format!("{id} prose"),
            "done" => format!("{id} {}", "done".green()),
            "failed" => format!("{id} {}", "failed".red()),
            state => format!("{id} {state}"),
        }
    };
    out.line(format_args!("    steps: {}", steps.iter().map(named).collect::<Vec<_>>().join(", ")));
    if steps.iter().any(|step| text(step, "state") == "failed") {
        let what = "the agent writes the plan anew without what is done, and you approve it";
        out.line(format_args!("    {} a step failed: {what}", "failed:".red()));
    }
}

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
