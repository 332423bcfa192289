//! Lines within a line: texts that one of its programs may run.

use phasegate_core::calls::analysis::{Guarded, Verdict};
use phasegate_shell::{Judgement, Part, Pattern, Table, Trust, judge};

use crate::analysis::own::guard_files::Place;
use crate::analysis::paths::arguments::is_one_of;

/// Programs that run what they read.
const SHELLS: [&str; 9] = ["sh", "bash", "dash", "zsh", "ksh", "ash", "busybox", "at", "batch"];
/// Commands of the guard that only a client gives.
const GUARD: [&str; 3] = ["hook", "serve", "mcp"];
/// The most places of one command at which a line within it may begin.
const MOST_PLACES: usize = 16;
/// What feeds a shell with the text behind it.
const HERE: &str = "<<<";

/// Programs that run what they are given, in a way that the table of programs does not know.
const LAUNCHERS: [&str; 22] = [
    "strace",
    "ltrace",
    "gdb",
    "tmux",
    "screen",
    "script",
    "at",
    "batch",
    "crontab",
    "parallel",
    "xvfb-run",
    "dbus-run-session",
    "unbuffer",
    "expect",
    "watch",
    "entr",
    "firejail",
    "bwrap",
    "unshare",
    "systemd-run",
    "su",
    "setpriv",
];

/// A line within a line.
struct Text {
    line: String,
    /// Whether it surely is one that is run. Other words may as well be a program's own: `plot.py pi 3`.
    runs: bool,
}

impl Place<'_> {
    /// By the clients that texts of the line start, and the messages to the guard that they send.
    pub(in crate::analysis) fn within(&self, judged: &Judgement, line: &str) -> Vec<Guarded> {
        let begins = |word: &str| self.names_client(word) || GUARD.contains(&word);
        let found = texts(judged, line, begins).into_iter().flat_map(|text| {
            let inner = judge(&text.line, &Table::shipped(), Trust::default());
            let clients = if text.runs { self.clients(&inner, &text.line) } else { Vec::new() };
            self.forged(&inner).into_iter().chain(clients).collect::<Vec<_>>()
        });
        found.collect()
    }
}

/// What may be run as a line of its own: the arguments of a program that is not known to do something else, each alone, and
/// from one that may be a program which matters here; and where a shell reads what the line says, the words of every part.
fn texts(judged: &Judgement, line: &str, begins: impl Fn(&str) -> bool) -> Vec<Text> {
    let opaque = |part: &&Part| matches!(part.command.verdict, Verdict::Execute | Verdict::Unknown);
    let mut found = Vec::new();
    for part in judged.parts.iter().filter(opaque) {
        let runs = is_one_of(part, &LAUNCHERS);
        let words = arguments(part);
        let blank = words.iter().filter(|word| word.contains(' ')).cloned();
        let places = (0..words.len()).filter(|at| words.iter().skip(*at).take(2).any(|word| begins(word)));
        let from = places.take(MOST_PLACES).filter_map(|from| Some(joined(words.get(from..)?)));
        let spoken = words.iter().flat_map(|word| spoken(word, &begins));
        found.extend(blank.chain(from).map(|line| Text { line, runs }));
        found.extend(spoken.take(MOST_PLACES).map(|line| Text { line, runs: false }));
    }
    if judged.parts.iter().any(|part| is_one_of(part, &SHELLS)) {
        let said = judged.parts.iter().map(|part| arguments(part).join(" "));
        let here = line.split(HERE).skip(1).map(|text| text.trim().trim_matches(['\'', '"']).to_owned());
        found.extend(said.chain(here).map(|line| Text { line, runs: true }));
    }
    found
}

/// The lines that a program's text may start, whatever its language is: from each name at which one begins, the words on the
/// same line of the text. Of its options only long ones count: `x - 1` has none.
fn spoken(text: &str, begins: impl Fn(&str) -> bool) -> Vec<String> {
    let is_sign = |sign: char| !sign.is_alphanumeric() && !"_./@=-".contains(sign);
    let is_word = |word: &&str| !word.is_empty() && (!word.starts_with('-') || word.starts_with("--"));
    let mut found = Vec::new();
    for line in text.lines() {
        let words: Vec<String> = line.split(is_sign).filter(is_word).map(str::to_owned).collect();
        let at = words.iter().position(|word| begins(word));
        found.extend(at.and_then(|at| words.get(at..)).filter(|words| words.len() > 1).map(joined));
    }
    found
}

/// The arguments that are wholly known.
fn arguments(part: &Part) -> Vec<String> {
    part.words.iter().skip(1).filter_map(Pattern::text).collect()
}

/// The words as a line of which each is one word.
pub(in crate::analysis) fn joined(words: &[String]) -> String {
    let quoted: Vec<String> = words.iter().map(|word| format!("'{}'", word.replace('\'', r"'\''"))).collect();
    quoted.join(" ")
}
