//! A fault report must match the current adapter and scenarios.

use super::finding::Finding;
use crate::e2e::report::{self, Report};

const INSTEAD: &str = "run `cargo xtask e2e --client ID --binary PATH` with each version of the client that has a report, then `cargo xtask gen`";

/// Every kept report was made with the present adapter and scenarios, and none of them is missing a row.
pub(super) fn check() -> Vec<Finding> {
    let finding = |path: String, what: String| Finding { path, what, instead: INSTEAD };
    let reports = match report::kept() {
        Ok(reports) => reports,
        Err(failure) => return vec![finding("conformance/faults".into(), failure.to_string())],
    };
    if reports.is_empty() {
        return vec![finding("conformance/faults".into(), "there is no fault report".into())];
    }
    let stale = |(path, report): (String, Report)| Some(finding(path, stale(&report)?));
    reports.into_iter().filter_map(stale).collect()
}

/// What a report was made with that is not so any more.
fn stale(report: &Report) -> Option<String> {
    let now = report::adapter_digest(&report.client)
        .and_then(|adapter| Ok((adapter, report::script_digests(&report.client)?, report::scenarios(&report.client)?)));
    let (adapter, scripts, scenarios) = match now {
        Ok(now) => now,
        Err(failure) => return Some(failure.to_string()),
    };
    if report.adapter_sha256 != adapter {
        return Some("the adapter changed since this fault report was made".into());
    }
    if report.scripts != scripts {
        return Some("the scenarios changed since this fault report was made".into());
    }
    let missing = scenarios.iter().find(|name| !report.rows.iter().any(|row| row.scenario == **name));
    missing.map(|name| format!("the fault report has no row for `{name}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_stale_when_adapter_or_scenarios_changed_or_a_row_is_missing() {
        let client = crate::record::drivers::FIRST;
        let now = Report {
            client: client.into(),
            client_version: "0".into(),
            made: "2026-01-01".into(),
            adapter_sha256: report::adapter_digest(client).unwrap(),
            scripts: report::script_digests(client).unwrap(),
            rows: Vec::new(),
        };
        assert!(stale(&now).unwrap().contains("no row for `program-deleted`"));
        let adapter = Report { adapter_sha256: "0".into(), ..now.clone() };
        assert!(stale(&adapter).unwrap().contains("the adapter changed"));
        let scripts = Report { scripts: std::collections::BTreeMap::new(), ..now };
        assert!(stale(&scripts).unwrap().contains("the scenarios changed"));
    }
}
