//! A mark that tells whether a file changed.

use std::fs::Metadata;

/// The identity, length and times of a file. If another process writes to the file, its mark changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark([i128; 4]);

impl Mark {
    /// The mark of a file with this metadata.
    #[cfg(unix)]
    pub fn of(data: &Metadata) -> Self {
        use std::os::unix::fs::MetadataExt as _;
        let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        let changed = nanoseconds(data.ctime(), data.ctime_nsec());
        Self([i128::from(data.ino()), i128::from(data.size()), nanoseconds(data.mtime(), data.mtime_nsec()), changed])
    }

    /// The mark of a file with this metadata.
    #[cfg(not(unix))]
    pub fn of(data: &Metadata) -> Self {
        let modified = data.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
        let nanoseconds = modified.and_then(|since| i128::try_from(since.as_nanos()).ok());
        Self([0, i128::from(data.len()), nanoseconds.unwrap_or_default(), 0])
    }

    /// The mark of a journal in memory, which only its length tells apart.
    pub fn of_length(length: u64) -> Self {
        Self([0, i128::from(length), 0, 0])
    }
}
