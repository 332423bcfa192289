//! Arguments that a record does not repeat: what was found out about them while they were there (rules 8.6).
//!
//! A record is decided again from what it holds. Where it holds a digest in place of an argument, the outcomes of the
//! tests that read the argument stand beside it, and are used in place of the tests.

use alloc::collections::BTreeMap;
use alloc::string::{String, ToString as _};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Whether a part of a matcher applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fit {
    /// It does not.
    No,
    /// It cannot be known: an argument is absent or of another type.
    Doubt,
    /// It does.
    Yes,
}

/// What was found out about the arguments of a call before some were left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redacted {
    /// The digest of all arguments, by which a result without an id is paired.
    pub digest: String,
    /// The outcome of each test that read what was left out, by the test as JSON.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outcomes: BTreeMap<String, Fit>,
}

impl Redacted {
    /// The outcome of a test of an argument, if it was left out. A test is known by its JSON.
    pub(crate) fn argument(&self, test: &impl Serialize) -> Option<Fit> {
        self.outcomes.get(&test_key(test)).copied()
    }

    /// The outcome of the comparison with a command, if that was left out.
    pub(crate) fn command(&self, command: &str) -> Option<Fit> {
        self.outcomes.get(&command_key(command)).copied()
    }
}

/// The key of a test of an argument.
pub(crate) fn test_key(test: &impl Serialize) -> String {
    serde_json::to_string(test).unwrap_or_default()
}

/// The key of a comparison with a command.
pub(crate) fn command_key(command: &str) -> String {
    Value::from(command).to_string()
}

/// A digest of a call's arguments, to pair a result that has no id (FNV-1a of the JSON text, 16 hexadecimal digits).
pub(crate) fn digest(input: &Value) -> String {
    let text = input.to_string();
    let hash = text
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3));
    alloc::format!("{hash:016x}")
}
