//! What `init` changed, kept outside the project so that it can be undone to the letter.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use phasegate_adapter::{Change, InstallScope};
use phasegate_runtime::digest::sha256_hex;
use phasegate_runtime::files::{Readers, make_folder, replace};
use phasegate_runtime::{Project, Runtime};
use serde::{Deserialize, Serialize};

use super::apply;
use super::setting::{self, Setting};
use crate::output::Failure;

/// The record of a project, in its folder of the state.
const OF_PROJECT: &str = "init.json";
/// The record of the user, in the state.
const OF_USER: &str = "init-user.json";

/// Everything that `init` wrote here and has not taken back.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The files, in the order of their first change.
    pub(crate) files: Vec<Written>,
    /// The folders that `init` made for them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) folders: BTreeSet<PathBuf>,
    /// The platforms that `init` wired, by their ids.
    #[serde(default)]
    pub(crate) platforms: BTreeSet<String>,
    /// The roots of the projects for which the user's settings were written; what was written stays until all of them
    /// are undone.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) projects: BTreeSet<PathBuf>,
    /// Whether the user's settings were written for themselves, too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) for_user: bool,
}

/// One file that `init` wrote.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Written {
    /// The file.
    pub(crate) path: PathBuf,
    /// Its text before the first `init`, or before the last one that met another text than `init` had left; `None` if
    /// there was no file.
    pub(crate) before: Option<String>,
    /// Whether `before` is of a later `init`, so that it can hold what an earlier one wrote.
    #[serde(default)]
    pub(crate) edited: bool,
    /// The digest of the text that the last `init` wrote.
    pub(crate) after: String,
}

/// Where the record is.
pub(crate) fn path(setting: &Setting<'_>) -> PathBuf {
    match setting.scope {
        InstallScope::User => setting.runtime.locations.state.join(OF_USER),
        InstallScope::Project => setting.project.folder.join(OF_PROJECT),
    }
}

/// The record; empty if there is none.
pub(crate) fn read(setting: &Setting<'_>) -> Result<Record, Failure> {
    read_at(&path(setting))
}

/// What `init` wrote for a project, and for the user.
pub(crate) fn of_project(runtime: &Runtime, project: &Project) -> Result<Vec<Written>, Failure> {
    let (own, users) = (project.folder.join(OF_PROJECT), runtime.locations.state.join(OF_USER));
    let mut files = read_at(&own)?.files;
    files.extend(read_at(&users)?.files);
    Ok(files)
}

fn read_at(path: &Path) -> Result<Record, Failure> {
    let Some(text) = setting::read(path)? else { return Ok(Record::default()) };
    serde_json::from_str(&text).map_err(|error| Failure::new(format!("`{}` cannot be read: {error}", path.display())))
}

/// Adds changes that are about to be written.
pub(crate) fn note(setting: &Setting<'_>, changes: &[Change]) -> Result<(), Failure> {
    let mut record = read(setting)?;
    record.platforms.extend(setting.adapters.iter().map(|adapter| adapter.id().to_string()));
    match (setting.scope, setting.args.user) {
        (InstallScope::User, true) => record.for_user = true,
        (InstallScope::User, false) => {
            record.projects.insert(setting.project.root.clone());
        }
        (InstallScope::Project, _) => {}
    }
    for change in changes {
        let after = digest(change.after.as_deref());
        let before = digest(change.before.as_deref());
        let target = apply::target(&change.path);
        let missing = target.ancestors().skip(1).take_while(|folder| !folder.exists());
        record.folders.extend(missing.map(Path::to_path_buf));
        match record.files.iter_mut().find(|written| written.path == change.path) {
            Some(written) => {
                // The text before is found again where the last writing failed.
                if written.after != before && digest(written.before.as_deref()) != before {
                    written.before = change.before.clone();
                    written.edited = true;
                }
                written.after = after;
            }
            None => record.files.push(Written {
                path: change.path.clone(),
                before: change.before.clone(),
                edited: false,
                after,
            }),
        }
    }
    save(setting, &record)
}

/// Keeps that files which `init` wrote are about to be renewed.
pub(crate) fn renew(setting: &Setting<'_>, changes: &[Change]) -> Result<(), Failure> {
    let mut record = read(setting)?;
    for change in changes {
        let before = digest(change.before.as_deref());
        let own = record.files.iter_mut().filter(|written| written.path == change.path && written.after == before);
        own.for_each(|written| written.after = digest(change.after.as_deref()));
    }
    if record.files.is_empty() { Ok(()) } else { save(setting, &record) }
}

/// Keeps the record.
pub(crate) fn save(setting: &Setting<'_>, record: &Record) -> Result<(), Failure> {
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
