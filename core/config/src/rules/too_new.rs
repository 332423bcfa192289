//! Texts of rules in a program that cannot read them: they deny.

use std::collections::BTreeMap;

use phasegate_core::rules::rule_fact::RuleFact;
use phasegate_rules::ToolShape;

use super::read::Read;

/// Reads no texts of rules.
pub(super) enum Reader {}

impl Reader {
    /// There is none.
    pub(super) fn new(_: &[ToolShape]) -> Result<Self, String> {
        Err(why())
    }

    pub(super) fn read(&self, _: &str, _: &BTreeMap<String, RuleFact>) -> Read {
        match *self {}
    }
}

fn why() -> String {
    "this program was built without the feature `rules`, so it cannot read rules".to_string()
}

/// Nothing can be said.
pub(super) fn schema(_: &[ToolShape], _: &BTreeMap<String, RuleFact>) -> Result<String, String> {
    Err(why())
}
