//! What `init` changed, kept outside the project so that it can be undone to the letter.

use std::path::{Path, PathBuf};

use phasegate_adapter::Change;
use phasegate_runtime::digest::sha256_hex;
use phasegate_runtime::files::{Readers, make_folder, replace};
use serde::{Deserialize, Serialize};

use super::{Setting, apply};
use crate::output::Failure;

/// Everything that `init` wrote here and has not taken back.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The files, in the order of their first change.
    pub(crate) files: Vec<Written>,
}

/// One file that `init` wrote.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Written {
    /// The file.
    pub(crate) path: PathBuf,
    /// Its text before the first `init`; `None` if there was no file.
    pub(crate) before: Option<String>,
    /// The digest of the text that the last `init` wrote.
    pub(crate) after: String,
    /// Whether `init` made the folder that holds it.
    pub(crate) made_folder: bool,
}

/// Where the record lives.
pub(crate) fn path(setting: &Setting<'_>) -> PathBuf {
    if setting.args.user {
        setting.runtime.locations.state.join("init-user.json")
    } else {
        setting.project.folder.join("init.json")
    }
}

/// The record; empty if there is none.
pub(crate) fn read(setting: &Setting<'_>) -> Result<Record, Failure> {
    let path = path(setting);
    let Some(text) = apply::read(&path)? else { return Ok(Record::default()) };
    serde_json::from_str(&text).map_err(|error| Failure::new(format!("`{}` cannot be read: {error}", path.display())))
}

/// Adds changes that are about to be written.
pub(crate) fn note(setting: &Setting<'_>, changes: &[Change]) -> Result<(), Failure> {
    let mut record = read(setting)?;
    for change in changes {
        let after = digest(change.after.as_deref());
        let before = digest(change.before.as_deref());
        let made_folder = !change.path.parent().is_some_and(Path::exists);
        match record.files.iter_mut().find(|written| written.path == change.path) {
            Some(written) if written.after == before => written.after = after,
            Some(written) => *written = written_now(change, after, made_folder),
            None => record.files.push(written_now(change, after, made_folder)),
        }
    }
    save(setting, &record)
}

fn written_now(change: &Change, after: String, made_folder: bool) -> Written {
    Written { path: change.path.clone(), before: change.before.clone(), after, made_folder }
}

fn save(setting: &Setting<'_>, record: &Record) -> Result<(), Failure> {
    let path = path(setting);
    let write = || {
        path.parent().map_or(Ok(()), make_folder)?;
        replace(&path, &serde_json::to_vec_pretty(record)?, Readers::Owner)
    };
    write().map_err(|error: std::io::Error| Failure::new(format!("`{}` cannot be written: {error}", path.display())))
}

/// Forgets the record.
pub(crate) fn remove(setting: &Setting<'_>) {
    let _ = std::fs::remove_file(path(setting));
}

/// The digest by which a text is known again; empty for no file.
pub(crate) fn digest(text: Option<&str>) -> String {
    text.map(|text| sha256_hex(text.as_bytes())).unwrap_or_default()
}
