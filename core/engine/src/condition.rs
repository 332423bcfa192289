//! Conditions over facts: what completes a phase, opens an edge or admits to a phase.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::event::Outcome;
use crate::fact::{Fact, FactKey, FactValue, Source};
use crate::matcher::Matcher;

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
    /// A file is as wanted.
    File(FileTest),
    /// A person approved this name.
    Approved(String),
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
}

/// The outcomes that satisfy a [`CallTest`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wanted {
    /// Exactly this outcome.
    Outcome(Outcome),
    /// It ran to its end: `ok` or `failed`.
    Ended,
}

impl Default for Wanted {
    fn default() -> Self {
        Self::Outcome(Outcome::Ok)
    }
}

impl Wanted {
    /// Whether only success is wanted, which is the default.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        *self == Self::default()
    }

    /// Whether `outcome` is what is wanted.
    #[must_use]
    pub fn accepts(self, outcome: Outcome) -> bool {
        match self {
            Self::Outcome(wanted) => wanted == outcome,
            Self::Ended => matches!(outcome, Outcome::Ok | Outcome::Failed),
        }
    }
}

/// A condition on a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileTest {
    /// The file, relative to the project.
    pub path: String,
    /// What it must be.
    pub is: FileIs,
}

/// What a file must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileIs {
    /// It exists (`true`) or not (`false`).
    Exists(bool),
    /// Its bytes have this digest.
    Sha256(String),
    /// A text occurs in it at least and at most so often.
    Contains {
        /// The text that is counted, byte for byte, without overlaps.
        text: String,
        /// The least number of times.
        at_least: u64,
        /// The greatest number of times, if there is one.
        at_most: Option<u64>,
    },
}

impl FileTest {
    /// What must be known to decide the test.
    #[must_use]
    pub fn key(&self) -> FactKey {
        match &self.is {
            FileIs::Exists(_) | FileIs::Sha256(_) => FactKey::File(self.path.clone()),
            FileIs::Contains { text, .. } => FactKey::Count { path: self.path.clone(), text: text.clone() },
        }
    }

    /// The test's truth, given the answer to [`FileTest::key`].
    #[must_use]
    pub fn truth(&self, fact: &Fact) -> Truth {
        if fact.source == Source::Agent {
            return Truth::Unknown;
        }
        match (&self.is, &fact.value) {
            (_, FactValue::Unknown) | (FileIs::Sha256(_) | FileIs::Exists(_), FactValue::Count(_)) => Truth::Unknown,
            (FileIs::Exists(wanted), FactValue::File(_)) => Truth::of(*wanted),
            (FileIs::Exists(wanted), FactValue::Absent) => Truth::of(!*wanted),
            (FileIs::Sha256(wanted), FactValue::File(digest)) => Truth::of(wanted == digest),
            (FileIs::Sha256(_) | FileIs::Contains { .. }, FactValue::Absent) => Truth::No,
            (FileIs::Contains { at_least, at_most, .. }, FactValue::Count(count)) => {
                Truth::of(count >= at_least && at_most.is_none_or(|most| *count <= most))
            }
            (FileIs::Contains { .. }, FactValue::File(_)) => Truth::Unknown,
        }
    }
}

/// Whether a condition holds. What is not known satisfies nothing, and neither does its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// It does not hold.
    No,
    /// Nobody knows.
    Unknown,
    /// It holds.
    Yes,
}

impl Truth {
    /// `Yes` for `true`, `No` for `false`.
    #[must_use]
    pub fn of(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }

    /// Whether the condition holds for certain.
    #[must_use]
    pub fn holds(self) -> bool {
        self == Self::Yes
    }

    /// The opposite; what is not known stays so.
    #[must_use]
    pub fn negated(self) -> Self {
        match self {
            Self::No => Self::Yes,
            Self::Unknown => Self::Unknown,
            Self::Yes => Self::No,
        }
    }
}

impl Condition {
    /// Calls `visit` with every call test in the condition, in order.
    pub fn each_call<'a>(&'a self, visit: &mut dyn FnMut(&'a CallTest)) {
        match self {
            Self::All(parts) | Self::Any(parts) => parts.iter().for_each(|part| part.each_call(visit)),
            Self::Not(inner) => inner.each_call(visit),
            Self::Call(test) => visit(test),
            Self::File(_) | Self::Approved(_) => {}
        }
    }
}
