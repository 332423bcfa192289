//! What a policy asks about calls, so that only that is looked at.

use alloc::collections::{BTreeMap, BTreeSet};

use crate::calls::analysis::Access;
use crate::policy::matcher::{ArgIs, Matcher};
use crate::policy::{Policy, Skill};
use crate::prelude::*;
use crate::values::glob::Glob;

impl Policy {
    /// Whether a condition asks for what a call wrote.
    pub fn asks_what_was_written(&self) -> bool {
        self.skills.iter().chain(&self.earlier).any(Skill::asks_what_was_written)
    }

    /// The files of which a line asks whether a call reads them.
    pub fn asked_to_be_read(&self) -> Vec<&Glob> {
        let mut found = Vec::new();
        self.each_line(&mut |line| {
            let reads = line.paths.iter().filter(|test| test.access == Access::Read);
            found.extend(reads.map(|test| &test.pattern));
        });
        found
    }

    /// The headings below which a line asks for words, by the path to the argument.
    pub fn asked_sections(&self) -> BTreeMap<&str, BTreeSet<&str>> {
        let mut found: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        self.each_line(&mut |line| {
            for test in &line.args {
                if let ArgIs::Section(section) = &test.is {
                    found.entry(&test.path).or_default().insert(&section.heading);
                }
            }
        });
        found
    }

    /// Whether a line asks what code a call adds to a file.
    pub fn asks_for_code(&self) -> bool {
        let mut asks = false;
        self.each_line(&mut |line| asks |= line.paths.iter().any(|test| test.adds));
        asks
    }

    fn each_line<'a>(&'a self, visit: &mut dyn FnMut(&'a Matcher)) {
        self.skills.iter().chain(&self.earlier).for_each(|skill| skill.each_matcher(visit));
    }
}
