//! What is in a file, as a digest.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use phasegate_core::calls::analysis::Part;
use phasegate_store::digest::sha256_hex;
use serde_json::Value;

use super::stamp::Stamp;

/// The largest file, in bytes, that is read. Of a larger one its size and the time of its last change count.
pub(crate) const MAX_BYTES: u64 = 8 * 1024 * 1024;
/// How many digits of a digest are kept.
const DIGITS: usize = 32;

/// What is in a file.
pub(crate) struct Content {
    /// A digest; a text of its own for what is not read.
    pub(crate) digest: String,
    /// The bytes, as far as they were read.
    pub(crate) bytes: Option<Vec<u8>>,
}

/// Reads a file; `None`: it is gone.
///
/// Of settings, the keys that the client itself changes do not count.
pub(crate) fn of(path: &Path, stamp: &Stamp, part: Option<Part>, client_keys: &[String]) -> Option<Content> {
    let unread = |digest: String| Some(Content { digest, bytes: None });
    if stamp.is_link() {
        let target = std::fs::read_link(path).ok()?;
        return unread(format!("link-{}", short(target.as_os_str().as_encoded_bytes())));
    }
    if !stamp.is_file() {
        return unread("special".to_owned());
    }
    if stamp.size > MAX_BYTES {
        return Some(self::unread(stamp));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(stamp.size).unwrap_or_default().saturating_add(1));
    let Ok(file) = File::open(path) else { return unread("unreadable".to_owned()) };
    file.take(MAX_BYTES + 1).read_to_end(&mut bytes).ok()?;
    Some(Content { digest: digest(&bytes, path, part, client_keys), bytes: Some(bytes) })
}

/// How the digest of a file begins that is not read.
const UNREAD: &str = "large-";

/// A file that is not read: its size and the time of its last change, which no program can set.
pub(crate) fn unread(stamp: &Stamp) -> Content {
    Content { digest: format!("{UNREAD}{}-{}", stamp.size, stamp.changed), bytes: None }
}

/// Whether a digest is that of a file that is not read.
pub(crate) fn is_unread(digest: &str) -> bool {
    digest.starts_with(UNREAD)
}

/// The digest of these bytes of a file of this path.
pub(crate) fn digest(bytes: &[u8], path: &Path, part: Option<Part>, client_keys: &[String]) -> String {
    let is_json = part == Some(Part::Settings) && path.extension().is_some_and(|end| end == "json");
    let parsed = || serde_json::from_slice::<Value>(bytes).ok();
    match is_json.then(parsed).flatten() {
        Some(Value::Object(mut keys)) => {
            keys.retain(|key, _| !client_keys.contains(key));
            short(Value::Object(keys).to_string().as_bytes())
        }
        _ => short(bytes),
    }
}

fn short(bytes: &[u8]) -> String {
    sha256_hex(bytes).chars().take(DIGITS).collect()
}
