//! A verdict against what really happened.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use phasegate_core::calls::analysis::{Verdict, Word};
use phasegate_shell::{Judgement, Table, Trust, judge};
use serde::Serialize;

use super::corpus::{Helpers, Line};
use super::difference::Change;
use super::sandbox::Truth;
use super::trace::{Executed, base};

/// Where programs of the system are.
const PROGRAMS: &[&str] = &[
    "/bin/",
    "/sbin/",
    "/usr/bin/",
    "/usr/sbin/",
    "/usr/local/bin/",
    "/usr/local/sbin/",
    "/usr/lib/",
    "/usr/libexec/",
    "/usr/local/libexec/",
];

/// One line, run and judged.
#[derive(Serialize)]
pub(super) struct Scored {
    pub(super) corpus: &'static str,
    pub(super) id: String,
    pub(super) cmd: String,
    pub(super) verdict: Verdict,
    pub(super) because: String,
    /// Whether bash can read the line.
    pub(super) valid: bool,
    /// What the line really did that reading does not.
    pub(super) effects: Vec<String>,
    /// Why the verdict `read` is wrong; empty where it is not `read`, or right.
    pub(super) wrong: Vec<String>,
    /// Programs that were asked for and are not there.
    pub(super) missing: BTreeSet<String>,
    /// Whether the time limit ended it.
    pub(super) timed_out: bool,
    /// How long reading and judging took.
    #[serde(skip)]
    pub(super) judged_in: Duration,
}

impl Scored {
    /// Whether the line was judged to only read.
    pub(super) fn is_read(&self) -> bool {
        self.verdict == Verdict::Read
    }

    /// Whether every program that it asked for was there.
    pub(super) fn ran(&self) -> bool {
        self.valid && self.missing.is_empty()
    }
}

/// Judges a line and compares.
pub(super) fn score(line: &Line, truth: Truth, valid: bool, helpers: &Helpers) -> Scored {
    let begin = Instant::now();
    let judgement = judge(&line.text, &Table::shipped(), Trust::default());
    let judged_in = begin.elapsed();
    let effects = effects(&truth, helpers);
    let mut wrong = Vec::new();
    if judgement.verdict == Verdict::Read {
        wrong.clone_from(&effects);
        wrong.extend(unexplained(&judgement, &truth, helpers));
        if !valid {
            wrong.push("bash cannot read it".into());
        }
    }
    Scored {
        corpus: line.corpus,
        id: line.id.clone(),
        cmd: line.text.clone(),
        verdict: judgement.verdict,
        because: judgement.because,
        valid,
        effects,
        wrong,
        missing: truth.trace.missing,
        timed_out: truth.timed_out,
        judged_in,
    }
}

/// What a line changed, in words: files that are no caches, signals, names, clocks.
pub(super) fn effects(truth: &Truth, helpers: &Helpers) -> Vec<String> {
    let cached = |change: &&Change| {
        let path = format!("{}/", change.path());
        helpers
            .caches
            .iter()
            .any(|cache| path.starts_with(cache.as_str()) || (cache.starts_with(&path) && is_new(change)))
    };
    let changes = truth.changes.iter().filter(|change| !cached(change)).map(|change| match change {
        Change::Created(path) => format!("created {path}"),
        Change::Changed(path) => format!("changed {path}"),
        Change::Deleted(path) => format!("deleted {path}"),
    });
    let own = |call: &&String| helpers.own_signals.contains(*call);
    changes.chain(truth.trace.other.iter().filter(|call| !own(call)).map(|call| format!("called {call}"))).collect()
}

/// A folder above a cache may be made for it.
fn is_new(change: &Change) -> bool {
    matches!(change, Change::Created(_))
}

/// Programs and connections that no part of the reading names.
fn unexplained(judgement: &Judgement, truth: &Truth, helpers: &Helpers) -> Vec<String> {
    let mut named: BTreeSet<&str> = BTreeSet::new();
    for part in &judgement.parts {
        // Wrappers that are no parts of their own are words of one.
        named.extend(part.command.words.iter().filter_map(|word| match word {
            Word::Known(text) => Some(base(text)),
            Word::Unknown | Word::Value => None,
        }));
    }
    let explained = |run: &&Executed| {
        let name = base(&run.path);
        let own = PROGRAMS.iter().any(|folder| run.path.starts_with(folder));
        own && (named.contains(name) || helpers.runs.get(&run.by).is_some_and(|helpers| helpers.contains(name)))
    };
    let runs =
        truth.trace.executed.iter().filter(|run| !explained(run)).map(|run| format!("ran {} ({})", run.path, run.by));
    let helped =
        |program: &str| helpers.runs.iter().any(|(by, runs)| named.contains(by.as_str()) && runs.contains(program));
    let explained = |program: &str| named.contains(program) || helped(program);
    let dark = truth.trace.connected.iter().filter(|(_, program)| !explained(program));
    runs.chain(dark.map(|(place, program)| format!("connected to {place} ({program})"))).collect()
}
