//! Conditions over facts: what completes a phase, opens an edge or admits to a phase.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::matcher::Matcher;
use crate::outcome::CallOutcome;

pub use crate::fact_test::{Comparison, FactTest, Truth};

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
    #[serde(alias = "file")]
    Fact(FactTest),
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
    Outcome(CallOutcome),
    /// It ran to its end: `ok` or `failed`.
    Ended,
}

impl Default for Wanted {
    fn default() -> Self {
        Self::Outcome(CallOutcome::Ok)
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
    pub fn accepts(self, outcome: CallOutcome) -> bool {
        match self {
            Self::Outcome(wanted) => wanted == outcome,
            Self::Ended => matches!(outcome, CallOutcome::Ok | CallOutcome::Failed),
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
            Self::Fact(_) | Self::Approved(_) => {}
        }
    }
}
