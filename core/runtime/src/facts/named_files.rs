//! Files that a question names, each with the digest that its bytes had: what is said of them is said of these bytes.

use std::collections::BTreeMap;
use std::path::Path;

use phasegate_core::FactValue;
use phasegate_store::digest::sha256_hex;
use serde_json::{Map, Value, json};

use super::budget::Budget;
use super::content::{Content, content};

/// The largest file that is read as a document, in bytes.
const MAX_DOCUMENT_BYTES: usize = 1024 * 1024;

/// The paths of files, each with its digest.
pub(crate) type NamedFiles = BTreeMap<String, String>;

/// What `judge` says of each of these files. Of a file that is not as the question has it, and of one that is too large, it
/// is not known.
pub(crate) fn each(
    files: &NamedFiles,
    read: &dyn Fn(&str) -> Option<Vec<u8>>,
    judge: &dyn Fn(&[u8]) -> Value,
) -> FactValue {
    let budget = Budget::begin();
    let of_file = |path: &String, digest: &String| {
        if budget.is_late() { unknown("there is too much to look at") } else { one(path, digest, read, judge) }
    };
    let told: Map<String, Value> = files.iter().map(|(path, digest)| (path.clone(), of_file(path, digest))).collect();
    FactValue::Known(Value::Object(told))
}

/// What `judge` says of one of these files.
pub(super) fn one(
    path: &str,
    digest: &str,
    read: &dyn Fn(&str) -> Option<Vec<u8>>,
    judge: &dyn Fn(&[u8]) -> Value,
) -> Value {
    match read(path).filter(|bytes| sha256_hex(bytes) == digest) {
        Some(bytes) if bytes.len() > MAX_DOCUMENT_BYTES => unknown("it is larger than 1 MiB, so nobody looks into it"),
        Some(bytes) => judge(&bytes),
        None => unknown("it cannot be read, or changes"),
    }
}

fn unknown(why: &str) -> Value {
    json!({"unknown": why})
}

/// The bytes of a file of the project.
pub(super) fn bytes(root: &Path, path: &str) -> Option<Vec<u8>> {
    match content(root, path) {
        Content::Bytes(bytes) => Some(bytes),
        Content::Absent | Content::Unknown => None,
    }
}
