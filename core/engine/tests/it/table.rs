//! The decision table of ARCHITECTURE.md, row by row and exhaustively, against `decide`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

use phasegate_core::decide::{Done, Line, Next, Returns, Situation, decide};

const ARCHITECTURE: &str = include_str!("../../../../ARCHITECTURE.md");

/// A row: what it says in each column, as written, and the line it names.
struct Row<'a> {
    cells: Vec<&'a str>,
    line: &'a str,
}

impl Row<'_> {
    fn fits(&self, situation: &[&str; 8]) -> bool {
        self.cells.iter().zip(situation).all(|(cell, is)| *cell == "-" || cell == is)
    }
}

fn rows() -> Vec<Row<'static>> {
    let table = ARCHITECTURE.lines().skip_while(|line| !line.starts_with("| row | globally forbidden")).skip(2);
    table
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            assert_eq!(cells.len(), 10, "a row has ten cells: {line}");
            Row { cells: cells[1..9].to_vec(), line: cells[9] }
        })
        .collect()
}

const YES_NO: [(&str, bool); 2] = [("yes", true), ("no", false)];
const RETURNS: [(&str, Returns); 3] = [("no", Returns::No), ("free", Returns::Free), ("back", Returns::Back)];
const DONE: [(&str, Done); 3] = [("yes", Done::Yes), ("no", Done::No), ("-", Done::NotAsked)];
const NEXT: [(&str, Next); 3] = [("open", Next::Open), ("closed", Next::Closed), ("none", Next::None)];

/// Every situation, in the words of the table and as the engine sees it.
fn situations() -> Vec<([&'static str; 8], Situation)> {
    let mut all = Vec::new();
    for (w1, global_forbidden) in YES_NO {
        for (w2, allowed) in YES_NO {
            for (w3, forbidden) in YES_NO {
                for (w4, returns) in RETURNS {
                    for (w5, done) in DONE {
                        for (w6, next) in NEXT {
                            for (w7, back) in YES_NO {
                                for (w8, unlisted_passes) in YES_NO {
                                    let words = [w1, w2, w3, w4, w5, w6, w7, w8];
                                    all.push((
                                        words,
                                        Situation {
                                            global_forbidden,
                                            allowed,
                                            forbidden,
                                            returns,
                                            done,
                                            next,
                                            back,
                                            unlisted_passes,
                                        },
                                    ));
                                }
                            }
                        }
                    }
                }
            }
        }
    }
    all
}

fn word(line: Line) -> String {
    serde_json::to_value(line).unwrap().as_str().unwrap().to_string()
}

#[test]
fn every_situation_is_decided_as_the_table_says() {
    let rows = rows();
    let mut wrong = Vec::new();
    for (words, situation) in situations() {
        let row = rows.iter().find(|row| row.fits(&words)).unwrap_or_else(|| panic!("no row fits {words:?}"));
        let got = word(decide(situation));
        if got != row.line {
            wrong.push(format!("{words:?}: the table says {}, `decide` says {got}", row.line));
        }
    }
    assert!(wrong.is_empty(), "{} situations differ, the first: {}", wrong.len(), wrong[0]);
}

#[test]
fn every_row_decides_some_situation() {
    let rows = rows();
    assert_eq!(rows.len(), 11);
    for (index, row) in rows.iter().enumerate() {
        let first = |words: &[&str; 8]| rows.iter().position(|row| row.fits(words)) == Some(index);
        assert!(
            situations().iter().any(|(words, _)| first(words)),
            "row {} ({}) is never reached",
            index + 1,
            row.line
        );
    }
}

#[test]
fn violations_are_the_four_lines_that_refuse() {
    let lines = situations().into_iter().map(|(_, situation)| decide(situation));
    let mut refusing: Vec<String> = lines.filter(|line| line.is_violation()).map(word).collect();
    refusing.sort();
    refusing.dedup();
    assert_eq!(refusing, ["forbidden", "global_forbidden", "not_done", "unlisted_denied"]);
}
