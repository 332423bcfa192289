//! `docs/faults.md`: what comes of each way in which a guard can fail, from the kept fault reports.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Generated;
use super::codes::cell;
use crate::e2e::outcome::{Outcome, Row};
use crate::e2e::report::{self, Report};
use crate::failure::Result;

/// The page; a platform a section, its versions as columns.
pub(super) fn page() -> Result<Generated> {
    let mut text = String::from(
        "# When the guard fails\n\n\
         Made by `cargo xtask gen` from the reports in `conformance/faults/`, which `cargo xtask e2e` makes with the real client.\n\n\
         In each row a skill in block mode forbids three calls: a write, a shell command, a call of another server's tool.\n\
         Whether one ran is told by the files it leaves, not by what anybody says.\n\
         `denied`: none ran, and the agent read why. `stopped`: none ran, because the guard refused the prompt or ended the turn.\n\
         `open`: the forbidden calls ran, because the client gives no way to deny them.\n",
    );
    let mut clients: BTreeMap<String, Vec<Report>> = BTreeMap::new();
    for report in report::kept()?.into_values() {
        clients.entry(report.client.clone()).or_default().push(report);
    }
    for (client, mut reports) in clients {
        reports.sort_by(|one, other| other.client_version.cmp(&one.client_version));
        section(&mut text, &client, &reports);
    }
    Ok(Generated { path: "docs/faults.md".into(), text })
}

fn section(text: &mut String, client: &str, reports: &[Report]) {
    let versions: Vec<&str> = reports.iter().map(|report| report.client_version.as_str()).collect();
    let count = |outcome| reports.iter().flat_map(|report| &report.rows).filter(|row| row.outcome == outcome).count();
    let [denied, stopped, open] = [Outcome::Denied, Outcome::Stopped, Outcome::Open].map(count);
    let _ = writeln!(text, "\n## {client}\n\n{denied} rows are denied, {stopped} stopped, {open} open.\n");
    let _ = writeln!(
        text,
        "| what is broken | {} | what the agent or the user reads, or why it is open |",
        versions.join(" | ")
    );
    let _ = writeln!(text, "|---|{}---|", "---|".repeat(versions.len()));
    for row in reports.first().map(|report| report.rows.as_slice()).unwrap_or_default() {
        let all: Vec<Option<&Row>> =
            reports.iter().map(|report| report.rows.iter().find(|other| other.scenario == row.scenario)).collect();
        let words: Vec<&str> = all.iter().map(|row| row.map_or("-", |row| row.outcome.word())).collect();
        let told = all.iter().flatten().find_map(|row| row.because.clone()).unwrap_or_else(|| read(row));
        let _ = writeln!(text, "| {} | {} | {} |", cell(&row.fault), words.join(" | "), cell(&told));
    }
}

/// The first line of what was read, of the first forbidden call or, where none was made, at the end.
fn read(row: &Row) -> String {
    let call = row.calls.first().map(|call| call.read.as_str()).filter(|text| !text.is_empty());
    let text = call.or(row.last_word.as_deref()).unwrap_or_default();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.take(2).collect::<Vec<_>>().join(" ").replace("PreToolUse:Write hook error: ", "")
}
