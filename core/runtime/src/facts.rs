//! Facts: what the engine asks about files, found out inside the project only.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

use phasegate_core::{FactKey, FactValue, Facts};

use crate::digest::sha256_hex;
use crate::paths::resolve;

/// The largest file whose content is looked at, in bytes.
const LARGEST: u64 = 16 * 1024 * 1024;

/// Answers the keys that `facts` does not answer yet. What cannot be found out is `unknown`.
pub fn gather(root: &Path, keys: &[FactKey], facts: &mut Facts) {
    for key in keys {
        if !facts.contains_key(key) {
            facts.insert(key.clone(), answer(root, key).into());
        }
    }
}

fn answer(root: &Path, key: &FactKey) -> FactValue {
    let (FactKey::File(path) | FactKey::Count { path, .. }) = key;
    match (content(root, path), key) {
        (Content::Absent, _) => FactValue::Absent,
        (Content::Bytes(bytes), FactKey::File(_)) => FactValue::File(sha256_hex(&bytes)),
        (Content::Bytes(bytes), FactKey::Count { text, .. }) if !text.is_empty() => {
            FactValue::Count(count(&bytes, text.as_bytes()))
        }
        (Content::Bytes(_) | Content::Unknown, _) => FactValue::Unknown,
    }
}

enum Content {
    Bytes(Vec<u8>),
    Absent,
    Unknown,
}

fn content(root: &Path, path: &str) -> Content {
    let Some(found) = resolve(root, Path::new(path)).filter(|found| found.starts_with(root)) else {
        return Content::Unknown;
    };
    match found.metadata() {
        Ok(data) if data.is_file() && data.len() <= LARGEST => read(&found),
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Content::Absent,
        Ok(_) | Err(_) => Content::Unknown,
    }
}

fn read(path: &Path) -> Content {
    let mut bytes = Vec::new();
    match File::open(path).and_then(|file| file.take(LARGEST + 1).read_to_end(&mut bytes)) {
        Ok(length) if length as u64 <= LARGEST => Content::Bytes(bytes),
        Ok(_) | Err(_) => Content::Unknown,
    }
}

/// How often `text` occurs in `bytes`, without overlaps.
fn count(bytes: &[u8], text: &[u8]) -> u64 {
    let mut rest = bytes;
    let mut found = 0;
    while let Some(at) = rest.windows(text.len()).position(|window| window == text) {
        found += 1;
        rest = rest.get(at + text.len()..).unwrap_or_default();
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(root: &Path, key: FactKey) -> FactValue {
        let mut facts = Facts::new();
        gather(root, std::slice::from_ref(&key), &mut facts);
        facts.remove(&key).unwrap().value
    }

    fn occurrences(path: &str, text: &str) -> FactKey {
        FactKey::Count { path: path.into(), text: text.into() }
    }

    #[test]
    fn files_inside_the_project_answer_and_others_stay_unknown() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::write(root.join("plan.md"), "- [x] a\n- [x] b\naaaa").unwrap();
        let digest = sha256_hex(b"- [x] a\n- [x] b\naaaa");
        assert_eq!(ask(&root, FactKey::File("plan.md".into())), FactValue::File(digest));
        assert_eq!(ask(&root, FactKey::File("none.md".into())), FactValue::Absent);
        assert_eq!(ask(&root, FactKey::File("../x".into())), FactValue::Unknown);
        assert_eq!(ask(&root, FactKey::File("/etc/passwd".into())), FactValue::Unknown);
        assert_eq!(ask(&root, FactKey::File(".".into())), FactValue::Unknown);
        assert_eq!(ask(&root, occurrences("plan.md", "- [x]")), FactValue::Count(2));
        assert_eq!(ask(&root, occurrences("plan.md", "aa")), FactValue::Count(2));
        assert_eq!(ask(&root, occurrences("plan.md", "")), FactValue::Unknown);
        assert_eq!(ask(&root, occurrences("none.md", "x")), FactValue::Absent);
    }
}
