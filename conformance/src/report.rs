//! The report: a matrix of areas and checks, then every mismatch with the command that runs its case alone.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use owo_colors::OwoColorize;
use serde_json::{Value, json};

use crate::trial::{Trial, Verdict};

/// The outcomes of a run.
pub struct Report<'a> {
    /// Every trial that ran, with its verdict.
    pub outcomes: Vec<(&'a Trial, Verdict)>,
}

#[derive(Default)]
struct Cell {
    passed: usize,
    failed: usize,
    expected: usize,
}

impl Report<'_> {
    /// How many trials failed.
    #[must_use]
    pub fn failed(&self) -> usize {
        self.outcomes.iter().filter(|(_, verdict)| !verdict.passed()).count()
    }

    /// The report for people.
    #[must_use]
    pub fn human(&self) -> String {
        let mut text = self.matrix();
        for (trial, verdict) in self.outcomes.iter().filter(|(_, verdict)| !verdict.passed()) {
            let _ = writeln!(text, "\n{} {}", "FAILED".red().bold(), trial.id.bold());
            text.push_str(&mismatches(verdict));
            let _ = writeln!(text, "  run it alone: cargo xtask conformance --case '{}'", trial.id);
        }
        let expected: usize = self.outcomes.iter().filter(|(_, v)| v.passed() && v.expected_failures > 0).count();
        let passed = self.outcomes.len() - self.failed();
        let failed = self.failed();
        let _ = writeln!(text, "\nconformance: {passed} passed ({expected} with expected failures), {failed} failed");
        text
    }

    /// The report for programs.
    #[must_use]
    pub fn json(&self) -> Value {
        let trials: Vec<Value> = self.outcomes.iter().map(|(trial, verdict)| one(trial, verdict)).collect();
        json!({"passed": self.outcomes.len() - self.failed(), "failed": self.failed(), "trials": trials})
    }

    fn matrix(&self) -> String {
        let mut columns: Vec<String> = Vec::new();
        let mut rows: BTreeMap<&str, BTreeMap<String, Cell>> = BTreeMap::new();
        for (trial, verdict) in &self.outcomes {
            let column = column(trial);
            if !columns.contains(&column) {
                columns.push(column.clone());
            }
            let cell = rows.entry(trial.area.as_str()).or_default().entry(column).or_default();
            cell.passed += usize::from(verdict.passed());
            cell.failed += usize::from(!verdict.passed());
            cell.expected += usize::from(verdict.expected_failures > 0);
        }
        let width = rows.keys().map(|area| area.len()).max().unwrap_or(4).max(4);
        let mut text = format!("{:<width$}", "area").bold().to_string();
        for column in &columns {
            let _ = write!(text, "  {:>14}", column.bold());
        }
        text.push('\n');
        for (area, cells) in &rows {
            let _ = write!(text, "{area:<width$}");
            for column in &columns {
                let shown = cells.get(column).map_or_else(|| format!("{:>14}", "-").dimmed().to_string(), Cell::shown);
                let _ = write!(text, "  {shown}");
            }
            text.push('\n');
        }
        text
    }
}

impl Cell {
    fn shown(&self) -> String {
        if self.failed > 0 {
            return format!("{:>14}", format!("{} of {} fail", self.failed, self.failed + self.passed))
                .red()
                .to_string();
        }
        let departures = if self.expected > 0 { format!(" ({} dep.)", self.expected) } else { String::new() };
        format!("{:>14}", format!("{}{departures}", self.passed)).green().to_string()
    }
}

fn column(trial: &Trial) -> String {
    match &trial.adapter {
        None => trial.check.word().to_string(),
        Some(adapter) => format!("{adapter} {}", trial.check.word()),
    }
}

fn one(trial: &Trial, verdict: &Verdict) -> Value {
    let mismatches: Vec<Value> = verdict
        .mismatches
        .iter()
        .map(|found| json!({"place": found.place, "field": found.field, "expected": found.expected, "got": found.got}))
        .collect();
    json!({
        "id": trial.id,
        "check": trial.check.word(),
        "adapter": trial.adapter,
        "area": trial.area,
        "passed": verdict.passed(),
        "expected_failures": verdict.expected_failures,
        "mismatches": mismatches,
    })
}

/// Every mismatch of a verdict: place, field, what was wanted and what came.
#[must_use]
pub fn mismatches(verdict: &Verdict) -> String {
    let mut text = String::new();
    for found in &verdict.mismatches {
        let _ = writeln!(text, "  {}: {}", found.place, found.field);
        let _ = writeln!(text, "    expected {}", shown(&found.expected).green());
        let _ = writeln!(text, "    got      {}", shown(&found.got).red());
    }
    text
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{}`", text.replace('\n', "\n             ")),
        other => other.to_string(),
    }
}
