//! Fact tests: a fact compared with what a condition wants.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::evidence::fact::{Fact, FactKey, FactValue, Source};
use crate::prelude::*;

/// A condition on a fact.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FactTest {
    /// The fact.
    pub fact: FactKey,
    /// What it must be.
    pub is: Comparison,
    /// The condition in words, for agents, for example `file plan.md exists`.
    pub text: String,
}

/// What a fact must be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// What the fact is about exists (`true`) or not (`false`).
    Exists(bool),
    /// Its value is equal to this one.
    Equals(Value),
    /// Its value is a number within these bounds.
    Within {
        /// The least value.
        at_least: u64,
        /// The greatest value, if there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        at_most: Option<u64>,
    },
}

impl FactTest {
    /// The test's truth, given the fact that it asks for.
    pub fn truth(&self, fact: &Fact) -> Truth {
        if fact.source == Source::Agent {
            return Truth::Unknown;
        }
        match (&self.is, &fact.value) {
            (_, FactValue::Unknown) => Truth::Unknown,
            (Comparison::Exists(wanted), FactValue::Known(_)) => Truth::of(*wanted),
            (Comparison::Exists(wanted), FactValue::Absent) => Truth::of(!*wanted),
            (Comparison::Equals(_) | Comparison::Within { .. }, FactValue::Absent) => Truth::No,
            (Comparison::Equals(wanted), FactValue::Known(value)) => Truth::of(wanted == value),
            (Comparison::Within { at_least, at_most }, FactValue::Known(value)) => match value.as_u64() {
                Some(number) => Truth::of(number >= *at_least && at_most.is_none_or(|most| number <= most)),
                None => Truth::Unknown,
            },
        }
    }
}

/// Whether a condition holds. What is not known satisfies nothing, and neither does its negation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// It does not hold.
    No,
    /// It is unknown.
    Unknown,
    /// It holds.
    Yes,
}

impl Truth {
    /// `Yes` for `true`, `No` for `false`.
    pub fn of(yes: bool) -> Self {
        if yes { Self::Yes } else { Self::No }
    }

    /// Whether the condition holds for certain.
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

/// How often something must be there, in words.
pub fn times(at_least: u64, at_most: Option<u64>) -> String {
    match (at_least, at_most) {
        (1, None) => "at least once".to_string(),
        (least, None) => format!("at least {least} times"),
        (0, Some(most)) => format!("at most {most} times"),
        (least, Some(most)) if least == most => format!("exactly {least} times"),
        (least, Some(most)) => format!("{least} to {most} times"),
    }
}
