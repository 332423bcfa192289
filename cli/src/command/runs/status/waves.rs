//! The elements of a run's plan, by wave.

use std::collections::BTreeMap;

use owo_colors::OwoColorize as _;
use serde_json::Value;

use crate::command::runs::live::found::{list, text};
use crate::output::Output;

/// Prints the tasks by wave, each line after this margin.
pub(super) fn waves(out: Output, plan: &Value, margin: &str) {
    let present = plan.get("wave").and_then(Value::as_u64);
    let mut waves: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for element in list(plan, "elements") {
        waves.entry(element.get("wave").and_then(Value::as_u64).unwrap_or_default()).or_default().push(element);
    }
    let width = list(plan, "elements").map(|one| text(one, "id").chars().count()).max().unwrap_or_default();
    // What ended with a task that failed goes on when a person has said what becomes of that one.
    let stuck = if list(plan, "elements").any(|one| text(one, "state") == "failed") { "failed" } else { "left" };
    let at_gate = plan.get("gate") == Some(&Value::Bool(true));
    let asks = text(plan, "gate_asks");
    for (number, tasks) in waves {
        let done = present.is_some_and(|present| number < present);
        let state = match present == Some(number) {
            true if at_gate => format!("{}, which asks {asks}", "waits at its gate".yellow()),
            true => "now".cyan().to_string(),
            false if done => "done".green().to_string(),
            false => "waits for the wave before".dimmed().to_string(),
        };
        out.line(format_args!("{margin}{} {state}", format!("wave {number}:").bold()));
        for task in tasks {
            let name = format!("{:<width$}", text(task, "id"));
            out.line(format_args!("{margin}  {name}  {}", state_of(task, &notes(task, stuck).join("; "))));
        }
    }
    if !at_gate && !asks.is_empty() {
        out.line(format_args!("{margin}gate of each wave: {asks}"));
    }
}

/// The state of a task, and what is noted of it.
fn state_of(task: &Value, notes: &str) -> String {
    let word = text(task, "state");
    let shown = match word {
        "finished" => word.green().to_string(),
        "live" => word.cyan().to_string(),
        "failed" | "left" => word.red().to_string(),
        "skipped" => word.yellow().to_string(),
        _ => word.dimmed().to_string(),
    };
    if notes.is_empty() {
        shown
    } else {
        format!("{shown}{:width$}{notes}", "", width = 10_usize.saturating_sub(word.len()))
    }
}

/// What is noted of a task. In the state `stuck`, what a person can do.
fn notes(task: &Value, stuck: &str) -> Vec<String> {
    let (id, state) = (text(task, "id"), text(task, "state"));
    let mut notes = Vec::new();
    if !text(task, "phase").is_empty() {
        notes.push(format!("in phase {}", text(task, "phase")));
    }
    if !text(task, "agent").is_empty() {
        notes.push(format!("by subagent {} of session {}", text(task, "agent"), text(task, "session")));
    }
    let waits: Vec<&str> = list(task, "waits_for").filter_map(Value::as_str).collect();
    if !waits.is_empty() {
        notes.push(format!("after {}", waits.join(", ")));
    }
    let waits = task.get("stopped") == Some(&Value::Bool(true));
    if state == stuck || waits {
        let waits = if waits { "waits for you: " } else { "" };
        notes.push(format!("{waits}`phasegate retry {id}` begins it anew, `phasegate skip {id}` skips it"));
    } else if state == "left" {
        notes.push("ended with the failed one, and goes on with it".to_string());
    }
    notes
}
