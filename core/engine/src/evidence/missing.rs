//! What is missing: the parts of a condition that do not hold, as calls, as names for a person, and in words.

use alloc::collections::BTreeMap;

use crate::answers::phrase;
use crate::evidence::condition::{CallTest, Gate};
use crate::policy::Phase;
use crate::prelude::*;
use crate::state::{Children, Run};

/// What keeps a condition from holding.
#[derive(Default)]
pub(crate) struct Missing<'p> {
    /// The calls whose outcome would help.
    pub(crate) calls: Vec<&'p CallTest>,
    /// What a person is to approve.
    pub(crate) gates: Vec<&'p Gate>,
    /// Whether something else is missing too.
    pub(crate) more: bool,
    /// The parts that do not hold, in the words of a config.
    pub(crate) words: Vec<String>,
    /// The same as phrases.
    pub(crate) phrases: Vec<String>,
    /// The files of artifacts that have not their format, each with why.
    pub(crate) format_faults: BTreeMap<String, String>,
}

impl Missing<'_> {
    /// The ends of the runs that a phase consists of.
    pub(crate) fn of_runs(phase: &Phase, run: &Run) -> Self {
        let children = run.children;
        let Some(runs) = phase.run.as_ref().filter(|_| children != Children::Gate) else { return Self::default() };
        if let Some(progress) = &run.plan {
            let left: Vec<&str> = progress.left().map(|element| element.id.as_str()).collect();
            let words = phrase::of_elements(&left, children == Children::Failed);
            return Self {
                words: Vec::from([words.clone()]),
                phrases: Vec::from([words]),
                more: true,
                ..Self::default()
            };
        }
        let names: Vec<String> = runs.each.iter().map(|run| format!("`{}`", run.skill)).collect();
        let one = if names.len() > 1 { ", and one of them failed" } else { ", and it failed" };
        let failed = if children == Children::Failed { one } else { "" };
        let words = format!("runs of {}{failed}", names.join(", "));
        let phrases = format!("{}{failed}", phrase::of_runs(&names, runs.parallel));
        Self { words: Vec::from([words]), phrases: Vec::from([phrases]), more: true, ..Self::default() }
    }

    /// Whether nothing but a person's word is missing.
    pub(crate) fn is_persons(&self) -> bool {
        !self.gates.is_empty() && self.calls.is_empty() && !self.more
    }
}
