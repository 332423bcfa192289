//! The check of a large skill.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use phasegate_config::{Kind, Level, SourceFile, compile};

const PHASES: usize = 300;

/// A skill of so many phases. Each allows a tool of its own, a common one and one call of another, and forbids the tool of
/// the phase after it.
fn skill(phases: usize) -> String {
    let mut text = "skill: large\nservers: [s]\nphases:\n".to_string();
    for number in 0..phases {
        let (word, next) = (word(number), word(number + 1));
        writeln!(
            text,
            "  p{number}:\n    allowed: [do_{word}, Read, {{command: \"make {word} *\"}}]\n    forbidden: [do_{next}_late]\n    \
             done_when: {{ok: do_{word}}}"
        )
        .unwrap();
    }
    text
}

/// A word of letters for each number, none nearly like another one.
fn word(mut number: usize) -> String {
    let mut word = String::new();
    for _ in 0..3 {
        word.push_str(["bax", "cok", "duz", "fim", "gep", "hyr", "jov", "kuw", "lin", "mat"][number % 10]);
        number /= 10;
    }
    word
}

#[test]
fn hundreds_of_phases_are_checked_in_seconds() {
    let file = SourceFile { path: "skill.yaml".into(), text: skill(PHASES), level: Level::Project, kind: Kind::Skill };
    let before = Instant::now();
    let compiled = compile(&[file]);
    let took = before.elapsed();
    assert_eq!(compiled.diagnostics, []);
    // With the cube of the phases, a build for tests took 40 s of an idle processor.
    assert!(took < Duration::from_secs(30), "{took:?}");
}
