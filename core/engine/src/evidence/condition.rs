//! Conditions over facts: what completes a phase, opens an edge or admits to a phase.

use core::fmt;

use serde::{Deserialize, Serialize};

use crate::calls::outcome::CallOutcome;
use crate::evidence::artifact::ArtifactTest;
use crate::evidence::fact::FactKey;
use crate::evidence::object::Same;
use crate::policy::matcher::{Matcher, Use};
use crate::prelude::*;
use crate::shell::test_report::{Runner, TestReport, Through};
use crate::values::glob::in_words;

pub use crate::evidence::content::{Content, Gate};
pub use crate::evidence::fact_test::{Comparison, FactTest, Truth};

/// A condition as compiled.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Condition {
    /// All of these hold. Holds when empty.
    All(Vec<Condition>),
    /// One of these holds.
    Any(Vec<Condition>),
    /// This does not hold.
    Not(Box<Condition>),
    /// A call that matches ended as wanted.
    Call(CallTest),
    /// A fact is as wanted.
    Fact(FactTest),
    /// A person approved this name in the run.
    Approved(Gate),
    /// Something is as it was when the visit began.
    Unchanged(UnchangedTest),
    /// An artifact of the run is there.
    Artifact(ArtifactTest),
    /// The agent said so in this visit.
    Says(SaysTest),
}

/// A condition on the agent's own words: a message of the present visit that a pattern fits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaysTest {
    /// Its number within the skill; evidence is kept by it.
    pub atom: u32,
    /// The fact that tells whether the message of an event says so.
    pub fact: FactKey,
    /// It in words.
    pub text: String,
}

/// A condition on what has not changed since the visit of a phase began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnchangedTest {
    /// Its number within the skill; what there was at the beginning is kept by it.
    pub atom: u32,
    /// What has to be as it was.
    pub content: Content,
}

/// A condition on the outcome of a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CallTest {
    /// Its number within the skill; evidence is kept by it.
    pub atom: u32,
    /// The outcome that counts.
    pub wanted: Wanted,
    /// Which calls count.
    pub matcher: Matcher,
    /// What has to be as it was when the call was decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unchanged: Option<Box<Content>>,
    /// The files in which what the call wrote has to stand as it wrote it, as far as its arguments say what that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Box<Content>>,
    /// What the call has to have in common with the one that is judged.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub same: Vec<Same>,
}

/// The outcomes that satisfy a [`CallTest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Exactly this outcome.
    Outcome(CallOutcome),
    /// It ran to its end: `ok` or `failed`.
    Ended,
    /// It ran tests, and they ended so.
    Tests(TestsWanted),
    /// As `tests`, of one call, whose runner is known.
    Report(ReportWanted),
}

/// How the tests that a call ran must have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestsWanted {
    /// The result.
    pub result: TestsResult,
    /// Whether the policy names the command, and with it the selection of tests.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub selected: bool,
}

/// What a runner must report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportWanted {
    /// The result.
    pub result: TestsResult,
    /// The runner whose report counts.
    pub runner: Runner,
    /// Whether the command leaves out tests that have to pass.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub part: bool,
    /// Whether something else than the runner may print the report.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unsure: bool,
    /// How the report comes through a pipe, whose last command alone says how the line ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<Through>,
}

/// How tests ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestsResult {
    /// At least one ran, none failed, and the exit status is 0.
    Passed,
    /// At least one failed.
    Failed,
    /// They could not be built or collected.
    Broken,
}

impl TestsResult {
    /// The word of a config.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Broken => "broken",
        }
    }

    /// The outcome of a call that ends so.
    pub fn outcome(self) -> CallOutcome {
        if self == Self::Passed { CallOutcome::Ok } else { CallOutcome::Failed }
    }
}

impl ReportWanted {
    /// Whether a call that ended so may be what is wanted. Through a pipe, a failure may end in any way.
    fn accepts(self, outcome: CallOutcome) -> bool {
        let fails = self.result != TestsResult::Passed;
        match outcome {
            CallOutcome::Ok if fails => self.through.is_some(),
            outcome => outcome == self.result.outcome(),
        }
    }

