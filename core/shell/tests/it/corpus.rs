//! The corpora: lines that must not be judged read-only, and lines that a useful reader must allow.

use std::fs;
use std::path::{Path, PathBuf};

use phasegate_core::calls::analysis::Verdict;
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
    for file in ["must-block.jsonl", "adversarial.jsonl"] {
        let rows = rows(file);
        let wrong: Vec<_> = rows.iter().filter(|(_, line)| verdict(line).0 == Verdict::Read).collect();
        println!("{file}: {} of {} judged to read", wrong.len(), rows.len());
        for (id, line) in &wrong {
            println!("  {id}  {line:?}");
        }
        assert!(wrong.is_empty());
    }
}

#[test]
fn nothing_that_obeys_a_checkout_reads_where_it_is_not_trusted() {
    let rows = rows("distrusted.jsonl");
    let trust = Trust { repository: false, ..Trust::default() };
    let judged = |line: &str| judge(line, &Table::shipped(), trust.clone()).verdict;
    let wrong: Vec<_> = rows.iter().filter(|(_, line)| judged(line) == Verdict::Read).collect();
    println!("distrusted: {} of {} judged to read", wrong.len(), rows.len());
    assert!(rows.len() >= 60 && wrong.is_empty(), "{wrong:#?}");
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

/// The lines of a file of this crate's own, and those of them whose verdict is not as wanted.
fn own(name: &str, wanted: impl Fn(Verdict) -> bool) -> (usize, Vec<String>) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(name);
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<String> = text
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["cmd"].as_str().unwrap().to_owned())
        .collect();
    (lines.len(), lines.into_iter().filter(|line| !wanted(verdict(line).0)).collect())
}

#[test]
fn lines_of_our_own_that_write_are_never_read() {
    let (all, wrong) = own("never-read.jsonl", |verdict| verdict != Verdict::Read);
    assert!(all > 0 && wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn lines_of_our_own_that_only_read_do() {
    let (all, wrong) = own("read.jsonl", |verdict| verdict == Verdict::Read);
    assert!(all > 0 && wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_entry_of_the_shipped_table_can_be_read() {
    assert_eq!(Table::broken_entries(), Vec::<&str>::new());
}

#[test]
fn nothing_makes_the_reader_fail() {
    let deep = [
        "$(",
        "(",
        "{ ",
        "`",
        "\"$(",
        "${x:-",
        "$((",
        "if ",
        "[[ (",
        "<(",
        "case x in x) ",
        "\\",
        "'",
        "{a,",
        "a[",
        "$'",
    ];
    for piece in deep {
        for count in [1, 63, 64, 65, 400, 5000] {
            let line = piece.repeat(count);
            let judged = judge(&line, &Table::shipped(), Trust::default());
            assert_ne!(judged.verdict, Verdict::Read, "{piece} {count} times");
        }
    }
    for line in ["\u{0}", "ls\u{a0}", "ls \r", &"a".repeat(20_000)] {
        assert_ne!(judge(line, &Table::shipped(), Trust::default()).verdict, Verdict::Read);
    }
}
