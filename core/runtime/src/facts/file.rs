//! The source `file`: whether a file of the project exists, and the digest of its bytes.

use phasegate_core::FactValue;
use serde::Deserialize;

use super::content::{Content, content};
use super::source::{FactSource, World};
use crate::digest::sha256_hex;

/// The source.
pub(super) struct File;

/// What is asked of a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Arguments {
    /// Relative to the root of the project.
    path: String,
}

impl FactSource for File {
    const NAME: &'static str = "file";
    type Arguments = Arguments;

    fn gather(world: World<'_>, arguments: &Arguments) -> FactValue {
        match content(world.root, &arguments.path) {
            Content::Bytes(bytes) => FactValue::File(sha256_hex(&bytes)),
            Content::Absent => FactValue::Absent,
            Content::Unknown => FactValue::Unknown,
        }
    }
}
