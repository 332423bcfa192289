//! The corpora: lines that must not be judged read-only, and lines that a useful reader must allow.

use std::fs;
use std::path::{Path, PathBuf};

use phasegate_core::tool::Verdict;
use phasegate_shell::{Table, Trust, judge};
use serde_json::Value;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../conformance/shell")
}

pub(crate) fn rows(name: &str) -> Vec<(String, String)> {
    let text = fs::read_to_string(folder().join(name)).unwrap();
    text.lines()
        .filter(|line| !line.trim().is_empty())
        .map(|line| {
            let row: Value = serde_json::from_str(line).unwrap();
            (row["id"].as_str().unwrap_or("").to_owned(), row["cmd"].as_str().unwrap().to_owned())
        })
        .collect()
}

fn verdict(line: &str) -> (Verdict, String) {
    let judgement = judge(line, &Table::shipped(), Trust::default());
    (judgement.verdict, judgement.because)
}

#[test]
fn no_line_that_must_be_blocked_reads() {
    let rows = rows("must-block.jsonl");
    let wrong: Vec<_> = rows.iter().filter(|(_, line)| verdict(line).0 == Verdict::Read).collect();
    println!("must block: {} of {} judged to read", wrong.len(), rows.len());
    for (id, line) in &wrong {
        println!("  {id}  {line:?}");
    }
    assert!(wrong.is_empty());
}

#[test]
fn at_most_one_harmless_line_in_twenty_is_blocked() {
    let rows = rows("should-allow.jsonl");
    let blocked: Vec<_> = rows
        .iter()
        .map(|(id, line)| (id, line, verdict(line)))
        .filter(|(_, _, (verdict, _))| *verdict != Verdict::Read)
        .collect();
    println!("should allow: {} of {} blocked", blocked.len(), rows.len());
    for (id, line, (verdict, because)) in &blocked {
        println!("  {id}  {line:?}\n      {verdict:?}: {because}");
    }
    assert!(blocked.len() * 20 <= rows.len());
}
