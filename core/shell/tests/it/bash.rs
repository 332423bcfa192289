//! The reader against bash itself: what `bash -n` cannot read is never judged `read`, and little that it can is refused.

use std::process::{Command, Stdio};

use phasegate_core::calls::analysis::Verdict;
use phasegate_shell::{Table, Trust, judge};

use crate::corpus::rows;

/// How many lines are made by changing letters, and from which seed.
const MADE: usize = 2_000;
const SEED: u64 = 0x5eed;
/// Of a thousand changed lines that bash can read, so many may be refused; whole lines are never.
const REFUSED: usize = 50;

/// What is put anywhere in a line.
const NOISE: &[&str] = &[
    "'", "\"", "`", "$", "\\", "{", "}", "(", ")", "$(", "${", "$'", "[", "]", "[[", "#", "<", ">", "<<E", "<<<", "&",
    "|", ";", "!", "~", "\n", "\t", "$((", "))", ";;", "&&", "||", "if ", " then ", " fi", " do ", " done", "case ",
    " esac", "for ", "{ ", " }",
];

pub(crate) fn valid(line: &str) -> bool {
    let mut bash = Command::new("bash");
    bash.args(["--norc", "--noprofile", "-n", "-c", line]).env_clear().env("PATH", std::env::var_os("PATH").unwrap());
    bash.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap().success()
}

pub(crate) fn lines() -> Vec<String> {
    lines_of(&["must-block.jsonl", "adversarial.jsonl", "should-allow.jsonl", "own.jsonl", "registry.jsonl"])
}

/// Further lines, of which no changed ones are made.
pub(crate) fn further() -> Vec<String> {
    lines_of(&["typed.jsonl"])
}

fn lines_of(files: &[&str]) -> Vec<String> {
    files.iter().flat_map(|file| rows(file)).map(|(_, line)| line).filter(|line| !line.contains('\0')).collect()
}

/// `SplitMix64`.
fn random(state: &mut u64, end: usize) -> usize {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    usize::try_from((mixed ^ (mixed >> 31)) % u64::try_from(end.max(1)).unwrap()).unwrap()
}

pub(crate) fn changed(state: &mut u64, line: &str) -> String {
    let mut letters: Vec<char> = line.chars().collect();
    for _ in 0..=random(state, 2) {
        let at = random(state, letters.len() + 1);
        match random(state, 4) {
            0 => letters.truncate(at),
            1 if at < letters.len() => {
                letters.remove(at);
            }
            _ => {
                letters.splice(at..at, NOISE[random(state, NOISE.len())].chars());
            }
        }
    }
    letters.into_iter().collect()
}

/// How many of these bash can read, and which of those our reader refuses; fails on one that bash refuses and we allow.
fn compare(lines: &[String]) -> (usize, Vec<&String>) {
    let table = Table::shipped();
    let (mut readable, mut refused, mut wrong) = (0, Vec::new(), Vec::new());
    for line in lines {
        let judgement = judge(line, &table, Trust::default());
        if valid(line) {
            readable += 1;
            if judgement.problem.is_some() {
                refused.push(line);
            }
        } else if judgement.verdict == Verdict::Read {
            wrong.push(line);
        }
    }
    assert!(wrong.is_empty(), "bash cannot read these: {wrong:#?}");
    (readable, refused)
}

#[test]
fn what_bash_cannot_read_is_not_judged_read_and_harmless_lines_are_not_refused() {
    let all = lines();
    compare(&all);
    compare(&further());
    let harmless: Vec<String> = rows("should-allow.jsonl").into_iter().map(|(_, line)| line).collect();
    let (readable, refused) = compare(&harmless);
    assert_eq!((readable, refused), (harmless.len(), Vec::new()));
}

#[test]
fn neither_is_a_line_with_letters_changed() {
    let from = lines();
    let mut state = SEED;
    let made: Vec<String> = (0..MADE).map(|at| changed(&mut state, &from[at % from.len()])).collect();
    let (readable, refused) = compare(&made);
    println!("bash can read {readable} of {MADE}; of those our reader refuses {}", refused.len());
    for line in &refused {
        println!("  {line:?}");
    }
    assert!(readable > MADE / 4, "{readable}");
    assert!(refused.len() * 1000 <= readable * REFUSED, "{} of {readable}", refused.len());
}