    /// Whether the reports of a call that ended so prove it.
    fn proven_by(self, reports: &[TestReport]) -> bool {
        let counted = Counted::of(self.runner, reports);
        match self.result {
            // A recipe that runs no test may print what looks like a report.
            TestsResult::Passed => {
                let seen = self.sees_success(&counted);
                self.runner != Runner::Make && seen && !self.part && counted.left_out == 0
            }
            TestsResult::Failed => counted.failed > 0,
            TestsResult::Broken => counted.broken && counted.failed == 0,
        }
    }

    /// Whether the report says that all went well. Without an exit status that takes the runner's last word.
    fn sees_success(self, counted: &Counted) -> bool {
        let last = self
            .through
            .is_none_or(|through| through == Through::End && self.runner.ends_with_summary() && !counted.unsuccessful);
        counted.passed() && last
    }

    /// Whether a failed test is wanted, and the tests could not be built or collected.
    pub(crate) fn only_broken(self, reports: &[TestReport]) -> bool {
        let counted = Counted::of(self.runner, reports);
        self.result == TestsResult::Failed && counted.broken && counted.failed == 0
    }

    /// Whether the reports of a later call say that it does not hold any more.
    fn undone_by(self, outcome: CallOutcome, reports: &[TestReport]) -> bool {
        let counted = Counted::of(self.runner, reports);
        let fails = outcome == CallOutcome::Failed || (self.through.is_some() && outcome == CallOutcome::Ok);
        let failed = fails && counted.failed > 0;
        let broken = fails && counted.broken;
        match self.result {
            TestsResult::Passed => failed || broken,
            // That a test failed stays true: it is the code's turn to change that.
            TestsResult::Failed | TestsResult::Broken => false,
        }
    }
}

/// The reports of one run, added up.
#[derive(Default)]
struct Counted {
    passed: u64,
    failed: u64,
    left_out: u64,
    broken: bool,
    unsuccessful: bool,
}

impl Counted {
    fn of(runner: Runner, reports: &[TestReport]) -> Self {
        let own = reports.iter().filter(|report| runner.reports_as(report.runner));
        own.fold(Self::default(), |sum, report| Self {
            passed: sum.passed.saturating_add(report.passed),
            failed: sum.failed.saturating_add(report.failed),
            left_out: sum.left_out.saturating_add(report.left_out),
            broken: sum.broken || report.broken,
            unsuccessful: sum.unsuccessful || report.unsuccessful,
        })
    }

    /// Whether at least one test passed, and none failed.
    fn passed(&self) -> bool {
        self.passed > 0 && self.failed == 0 && !self.broken
    }
}

impl Default for Wanted {
    fn default() -> Self {
        Self::Outcome(CallOutcome::Ok)
    }
}

impl Wanted {
    /// The word of a config.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ended => "ended",
            Self::Outcome(outcome) => outcome.word(),
            Self::Tests(tests) => tests.result.word(),
            Self::Report(report) => report.result.word(),
        }
    }

    /// Whether a call that ends so, with these reports of tests, is what is wanted.
    pub fn proven_by(self, outcome: CallOutcome, reports: &[TestReport]) -> bool {
        match self {
            Self::Report(report) => self.accepts(outcome) && !report.unsure && report.proven_by(reports),
            Self::Tests(_) => false,
            Self::Outcome(_) | Self::Ended => self.accepts(outcome),
        }
    }

    /// Whether a later call that ends so, with these reports of tests, takes the proof back.
    pub fn undone_by(self, outcome: CallOutcome, reports: &[TestReport]) -> bool {
        match self {
            Self::Report(report) => report.undone_by(outcome, reports),
            Self::Outcome(CallOutcome::Ok) => outcome == CallOutcome::Failed,
            Self::Outcome(CallOutcome::Failed) => outcome == CallOutcome::Ok,
            Self::Outcome(_) | Self::Ended | Self::Tests(_) => false,
        }
    }

    /// Whether `outcome` is what is wanted, or has to be.
    pub fn accepts(self, outcome: CallOutcome) -> bool {
        match self {
            Self::Outcome(wanted) => wanted == outcome,
            Self::Ended => matches!(outcome, CallOutcome::Ok | CallOutcome::Failed),
            Self::Tests(tests) => tests.result.outcome() == outcome,
            Self::Report(report) => report.accepts(outcome),
        }
    }
}

impl Condition {
    /// Calls `visit` with every call test in the condition, in order.
    pub fn each_call<'a>(&'a self, visit: &mut dyn FnMut(&'a CallTest)) {
        self.each_use(Use::Permit, &mut |test, _| visit(test));
    }

