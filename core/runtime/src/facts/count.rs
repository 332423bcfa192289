//! The source `count`: how often a text occurs in a file of the project, without overlaps.

use phasegate_core::FactValue;
use serde::Deserialize;

use super::content::{Content, content};
use super::source::{FactSource, World};

/// The source.
pub(super) struct Count;

/// What is asked of a file: an object with these fields, or a list of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Relative to the root of the project.
    path: String,
    /// Compared byte for byte. How often an empty text occurs is not known.
    text: String,
}

impl FactSource for Count {
    const NAME: &'static str = "count";
    type Arguments = Arguments;

    fn gather(world: World<'_>, arguments: &Arguments) -> FactValue {
        match content(world.root, &arguments.path) {
            Content::Bytes(bytes) if !arguments.text.is_empty() => {
                FactValue::Known(occurrences(&bytes, arguments.text.as_bytes()).into())
            }
            Content::Absent => FactValue::Absent,
            Content::Bytes(_) | Content::Unknown => FactValue::Unknown,
        }
    }
}

pub(super) fn occurrences(bytes: &[u8], text: &[u8]) -> u64 {
    let mut rest = bytes;
    let mut found = 0;
    while let Some(at) = rest.windows(text.len()).position(|window| window == text) {
        found += 1;
        rest = rest.get(at + text.len()..).unwrap_or_default();
    }
    found
}
