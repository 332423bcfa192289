//! The original's walkthrough for a reader: one story, a column for each form of the skill, decided by the current
//! engine.

use owo_colors::OwoColorize;
use serde_json::Value;

use crate::play::case::{Case, Step};
use crate::play::driver::open;
use crate::play::story::stage;

/// The file of the story `walkthrough`, below `cases/`.
pub const WALKTHROUGH: &str = "seed-000/shipped.json";

/// Plays every column of a story and sets what was decided side by side. What the story expects is not looked at.
///
/// # Errors
///
/// The configs of a column have mistakes, or a line is refused.
pub fn table(case: &Case) -> Result<String, String> {
    let mut columns = vec![("step", case.steps.iter().map(step_name).collect::<Vec<_>>())];
    for name in case.columns.keys() {
        columns.push((name, played(case, name)?));
    }
    let shown: Vec<usize> = (0..case.steps.len()).filter(|at| case.steps.get(*at).is_some_and(asks)).collect();
    let width = |(name, cells): &(&str, Vec<Cell>)| {
        let cells = shown.iter().filter_map(|at| cells.get(*at));
        cells.map(|cell| cell.plain.chars().count()).chain([name.len()]).max().unwrap_or_default()
    };
    let widths: Vec<usize> = columns.iter().map(width).collect();
    let row = |cells: Vec<Cell>| {
        let cells = cells.into_iter().zip(&widths).map(|(cell, width)| cell.padded(*width));
        format!("  {}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
    };
    let mut text = row(columns.iter().map(|(name, _)| Cell::new(*name, name.dimmed().to_string())).collect());
    for at in shown {
        text.push_str(&row(columns.iter().filter_map(|(_, cells)| cells.get(at).cloned()).collect()));
    }
    Ok(text)
}

/// A text, and the same with colours.
#[derive(Clone)]
struct Cell {
    plain: String,
    shown: String,
}

impl Cell {
    fn new(plain: impl Into<String>, shown: impl Into<String>) -> Self {
        Self { plain: plain.into(), shown: shown.into() }
    }

    fn padded(&self, width: usize) -> String {
        format!("{}{}", self.shown, " ".repeat(width.saturating_sub(self.plain.chars().count())))
    }
}

/// Whether a step asks for a decision, rather than reports how a call ended.
fn asks(step: &Step) -> bool {
    matches!(word(step, "event"), "tool_call" | "command")
}

fn word<'a>(step: &'a Step, key: &str) -> &'a str {
    step.event.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn step_name(step: &Step) -> Cell {
    let name = if word(step, "event") == "command" { word(step, "name") } else { word(step, "tool") };
    Cell::new(name, name.bold().to_string())
}

fn played(case: &Case, column: &str) -> Result<Vec<Cell>, String> {
    let mut driver = open(&stage(case, Some(column)))?;
    case.steps
        .iter()
        .map(|step| driver.line(&Value::Object(step.event.clone()).to_string()).map(|output| answer(&output)))
        .collect()
}

fn answer(output: &Value) -> Cell {
    let of = |key: &str| output.get(key).and_then(Value::as_str).unwrap_or_default();
    let (decided, coloured) = match of("decision") {
        "deny" => (format!("BLOCKED {}", of("code")), format!("{} {}", "BLOCKED".red().bold(), of("code"))),
        "warn" | "ask" => {
            (format!("{} {}", of("decision"), of("code")), format!("{} {}", of("decision").yellow(), of("code")))
        }
        "allow" => ("allowed".into(), "allowed".green().to_string()),
        _ => ("done".into(), "done".into()),
    };
    let phase = format!("-> {}", of("phase"));
    Cell::new(format!("{decided} {phase}"), format!("{coloured} {}", phase.dimmed()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STORY: &str = r#"[{"case": "c", "name": "n", "rule": "r", "skill": "s", "columns": {"lax": {}, "strict": {"mode": "block"}},
        "skills": [{"skill": "s", "phases": {"p": {"allowed": ["Read"], "forbidden": ["Edit"]}}}],
        "steps": [{"event": {"event": "tool_call", "id": "1", "tool": "Edit", "input": {}},
            "expect": {"decision": "allow", "code": null}},
            {"event": {"event": "tool_result", "id": "1", "ok": true}},
            {"event": {"event": "tool_call", "id": "2", "tool": "Read", "input": {}}}]}]"#;

    #[test]
    fn columns_differ_as_the_engine_decides_and_not_as_the_story_expects() {
        let text = anstream::adapter::strip_str(&table(&Case::parse(STORY).unwrap()[0]).unwrap()).to_string();
        let cells: Vec<Vec<&str>> = text
            .lines()
            .map(|line| line.split("  ").map(str::trim).filter(|cell| !cell.is_empty()).collect())
            .collect();
        assert_eq!(cells[0], ["step", "lax", "strict"]);
        assert_eq!(cells[1], ["Edit", "warn phase-forbidden -> p", "BLOCKED phase-forbidden -> p"]);
        assert_eq!(cells[2], ["Read", "allowed -> p", "allowed -> p"]);
        assert_eq!(cells.len(), 3);
    }
}