    /// Calls `visit` with every call test in the condition, in order, and with what a match means there: under `not` a call
    /// that is in doubt matches.
    pub fn each_use<'a>(&'a self, used: Use, visit: &mut dyn FnMut(&'a CallTest, Use)) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.each_use(used, visit)),
            Self::Not(inner) => inner.each_use(used.turned(), visit),
            Self::Call(test) => visit(test, used),
            Self::Fact(_) | Self::Approved(_) | Self::Unchanged(_) | Self::Artifact(_) | Self::Says(_) => {}
        }
    }

    /// Whether it asks for what a call wrote.
    pub fn asks_what_was_written(&self) -> bool {
        let mut asks = false;
        self.each_call(&mut |test| asks |= test.written.is_some());
        asks
    }

    /// Calls `visit` with every condition in it that has no parts, in order.
    pub fn each_leaf<'a>(&'a self, visit: &mut dyn FnMut(&'a Self)) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.each_leaf(visit)),
            Self::Not(inner) => inner.each_leaf(visit),
            leaf => visit(leaf),
        }
    }

    /// Calls `visit` with all that has to be as it was when the visit began, in order.
    pub fn each_unchanged<'a>(&'a self, visit: &mut dyn FnMut(&'a UnchangedTest)) {
        self.each_leaf(&mut |leaf| {
            if let Self::Unchanged(test) = leaf {
                visit(test);
            }
        });
    }

    /// Whether it compares files with what they were, which takes longer than anything else that a condition asks for.
    pub fn compares_files(&self) -> bool {
        let mut compares = false;
        self.each_leaf(&mut |leaf| {
            compares |= match leaf {
                Self::Call(test) => test.unchanged.is_some() || test.written.is_some(),
                leaf => matches!(leaf, Self::Unchanged(_) | Self::Artifact(_)),
            };
        });
        compares
    }

    /// Calls `visit` with every approval that the condition asks for, in order.
    pub fn each_gate<'a>(&'a self, visit: &mut dyn FnMut(&'a Gate)) {
        self.each_leaf(&mut |leaf| {
            if let Self::Approved(gate) = leaf {
                visit(gate);
            }
        });
    }

    /// Calls `visit` with all that the agent has to say, in order.
    pub fn each_says<'a>(&'a self, visit: &mut dyn FnMut(&'a SaysTest)) {
        self.each_leaf(&mut |leaf| {
            if let Self::Says(test) = leaf {
                visit(test);
            }
        });
    }

    /// Whether it asks for an artifact of this name.
    pub fn asks_for(&self, artifact: &str) -> bool {
        let mut asks = false;
        self.each_leaf(&mut |leaf| asks |= matches!(leaf, Self::Artifact(test) if test.name == artifact));
        asks
    }
}

/// What is called, without what has to be as it was.
impl fmt::Display for CallTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.wanted {
            Wanted::Tests(tests) if tests.selected => {
                write!(f, "tests: {} ({})", tests.result.word(), self.matcher.text)
            }
            Wanted::Tests(tests) => write!(f, "tests: {}", tests.result.word()),
            wanted => write!(f, "{}: {}", wanted.word(), self.matcher.text),
        }
    }
}

/// The condition in the words of a config, on one line.
impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All(parts) => joined(f, parts, " and "),
            Self::Any(parts) => joined(f, parts, " or "),
            Self::Not(inner) => write!(f, "not ({inner})"),
            Self::Call(test) => match &test.unchanged {
                Some(files) => write!(f, "{test}, unchanged: {}", in_words(&files.text)),
                None => test.fmt(f),
            },
            Self::Unchanged(test) => write!(f, "unchanged: {}", in_words(&test.content.text)),
            Self::Approved(Gate { name, content: None }) => write!(f, "approved: {name}"),
            Self::Approved(Gate { name, content: Some(content) }) => write!(f, "approved: {name} ({})", content.text),
            Self::Artifact(test) => test.fmt(f),
            Self::Fact(test) => f.write_str(&test.text),
            Self::Says(test) => write!(f, "says: {}", test.text),
        }
    }
}

fn joined(f: &mut fmt::Formatter<'_>, parts: &[Condition], joint: &str) -> fmt::Result {
    for (index, part) in parts.iter().enumerate() {
        let before = if index == 0 { "" } else { joint };
        write!(f, "{before}{part}")?;
    }
    Ok(())
}
