//! The truth of tests of arguments that are not known any more.

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;

use serde::{Deserialize, Serialize};

use crate::value::Truth;

/// What is known of the tests of a call whose arguments are not known any more: all that do not hold are absent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Known(BTreeMap<String, Truth>);

impl Known {
    /// Whether no test held.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes what a test of a rule says of a part of the call.
    pub(crate) fn note(&mut self, rule: &str, part: usize, test: u16, truth: Truth) {
        if !truth.is_no() {
            self.0.insert(key(rule, part, test), truth);
        }
    }

    pub(crate) fn of(&self, rule: &str, part: usize, test: u16) -> Truth {
        self.0.get(&key(rule, part, test)).copied().unwrap_or(Truth::No)
    }
}

fn key(rule: &str, part: usize, test: u16) -> String {
    format!("{rule} {part} {test}")
}
