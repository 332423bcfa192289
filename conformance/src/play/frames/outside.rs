//! The checks of an adapter that is not among the suite's own: its recordings and expected replies lie in a folder of its
//! own, in the form of `conformance/cases/<id>/`.

use std::path::{Path, PathBuf};

use phasegate_adapter::Adapter;

use super::decode;
use super::encode::{Case, FILE};
use super::recordings::Recordings;
use crate::blessing::blessing;
use crate::trial::Mismatch;

/// Plays every recording in `recordings/` against `decode/`, and every case of `encode.jsonl`. What differs; with
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
    let path = folder.join(FILE);
    let cases = Case::parse(&std::fs::read_to_string(&path).unwrap_or_default());
    if recordings.is_empty() || cases.as_ref().is_ok_and(Vec::is_empty) {
        mismatches.push(Mismatch::broken("folder", "no recordings, or no cases of replies"));
    }
    mismatches.extend(cases.and_then(|cases| replies(adapter, cases, &recordings, &path)).unwrap_or_else(broken));
    mismatches
}

fn replies(
    adapter: &dyn Adapter,
    cases: Vec<Case>,
    recordings: &Recordings,
    path: &Path,
) -> Result<Vec<Mismatch>, String> {
    let (mut mismatches, mut written) = (Vec::new(), String::new());
    for case in cases {
        let reply = case.played(adapter, recordings)?;
        if !blessing() {
            mismatches.extend(case.compare(&reply));
        }
        let line = serde_json::to_string(&Case { reply, ..case }).map_err(|error| error.to_string())?;
        written.extend([line.as_str(), "\n"]);
    }
    if blessing() {
        std::fs::write(path, written).map_err(|error| error.to_string())?;
    }
    Ok(mismatches)
}

fn broken(problem: String) -> Vec<Mismatch> {
    vec![Mismatch::broken("case", problem)]
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
