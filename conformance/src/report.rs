//! The report: a matrix of areas and checks, then every mismatch with the command that runs its case alone.

pub mod demo;
pub mod walkthrough;
pub mod outcome;

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

    /// Every mismatch, and the sum, for people.
    #[must_use]
    pub fn mismatches(&self) -> String {
        let mut text = String::new();
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

    /// Two tables: what is the same on every platform, then a column for each platform.
    #[must_use]
    pub fn matrix(&self) -> String {
        let neutral = self.outcomes.iter().filter(|(trial, _)| trial.adapter.is_none());
        let own = self.outcomes.iter().filter_map(|(trial, verdict)| Some((trial.adapter.as_deref()?, trial, verdict)));
        let mut tables: [Table; 2] = [Table::default(), Table::default()];
        for (trial, verdict) in neutral {
            tables[0].add(&trial.area, trial.check.word(), Cell::of(verdict));
        }
        for (adapter, trial, verdict) in own {
            let part = trial.area.strip_prefix(adapter).unwrap_or(&trial.area).trim_start_matches('/');
            tables[1].add(&format!("{} {part}", trial.check.word()), name(adapter), Cell::of(verdict));
        }
        let shown: Vec<String> = tables.iter().filter(|table| !table.rows.is_empty()).map(Table::shown).collect();
        shown.join("\n")
    }

    /// The table of what frames show: an event and its outcome a line, a platform a column.
    #[must_use]
    pub fn cells(&self) -> String {
        let mut table = Table::default();
        for (trial, verdict) in &self.outcomes {
            let Some(adapter) = trial.adapter.as_deref() else { continue };
            let place = trial.id.strip_prefix("decode/").and_then(|rest| rest.strip_prefix(adapter));
            let cell = place.and_then(|rest| rest.strip_prefix("/cells/")?.split_once('/'));
            if let Some((_, cell)) = cell {
                table.add(cell, name(adapter), Cell::of(verdict));
            }
        }
        table.shown_by(&Cell::versions)
    }
}

/// The platform's name as its makers write it.
fn name(adapter: &str) -> &str {
    phasegate_adapters::find(adapter).map_or(adapter, |adapter| adapter.name())
}

/// Rows and columns in the order of the alphabet and of arrival.
#[derive(Default)]
struct Table {
    columns: Vec<String>,
    rows: BTreeMap<String, BTreeMap<String, Cell>>,
}

impl Table {
    fn add(&mut self, row: &str, column: &str, one: Cell) {
        if !self.columns.iter().any(|known| known == column) {
            self.columns.push(column.into());
        }
        let cell = self.rows.entry(row.into()).or_default().entry(column.into()).or_default();
        cell.passed += one.passed;
        cell.failed += one.failed;
        cell.expected += one.expected;
    }

    fn shown(&self) -> String {
        self.shown_by(&Cell::shown)
    }

    fn shown_by(&self, cell: &dyn Fn(&Cell) -> String) -> String {
        let width = self.rows.keys().map(|row| row.chars().count()).max().unwrap_or(4).max(4);
        let mut text = format!("{:<width$}", "area").bold().to_string();
        for column in &self.columns {
            let _ = write!(text, "  {:>14}", column.bold());
        }
        text.push('\n');
        for (row, cells) in &self.rows {
            let _ = write!(text, "{row:<width$}");
            for column in &self.columns {
                let shown = cells.get(column).map_or_else(|| format!("{:>14}", "-").dimmed().to_string(), cell);
                let _ = write!(text, "  {shown}");
            }
            text.push('\n');
        }
        text
    }
}

impl Cell {
    fn of(verdict: &Verdict) -> Self {
        let passed = usize::from(verdict.passed());
        Self { passed, failed: 1 - passed, expected: usize::from(verdict.expected_failures > 0) }
    }

    /// Whether every version, some or none shows it.
    fn versions(&self) -> String {
        if self.failed > 0 {
            return self.shown();
        }
        match self.expected {
            0 => format!("{:>14}", "yes").green().to_string(),
            some if some < self.passed => format!("{:>14}", "some versions").to_string(),
            _ => format!("{:>14}", "no").dimmed().to_string(),
        }
    }

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
