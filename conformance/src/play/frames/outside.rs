//! The checks of an adapter that is not among the suite's own: its recordings and expected replies lie in a folder of its
//! own, in the form of `conformance/cases/<id>/`.

use std::path::{Path, PathBuf};

use phasegate_adapter::Adapter;

use super::encode::Case;
use super::recordings::Recordings;
use super::{decode, encode};
use crate::trial::Mismatch;

/// Plays every recording in `recordings/` against `decode/`, and every case in `encode/`. What differs; with
/// `PHASEGATE_BLESS=1` the expectations are written instead. A folder without recordings or cases is a mismatch.
#[must_use]
pub fn check(adapter: &dyn Adapter, folder: &Path) -> Vec<Mismatch> {
    let mut recordings = Recordings::new();
    let mut mismatches = Vec::new();
    for path in files(&folder.join("recordings")) {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        let name = path.strip_prefix(folder.join("recordings")).unwrap_or(&path).with_extension("");
        let frames: Vec<String> = text.lines().map(str::to_owned).collect();
        let golden = folder.join("decode").join(&name).with_extension("golden.jsonl");
        mismatches.extend(decode(adapter, &frames, &golden));
        recordings.insert(name.to_string_lossy().into_owned(), frames);
    }
    let cases = files(&folder.join("encode"));
    if recordings.is_empty() || cases.is_empty() {
        mismatches.push(Mismatch::broken("folder", "no recordings, or no cases of replies"));
    }
    for path in cases {
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        match serde_json::from_str::<Case>(&text) {
            Ok(case) => mismatches.extend(encode::compare(adapter, &case, &recordings, &path)),
            Err(error) => mismatches.push(Mismatch::broken("case", error)),
        }
    }
    mismatches
}

/// The files below a folder, sorted.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}
