//! The audit log: the original's four events, one line each, in a file of the user's choice.
//!
//! It is a copy for other programs; only the journal counts. A line that cannot be written changes no decision. Only a
//! regular file is written to: a pipe without a reader would delay the answer.

use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use phasegate_core::Record;
use phasegate_core::values::canonical::Sorted;

use super::line::{Place, of};
use crate::policies::policy_store::KeptSettings;
use crate::runtime::Runtime;

/// The files that events of a project are written to: the one that settings name, and the one that the process was told.
pub(crate) fn paths(runtime: &Runtime, root: &Path, settings: &KeptSettings) -> Vec<PathBuf> {
    let named = settings.audit_log.as_ref().map(|log| match log.strip_prefix("~/") {
        Some(below) => runtime.locations.home.join(below),
        None => root.join(log),
    });
    let told = runtime.audit_log.as_ref().map(|log| root.join(log)).filter(|log| named.as_ref() != Some(log));
    named.into_iter().chain(told).collect()
}

/// The audit events among `records`, a line each.
pub(crate) fn lines(place: &Place<'_>, records: &[Record]) -> String {
    records.iter().filter_map(|record| of(place, record)).map(|line| format!("{}\n", Sorted(&line))).collect()
}

/// Appends lines to the log.
pub(crate) fn append(path: &Path, lines: &str) {
    if let Err(error) = write(path, lines.as_bytes()) {
        tracing::warn!(path = %path.display(), %error, "the audit log cannot be written");
    }
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match path.metadata() {
        Ok(data) if !data.is_file() => return Err(io::Error::other("it is not a regular file")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            path.parent().map_or(Ok(()), std::fs::create_dir_all)?
        }
        Err(error) => return Err(error),
    }
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(bytes)
}
