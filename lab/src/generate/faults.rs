//! `conformance/proofs/faults.md`: the effect of each fault of the guard, from the kept fault reports.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::generated::{Generated, cell};
use crate::e2e::outcome::{Outcome, Row};
use crate::e2e::report::{self, Report};
use xtask::failure::Result;

/// The page; a platform a section, its versions as columns.
pub(super) fn page() -> Result<Generated> {
    let mut text = String::from(
        "# When the guard fails\n\n\
         Made by `cargo xtask gen` from the reports in `conformance/faults/`, which `cargo xtask e2e` makes with the real client.\n\n\
         In each row a skill in block mode forbids three calls: a write, a shell command, a call of another server's tool.\n\
         The files that a call leaves show whether it ran.\n\
         `denied`: none ran, and the agent read why. `stopped`: none ran, because the guard refused the prompt or ended the turn.\n\
         `open`: the forbidden calls ran, because the client has no way to deny them.\n\
         The last column quotes the first words that the agent or the user reads. For an open row it gives the reason.\n",
    );
    let mut clients: BTreeMap<String, Vec<Report>> = BTreeMap::new();
    for report in report::kept()?.into_values() {
        clients.entry(report.client.clone()).or_default().push(report);
    }
    for (client, mut reports) in clients {
        reports.sort_by(|one, other| other.client_version.cmp(&one.client_version));
        section(&mut text, &client, &reports);
    }
    Ok(Generated { path: "conformance/proofs/faults.md".into(), text })
}

fn section(text: &mut String, client: &str, reports: &[Report]) {
    let versions: Vec<&str> = reports.iter().map(|report| report.client_version.as_str()).collect();
    let count = |outcome| reports.iter().flat_map(|report| &report.rows).filter(|row| row.outcome == outcome).count();
    let [denied, stopped, open] = [Outcome::Denied, Outcome::Stopped, Outcome::Open].map(count);
    let _ = writeln!(text, "\n## {client}\n\n{denied} rows are denied, {stopped} stopped and {open} open.\n");
    let _ = writeln!(text, "| fault | {} | text that is read, or reason |", versions.join(" | "));
    let _ = writeln!(text, "|---|{}---|", "---|".repeat(versions.len()));
    for row in reports.first().map(|report| report.rows.as_slice()).unwrap_or_default() {
        let all: Vec<Option<&Row>> =
            reports.iter().map(|report| report.rows.iter().find(|other| other.scenario == row.scenario)).collect();
        let words: Vec<&str> = all.iter().map(|row| row.map_or("-", |row| row.outcome.word())).collect();
        let told = all.iter().flatten().find_map(|row| row.because.clone()).unwrap_or_else(|| read(row));
        let _ = writeln!(text, "| {} | {} | {} |", cell(&row.fault), words.join(" | "), cell(&told));
    }
}

/// The most words of a quoted text.
const MAX_QUOTED_WORDS: usize = 25;

/// The first words that were read: of the first forbidden call or, if there is none, at the end.
fn read(row: &Row) -> String {
    let call = row.calls.first().map(|call| call.read.as_str()).filter(|text| !text.is_empty());
    let text = call.or(row.last_word.as_deref()).unwrap_or_default().replace("PreToolUse:Write hook error: ", "");
    let words: Vec<&str> =
        text.lines().filter(|line| !line.trim().is_empty()).take(2).flat_map(str::split_whitespace).collect();
    let end = if words.len() > MAX_QUOTED_WORDS { " ..." } else { "" };
    let quoted: Vec<&str> = words.into_iter().take(MAX_QUOTED_WORDS).collect();
    format!("{}{end}", quoted.join(" "))
}
