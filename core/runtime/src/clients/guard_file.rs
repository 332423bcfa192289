//! Which program answers as the guard: its version and its file, noted in the project's journal, so that another one is
//! noticed once.
//!
//! A hook only looks at its own file's size, time and number. The digest of a file is made by `phasegate doctor` and kept
//! beside these, so that the same content in another file is no other program.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use phasegate_store::digest::sha256_hex;
use phasegate_store::disk::files::{Readers, replace};
use phasegate_store::disk::ownership::read_own;
use serde::{Deserialize, Serialize};

use crate::locations::Locations;

/// The digests that are kept, in the state.
const DIGESTS: &str = "programs.json";
/// The most programs that are remembered; the oldest go first.
const MAX_PROGRAMS: usize = 8;
/// How much of a digest is told.
const SHOWN: usize = 12;

/// A program that answered as the guard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuardFile {
    /// Its version, as it says itself.
    pub version: String,
    /// Its file.
    pub path: PathBuf,
    /// The file's size, in bytes.
    pub size: u64,
    /// When the file was changed last, in nanoseconds since 1970-01-01 UTC.
    pub modified: u64,
    /// The file's number in its file system; 0 where there is none.
    pub inode: u64,
    /// The digest of its content, where that was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
}

impl GuardFile {
    /// This program; `None` where the system does not say which file it is.
    pub fn own() -> Option<&'static Self> {
        static OWN: OnceLock<Option<GuardFile>> = OnceLock::new();
        OWN.get_or_init(|| Self::at(std::env::current_exe().ok()?)).as_ref()
    }

    fn at(path: PathBuf) -> Option<Self> {
        let data = path.metadata().ok()?;
        let since = data.modified().ok()?.duration_since(UNIX_EPOCH).ok()?;
        Some(Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            path,
            size: data.len(),
            modified: u64::try_from(since.as_nanos()).unwrap_or(u64::MAX),
            inode: inode(&data),
            digest: None,
        })
    }

    /// Whether both are one file that has not changed.
    fn is(&self, other: &Self) -> bool {
        (&self.path, self.size, self.modified, self.inode) == (&other.path, other.size, other.modified, other.inode)
    }

    /// The file, in words.
    pub fn in_words(&self) -> String {
        let digest = self.digest.as_deref().and_then(|digest| digest.get(..SHOWN));
        let digest = digest.map(|digest| format!(", sha256 {digest}")).unwrap_or_default();
        format!("`{}` ({}{digest})", self.path.display(), self.version)
    }
}

/// The programs with this one among them, and what is told of it where others answered before; `None` where it is known.
pub(crate) fn noted(locations: &Locations, known: &[GuardFile]) -> Option<(Vec<GuardFile>, Option<String>)> {
    let own = GuardFile::own()?;
    if known.iter().any(|program| program.is(own)) {
        return None;
    }
    let own = GuardFile { digest: kept_digest(&locations.state, own), ..own.clone() };
    let is_same = known.iter().any(|program| program.digest.is_some() && program.digest == own.digest);
    let told = known.last().filter(|_| !is_same).map(|last| {
        format!(
            "phasegate: another program answers in this project than before: {}; before it was {}. If you installed it, all is \
             well; `phasegate doctor` lists them, and `phasegate reload` accepts it.",
            own.in_words(),
            last.in_words()
        )
    });
    let mut all: Vec<GuardFile> = if is_same { Vec::new() } else { known.to_vec() };
    all.push(own);
    let surplus = all.len().saturating_sub(MAX_PROGRAMS);
    all.drain(..surplus);
    Some((all, told))
}

/// Makes the digest of this program and keeps it, unless that was done.
pub fn keep_digest(locations: &Locations) -> Option<String> {
    let own = GuardFile::own()?;
    if let Some(digest) = kept_digest(&locations.state, own) {
        return Some(digest);
    }
    let digest = sha256_hex(&std::fs::read(&own.path).ok()?);
    let mut all = kept(&locations.state);
    all.push(GuardFile { digest: Some(digest.clone()), ..own.clone() });
    let surplus = all.len().saturating_sub(MAX_PROGRAMS);
    all.drain(..surplus);
    if locations.state.is_dir() {
        // Without it the next one makes it again.
        let _ = serde_json::to_vec(&all).map(|bytes| replace(&locations.state.join(DIGESTS), &bytes, Readers::Owner));
    }
    Some(digest)
}

fn kept(state: &Path) -> Vec<GuardFile> {
    let bytes = read_own(&state.join(DIGESTS)).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn kept_digest(state: &Path, own: &GuardFile) -> Option<String> {
    kept(state).into_iter().find(|program| program.is(own)).and_then(|program| program.digest)
}

#[cfg(unix)]
fn inode(data: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(data)
}

#[cfg(not(unix))]
fn inode(_: &std::fs::Metadata) -> u64 {
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_program_is_told_once_and_the_same_content_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().to_path_buf();
        let locations = Locations { user: state.clone(), machine: state.clone(), home: state.clone(), state };
        let (first, told) = noted(&locations, &[]).unwrap();
        assert_eq!((first.len(), told), (1, None), "the first one is only noted");
        assert_eq!(noted(&locations, &first), None);
        let other = GuardFile { inode: 1, path: "/old/phasegate".into(), digest: None, ..first[0].clone() };
        let (both, told) = noted(&locations, std::slice::from_ref(&other)).unwrap();
        assert!(told.unwrap().contains("before it was `/old/phasegate`"));
        assert_eq!(both.len(), 2);
        assert_eq!(noted(&locations, &both), None, "it is told once");
        let digest = keep_digest(&locations).unwrap();
        assert_eq!(keep_digest(&locations).as_deref(), Some(digest.as_str()));
        let same = GuardFile { digest: Some(digest), ..other };
        let (one, told) = noted(&locations, &[same]).unwrap();
        assert_eq!((one.len(), told), (1, None), "the same content elsewhere");
    }
}
