//! The source `file`: whether a file of the project exists, and the digest of its bytes.

use phasegate_core::FactValue;

use super::content::{Content, content};
use super::source::{FactSource, World};
use phasegate_store::digest::sha256_hex;

/// The source.
pub(super) struct File;

impl FactSource for File {
    const NAME: &'static str = "file";
    /// The path, relative to the root of the project.
    type Arguments = String;

    fn gather(world: World<'_>, path: &String) -> FactValue {
        match content(world.root, path) {
            Content::Bytes(bytes) => FactValue::Known(sha256_hex(&bytes).into()),
            Content::Absent => FactValue::Absent,
            Content::Unknown => FactValue::Unknown,
        }
    }
}
