//! Trials: one case held against one thing, and what did not match.

use serde_json::Value;

/// What a trial checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Check {
    /// Neutral events to decisions.
    Decide,
    /// Recorded frames to neutral events.
    Decode,
    /// Decisions to the bytes the client gets.
    Encode,
    /// A recorded session through the real binary.
    Session,
    /// Shell lines to verdicts.
    Judge,
    /// The suite itself: every file used, every cell filled, every entry needed.
    Suite,
}

impl Check {
    /// The word that trials' names begin with, and that reports show.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Decide => "decide",
            Self::Decode => "decode",
            Self::Encode => "encode",
            Self::Session => "session",
            Self::Judge => "judge",
            Self::Suite => "suite",
        }
    }
}

/// One case held against one thing.
pub struct Trial {
    /// Its name, the same in every run: `decide/evidence/failed-call`.
    pub id: String,
    /// Which of the checks it belongs to.
    pub check: Check,
    /// The adapter it belongs to; `None` for what is the same on every platform.
    pub adapter: Option<String>,
    /// The folder of its case, below `cases/`, by which runs are selected.
    pub area: String,
    /// Finds what does not match.
    pub run: Box<dyn Fn() -> Vec<Mismatch> + Send + Sync>,
}

/// Something that is not as expected.
#[derive(Clone, Debug, PartialEq)]
pub struct Mismatch {
    /// Where in the case, for example `step 3`.
    pub place: String,
    /// What was compared, for example `decision`.
    pub field: String,
    /// The value that the case expects there; `null` for none.
    pub expected: Value,
    /// The value that came instead; `null` for none.
    pub got: Value,
}

impl Mismatch {
    /// A mismatch at a place of a case.
    #[must_use]
    pub fn new(place: &str, field: &str, expected: Value, got: Value) -> Self {
        Self { place: place.into(), field: field.into(), expected, got }
    }

    /// A case that cannot be run at all.
    #[must_use]
    pub fn broken(place: &str, problem: impl std::fmt::Display) -> Self {
        Self::new(place, "case", Value::from("a case that can be run"), Value::from(problem.to_string()))
    }
}

/// The outcome of a trial without its expected failures.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    /// What does not match and was not expected to fail, and entries that are not needed.
    pub mismatches: Vec<Mismatch>,
    /// How many mismatches are expected, with a reason.
    pub expected_failures: usize,
}

impl Verdict {
    /// Whether the trial passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.mismatches.is_empty()
    }
}
