//! Redacted arguments: the results of the tests that read them before they were redacted (rules 8.6).
//!
//! A record can be decided again from its own content. If it has a digest in place of an argument, it also has the
//! results of the tests that read the argument, and these replace the tests.

use alloc::collections::BTreeMap;
use core::fmt::{self, Write as _};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::prelude::*;
use crate::state::rule_answers::RulesSeen;
use crate::values::canonical::Sorted;

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
    /// The SHA-256 digest of all arguments, by which a person's yes is bound to them; empty in older records.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sha256: String,
    /// The result of each test that read redacted values, by the test as JSON.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub outcomes: BTreeMap<String, Fit>,
    /// The values of the arguments that `same` compares, as far as the record leaves them out.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub values: BTreeMap<String, Vec<String>>,
    /// The bytes of the texts that the call gives, where a budget counts them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    /// What the rules say of the arguments, where there are rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<RulesSeen>,
}

impl Redacted {
    /// The result of a test of an argument, if the argument was redacted. A test is known by its JSON.
    pub(crate) fn argument(&self, test: &impl Serialize) -> Option<Fit> {
        self.outcomes.get(&test_key(test)).copied()
    }

    /// The result of the comparison with a command, if the command was redacted.
    pub(crate) fn command(&self, command: &str) -> Option<Fit> {
        self.outcomes.get(&command_key(command)).copied()
    }

    /// What was found out about one simple command of a line.
    pub(crate) fn of_part(&self, number: u32) -> Self {
        let prefix = part_prefix(number);
        let of_arguments = |key: &str| key.starts_with('{');
        let outcomes = self.outcomes.iter().filter_map(|(key, fit)| {
            let key = if of_arguments(key) { Some(key.as_str()) } else { key.strip_prefix(&prefix) };
            Some((key?.to_string(), *fit))
        });
        Self {
            digest: self.digest.clone(),
            sha256: self.sha256.clone(),
            outcomes: outcomes.collect(),
            values: self.values.clone(),
            bytes: self.bytes,
            rules: None,
        }
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

/// What stands before the key of a comparison with one simple command of a line.
pub(crate) fn part_prefix(number: u32) -> String {
    alloc::format!("{number} ")
}

/// A digest of a call's arguments, to pair a result that has no id (FNV-1a of the JSON text, 16 hexadecimal digits).
pub fn digest(input: &Value) -> String {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    // Nothing that is hashed fails to be.
    let _ = write!(hash, "{}", Sorted(input));
    alloc::format!("{:016x}", hash.0)
}

/// An FNV-1a hash of what is written to it.
struct Fnv(u64);

impl fmt::Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let joined = |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        self.0 = text.bytes().fold(self.0, joined);
        Ok(())
    }
}

/// The SHA-256 digest of a value's JSON text, as 64 hexadecimal digits, where an agent may choose the values to compare.
pub(crate) fn sha256_hex(value: &Value) -> String {
    let digest: [u8; 32] = Sha256::digest(Sorted(value).to_string()).into();
    digest.iter().fold(String::with_capacity(64), |mut text, byte| {
        for half in [byte >> 4, byte & 15] {
            text.extend(char::from_digit(u32::from(half), 16));
        }
        text
    })
}
