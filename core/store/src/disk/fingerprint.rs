//! The mtime fingerprint of a journal: a mark that any other writer breaks (rules 8.2).
//!
//! The hook reads only the end of a journal, so its cost does not grow with the history. To detect an earlier change as
//! well, the sub-second part of the file's mtime encodes the hash of the last record. An ordinary write sets another
//! mtime. If the fingerprint does not match, or the file was touched later, the whole chain is read once.
//!
//! A crash between a record and its fingerprint breaks it too, which costs one read of the chain. The fingerprint does
//! not detect a writer that sets file times on purpose, or that rewrites the whole chain. The checkpoints in other
//! journals do.

use std::fs::Metadata;
use std::time::{Duration, SystemTime};

use crate::digest::Digest;

/// How many marks there are. File systems keep a millionth of a second; not all keep more.
const MARKS: u32 = 1_000_000;
/// How many seconds may lie between the time that was set and the moment at which it was.
const SLACK: std::ops::RangeInclusive<i64> = -1..=2;

/// The part of a second that stands for a chain hash, in nanoseconds.
fn mark(head: &Digest) -> u32 {
    let [a, b, c, d, ..] = *head;
    u32::from_be_bytes([a, b, c, d]) % MARKS * 1000
}

/// The time that seals a journal with this last record, now.
pub(crate) fn time(head: &Digest, now: SystemTime) -> SystemTime {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    SystemTime::UNIX_EPOCH + Duration::new(since.as_secs(), mark(head))
}

/// When the content, name or permissions of a file last changed. Programs cannot set this time.
#[cfg(unix)]
pub fn changed(data: &Metadata) -> SystemTime {
    use std::os::unix::fs::MetadataExt as _;
    let parts = u64::try_from(data.ctime()).ok().zip(u32::try_from(data.ctime_nsec()).ok());
    parts.map_or(SystemTime::UNIX_EPOCH, |(seconds, rest)| SystemTime::UNIX_EPOCH + Duration::new(seconds, rest))
}

/// When the content, name or permissions of a file last changed, as far as this system says.
#[cfg(not(unix))]
pub fn changed(data: &Metadata) -> SystemTime {
    data.modified().unwrap_or(SystemTime::UNIX_EPOCH)
}

/// Whether the file was last changed by the hand that wrote the record with this chain hash.
#[cfg(unix)]
pub(crate) fn fits(data: &Metadata, head: &Digest) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    data.mtime_nsec() == i64::from(mark(head)) && SLACK.contains(&(data.ctime() - data.mtime()))
}

/// Whether the file was last changed by the hand that wrote the record with this chain hash.
#[cfg(not(unix))]
pub(crate) fn fits(data: &Metadata, head: &Digest) -> bool {
    let modified = data.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    modified.is_some_and(|since| since.subsec_nanos() == mark(head))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::digest::sha256;

    #[test]
    fn a_seal_fits_its_own_record_until_the_file_is_touched() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (mine, other) = (sha256(&[b"mine"]), sha256(&[b"other"]));
        let set = |time| file.as_file().set_modified(time).unwrap();
        let fitting = |head| fits(&file.as_file().metadata().unwrap(), head);
        let now = SystemTime::now();
        set(time(&mine, now));
        assert!(fitting(&mine) && !fitting(&other));
        std::io::Write::write_all(&mut file.as_file(), b"x").unwrap();
        assert!(!fitting(&mine));
        set(time(&mine, now - Duration::from_secs(10)));
        assert!(!fitting(&mine), "it was touched ten seconds after the time it has");
        let kept =
            |head| time(head, now).duration_since(now).map_or(-1, |ahead| i64::try_from(ahead.as_secs()).unwrap());
        assert!(kept(&mine) <= 0, "never a second ahead");
    }
}
