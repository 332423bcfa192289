//! Patterns of command safety, from data: what each selects, and which are refused.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

use std::sync::Arc;

use phasegate_core::calls::analysis::Word;
use phasegate_core::policy::Safety;
use phasegate_core::shell::classifier::Classifier;
use phasegate_core::shell::safety::{CommandWords, Registry, SafetyPattern, changes, is_never_read};
use phasegate_core::state::redacted_tests::Fit;
use serde::Deserialize;
use serde_json::json;

#[derive(Deserialize)]
struct Row {
    pattern: String,
    command: String,
    read: String,
    write: String,
}

#[derive(Deserialize)]
struct Refused {
    pattern: String,
    because: String,
}

fn rows<T: for<'de> Deserialize<'de>>(text: &str) -> Vec<T> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn patterns_select_what_the_rows_say() {
    for row in rows::<Row>(include_str!("../safety/patterns.jsonl")) {
        let word = |word: &str| if word == "$" { Word::Unknown } else { Word::Known(word.to_owned()) };
        let words: Vec<Word> = row.command.split(' ').map(word).collect();
        let command = CommandWords::of(&words);
        let pattern = SafetyPattern::read(&row.pattern).unwrap();
        for (careful, wanted) in [(true, &row.read), (false, &row.write)] {
            let fit = match pattern.fits(&command, careful) {
                Fit::Yes => "yes",
                Fit::Doubt => "doubt",
                Fit::No => "no",
            };
            assert_eq!(fit, wanted, "{}: {} (careful: {careful})", row.pattern, row.command);
        }
    }
}

#[test]
fn where_any_program_may_be_classified_a_read_of_an_agent_counts_but_for_those_that_never_read() {
    let read = |tool: &str| {
        let pattern = format!("{tool} * list");
        json!({"tool": tool, "commands": [{"pattern": pattern, "level": "READ"}], "by": "agent"})
    };
    let registry: Registry = serde_json::from_value(json!({"entries": [read("acme"), read("rm")]})).unwrap();
    let registry = Arc::new(registry);
    let reads = |any: bool, line: &str| {
        let settings = Safety { any, ..Safety::default() };
        let words: Vec<Word> = line.split(' ').map(|word| Word::Known(word.to_owned())).collect();
        let found = Classifier::with([Arc::default(), Arc::clone(&registry)], &settings).judge(&words);
        found.is_some_and(|found| found.reads())
    };
    assert!(reads(true, "acme x list") && !reads(false, "acme x list"));
    assert!(!reads(true, "rm x list"));
}

#[test]
fn what_is_no_pattern_is_refused_with_the_reason() {
    for row in rows::<Refused>(include_str!("../safety/refused.jsonl")) {
        let Err(fault) = SafetyPattern::read(&row.pattern) else { panic!("`{}` is read", row.pattern) };
        assert!(fault.words().contains(&row.because), "`{}`: {}", row.pattern, fault.words());
    }
}

#[test]
fn lists_hold_what_the_rules_name() {
    for program in ["bash", "python3", "python3.12", "rm", "dd", "xargs", "env", "sudo", "git", "find", "curl", "npx"] {
        assert!(is_never_read(program), "{program}");
    }
    assert!(!is_never_read("gcloud") && !is_never_read("go-gmail"));
    for word in ["create", "delete", "set", "update", "send", "apps:destroy", "deleteMessage", "SEND", "--set-env"] {
        assert!(changes(word), "{word}");
    }
    for word in ["list", "get", "describe", "a text with send", "settings", "created", "--sort-by=~create"] {
        assert!(!changes(word), "{word}");
    }
}
