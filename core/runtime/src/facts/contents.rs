//! The source `contents`: the files that patterns select, each with the digest of its bytes.

use phasegate_core::FactValue;
use phasegate_store::digest::sha256_hex;
use serde_json::json;

use super::listing;
use super::source::{FactSource, World};

/// The source.
pub(super) struct Contents;

impl FactSource for Contents {
    const NAME: &'static str = "contents";
    /// Paths with `*`, `?`, `**` and `{a,b}`, relative to the root of the project.
    type Arguments = Vec<String>;

    fn gather(world: World<'_>, patterns: &Vec<String>) -> FactValue {
        let found = listing::each(world.root, patterns, &sha256_hex);
        found.map_or(FactValue::Unknown, |files| FactValue::Known(json!(files)))
    }
}
