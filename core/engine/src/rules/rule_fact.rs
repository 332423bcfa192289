//! Facts of rules, as they are stored: what each asks of earlier calls (rules 4.10).

use serde::{Deserialize, Serialize};

use crate::policy::matcher::Matcher;
use crate::policy::scope::Scope;
use crate::prelude::*;
use crate::state::redacted_tests::digest;

/// A fact that rules read as `context.facts.NAME`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleFact {
    /// What rules and the state know it by: facts that mean the same have the same key.
    pub key: String,
    /// What it asks.
    pub asks: AskedOfCalls,
    /// Whose calls count: the session's, or those of all sessions of the project.
    pub scope: Scope,
    /// How far it looks back, in milliseconds; `None`: to the beginning of the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<i64>,
}

/// What a fact asks of earlier calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AskedOfCalls {
    /// Whether the whole suite passed, and no later run failed or could not be built.
    Passed {
        /// Whether a change of the project's files ends it.
        unchanged: bool,
    },
    /// How many parts of calls that one of these lines means were let through.
    Count(Vec<Matcher>),
    /// Whether a call that one of these lines means was let through and has not ended.
    Running(Vec<Matcher>),
}

impl RuleFact {
    /// A fact under the key that says what it means.
    pub fn new(asks: AskedOfCalls, scope: Scope, within: Option<i64>) -> Self {
        // A value of these types is always JSON.
        let key = digest(&serde_json::to_value((&asks, scope, within)).unwrap_or_default());
        Self { key, asks, scope, within }
    }

    /// Whether it is a whole number, and not true or false.
    pub fn is_number(&self) -> bool {
        matches!(self.asks, AskedOfCalls::Count(_))
    }

    /// Whether a change of the project's files ends it.
    pub(crate) fn ends_by_change(&self) -> bool {
        self.asks == AskedOfCalls::Passed { unchanged: true }
    }

    /// The lines of which it asks.
    pub fn lines(&self) -> &[Matcher] {
        match &self.asks {
            AskedOfCalls::Passed { .. } => &[],
            AskedOfCalls::Count(lines) | AskedOfCalls::Running(lines) => lines,
        }
    }
}
