//! Open calls as they are kept: by number, so that a record of one says nothing of the others.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use serde::{Deserialize, Deserializer, Serializer};

use crate::state::OpenCall;

/// Writes the calls as an object, each under its number.
pub(crate) fn serialize<S: Serializer>(calls: &[OpenCall], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(calls.iter().map(|call| (call.number, call)))
}

/// Reads the calls back, in the order of their numbers.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<OpenCall>, D::Error> {
    let calls = BTreeMap::<u64, OpenCall>::deserialize(deserializer)?;
    Ok(calls.into_iter().map(|(number, call)| OpenCall { number, ..call }).collect())
}
