//! `phasegate doctor` and `docs/platforms.md` report what a fault report shows to be open: each open row is
//! a limit of its adapter, and each scenario that a limit names is one.

use phasegate_adapter::Adapter;

use super::finding::Finding;
use crate::e2e::outcome::{Outcome, Row};
use crate::e2e::report;
use xtask::failure::Result;

/// Every open row is a limit of its adapter, and every scenario that a limit names exists.
pub(super) fn check() -> Vec<Finding> {
    let broken = phasegate_adapters::all().into_iter().map(of).collect::<Result<Vec<_>>>();
    match broken {
        Ok(findings) => findings.into_iter().flatten().collect(),
        Err(failure) => vec![finding("fault reports".into(), failure.to_string())],
    }
}

fn of(adapter: &dyn Adapter) -> Result<Vec<Finding>> {
    let id = adapter.id();
    let limits = adapter.diagnostics().limits();
    let shown: Vec<&str> = limits.iter().flat_map(|limit| &limit.shown).map(String::as_str).collect();
    // Without such a limit there need be no scenarios: not every adapter has a client to try them with.
    let known = if shown.is_empty() { Vec::new() } else { report::scenarios(id)? };
    let mut findings: Vec<_> = shown
        .iter()
        .filter(|name| !known.iter().any(|scenario| scenario == *name))
        .map(|name| finding(format!("adapters/{id}"), format!("a limit names the scenario `{name}`, which is none")))
        .collect();
    for (path, report) in report::kept()?.into_iter().filter(|(_, report)| report.client == id) {
        findings.extend(untold(&report.rows, &shown).map(|row| {
            finding(path.clone(), format!("`{}` is open, and no limit of the adapter names it", row.scenario))
        }));
    }
    Ok(findings)
}

/// The open rows that no limit names.
fn untold<'a>(rows: &'a [Row], shown: &'a [&str]) -> impl Iterator<Item = &'a Row> {
    rows.iter().filter(|row| row.outcome == Outcome::Open && !shown.contains(&row.scenario.as_str()))
}

fn finding(path: String, what: String) -> Finding {
    Finding { path, what, instead: "name the scenario in `shown` of a limit in the adapter's `limits.rs`" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_row_that_no_limit_names_is_found() {
        let row = |scenario: &str, outcome| Row { scenario: scenario.into(), outcome, ..row_of() };
        let rows = [row("told", Outcome::Open), row("untold", Outcome::Open), row("shut", Outcome::Denied)];
        let found: Vec<_> = untold(&rows, &["told"]).map(|row| row.scenario.as_str()).collect();
        assert_eq!(found, ["untold"]);
    }

    fn row_of() -> Row {
        let text = r#"{"scenario": "", "fault": "", "outcome": "denied", "because": null, "attempts": [], "calls": [],
                       "last_word": null, "harmless_ran": true, "problem": null}"#;
        serde_json::from_str(text).unwrap()
    }
}
