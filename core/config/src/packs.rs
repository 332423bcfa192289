//! The packs of rules that ship with phasegate. They hold where a settings file names them under `rules`.

use phasegate_history::Leaf;
use phasegate_rules::Rule;
use serde::{Deserialize, Serialize};

/// A pack of rules that ships with phasegate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pack {
    /// Its name.
    pub name: &'static str,
    /// Its rules, in Cedar or, where they ask for what happened before, in Dogwood; the comment at the beginning says what
    /// it is for.
    pub text: &'static str,
    /// The same as JSON of [`Lowered`], where the text is no Cedar: reading it needs no compiler of Dogwood.
    lowered: Option<&'static str>,
}

/// Rules, with the conditions over what happened before that they read.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lowered {
    /// The rules.
    pub rules: Vec<Rule>,
    /// The conditions.
    pub history: Vec<Leaf>,
}

/// A pack whose rules are about the call alone.
macro_rules! plain {
    ($name:literal) => {
        Pack { name: $name, text: include_str!(concat!("../packs/", $name, ".cedar")), lowered: None }
    };
}

/// A pack whose rules ask for what happened before.
macro_rules! temporal {
    ($name:literal) => {
        Pack {
            name: $name,
            text: include_str!(concat!("../packs/", $name, ".cedar")),
            lowered: Some(include_str!(concat!("../packs/lowered/", $name, ".json"))),
        }
    };
}

const PACKS: &[Pack] = &[
    temporal!("edit-budget"),
    plain!("no-force-push"),
    temporal!("no-network-after-secrets"),
    temporal!("one-migration-at-a-time"),
    plain!("protect-secrets"),
    plain!("read-only-production"),
    temporal!("tests-before-push"),
];

/// Every pack, sorted by name.
#[must_use]
pub fn packs() -> &'static [Pack] {
    PACKS
}

impl Pack {
    /// Its rules as data; `None`: its text is plain Cedar.
    #[must_use]
    pub fn lowered(&self) -> Option<Lowered> {
        // A test reads each of them.
        self.lowered
            .map(|text| serde_json::from_str(text).unwrap_or(Lowered { rules: Vec::new(), history: Vec::new() }))
    }

    /// What it is for, in a sentence.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        self.text.lines().next().and_then(|line| line.strip_prefix("// ")).unwrap_or_default()
    }
}
