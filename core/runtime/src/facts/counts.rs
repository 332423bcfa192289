//! The source `counts`: how often a text occurs in each file that patterns select, without overlaps.

use phasegate_core::FactValue;
use serde::Deserialize;
use serde_json::json;

use super::count::occurrences;
use super::listing;
use super::source::{FactSource, World};

/// The source.
pub(super) struct Counts;

/// What is asked of the files: an object with these fields, or a list of them.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Paths with `*`, `?`, `**` and `{a,b}`, relative to the root of the project.
    paths: Vec<String>,
    /// Compared byte for byte. How often an empty text occurs is not known.
    text: String,
}

impl FactSource for Counts {
    const NAME: &'static str = "counts";
    type Arguments = Arguments;

    fn gather(world: World<'_>, arguments: &Arguments) -> FactValue {
        if arguments.text.is_empty() {
            return FactValue::Unknown;
        }
        let count = |bytes: &[u8]| occurrences(bytes, arguments.text.as_bytes());
        let found = listing::each(world.root, &arguments.paths, &count);
        found.map_or(FactValue::Unknown, |files| FactValue::Known(json!(files)))
    }
}
