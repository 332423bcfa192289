//! Texts that are run, of which the line makes a part when it runs: what they say beside that is read.

use std::fs;
use std::path::Path;

use phasegate_core::calls::analysis::{SimpleCommand, Verdict, Word};
use phasegate_shell::{Table, Trust, judge};
use serde_json::Value;

/// The words of a command, with a question mark for what is made when the line runs.
fn shown(command: &SimpleCommand) -> String {
    let word = |word: &Word| if let Word::Known(text) = word { text.clone() } else { "?".to_owned() };
    command.words.iter().map(word).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_text_says_what_it_runs_beside_its_holes() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/holes.jsonl");
    let mut wrong = Vec::new();
    for row in fs::read_to_string(path).unwrap().lines() {
        let row: Value = serde_json::from_str(row).unwrap();
        let line = row["cmd"].as_str().unwrap();
        let judged = judge(line, &Table::shipped(), Trust::default());
        let parts: Vec<String> = judged.parts.iter().map(|part| shown(&part.command)).collect();
        let sees = row["sees"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let missing = sees.filter(|wanted| !parts.iter().any(|part| part == wanted)).count() > 0;
        // No part of a harmless line may be any command.
        let doubtful =
            row["harmless"] == true && (judged.problem.is_some() || parts.iter().any(|part| part.starts_with('?')));
        if missing || doubtful {
            wrong.push(format!("{line:?}: {parts:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_letter_that_stands_for_a_hole_is_in_no_line() {
    for line in ["ls \u{10ff00}", "bash -c 'ls \u{10ff02}'", "bash -c $'ls \\U0010ff02'", "ls $'\\U0010ff00'"] {
        assert_eq!(judge(line, &Table::shipped(), Trust::default()).verdict, Verdict::Unknown, "{line:?}");
    }
}

#[test]
fn the_folder_of_the_line_is_known_by_its_variable() {
    for (line, verdict) in [
        ("bash -c \"echo $HOME\"", Verdict::Read),
        ("bash -c \"cat $PWD/a.txt\"", Verdict::Read),
        ("bash -c \"rm $PWD/a.txt\"", Verdict::Write),
        ("PWD=x; bash -c \"cat $PWD/a.txt\"", Verdict::Unknown),
    ] {
        assert_eq!(judge(line, &Table::shipped(), Trust::default()).verdict, verdict, "{line}");
    }
}
