//! Texts of rules in a program that cannot read them: they deny.

use std::ops::Range;

use phasegate_history::Leaf;
use phasegate_rules::{Rule, ToolShape};

use crate::packs::Pack;
use crate::report::Finding;

/// Reads no texts of rules.
pub(super) enum Reader {}

/// What a text of rules says.
pub(super) struct Read {
    /// The rules, each with its bytes.
    pub(super) rules: Vec<(Rule, Range<usize>)>,
    /// The conditions over what happened before that they read.
    pub(super) history: Vec<Leaf>,
    /// What is wrong, and whether it is an error.
    pub(super) findings: Vec<(Finding, bool)>,
}

impl Reader {
    /// There is none.
    pub(super) fn new(_: &[ToolShape]) -> Result<Self, String> {
        Err(why())
    }

    pub(super) fn read(&self, _: &str) -> Read {
        match *self {}
    }

    pub(super) fn read_pack(&self, _: &Pack) -> Read {
        match *self {}
    }
}

fn why() -> String {
    "this program was built without the feature `rules`, so it cannot read rules".to_string()
}

/// Nothing can be said.
pub(super) fn schema(_: &[ToolShape]) -> Result<String, String> {
    Err(why())
}
