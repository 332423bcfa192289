//! Putting back what calls changed although they might not, and accepting it for a person (rules 4.11).

use std::path::{Path, PathBuf};

use phasegate_adapter::Problem;
use phasegate_core::calls::analysis::Part;
use phasegate_core::{Code, Durability};
use phasegate_formats::journal::Entry;
use phasegate_store::disk::Disk as _;
use phasegate_store::disk::active_disk::disk;
use phasegate_store::disk::files::{Readers, replace};
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::{Journal, read_last};
use phasegate_store::state::JournalState as _;
use serde_json::json;

use crate::deadline::{Deadline, LIMIT};
use crate::effects::manifest::{Manifest, WatchedFile};
use crate::effects::stamp::Stamp;
use crate::effects::{content, copies, copies_file, manifest_file};
use crate::project::{Project, session_key};
use crate::runtime::Runtime;
use crate::sessions::snapshot::{ProjectChange, ProjectSnapshot, SessionSnapshot, Violation};

/// What becomes of a file that a call changed although it might not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restored {
    /// It is as it was.
    Same,
    /// What was there is put back.
    PutBack,
    /// It was made by the call, and is removed.
    Removed,
    /// There is no copy of what was there.
    NoCopy,
    /// A folder on the way to it is a link now, so that another file would be written.
    Elsewhere,
}

impl Restored {
    /// The word for it: `same`, `put_back`, `removed`, `no_copy` or `elsewhere`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::PutBack => "put_back",
            Self::Removed => "removed",
            Self::NoCopy => "no_copy",
            Self::Elsewhere => "elsewhere",
        }
    }
}

/// What is watched in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WatchReport {
    /// How many files are watched.
    pub files: usize,
    /// How many folders are watched.
    pub folders: usize,
    /// Whether there are more.
    pub capped: bool,
}

impl Runtime {
    /// The files of a project that calls changed although they might not, until they are as they were or a person accepts
    /// that.
    ///
    /// # Errors
    ///
    /// `state-unreadable`, `state-version`, `state-exposed`: the project's journal cannot be read.
    pub fn violations(&self, project: &Project) -> Result<Vec<Violation>, Problem> {
        let kept = read_last::<ProjectSnapshot>(&FileStore, &project.journal())?.map(|last| last.state);
        let all = kept.map(|kept| kept.violations).unwrap_or_default();
        let is_open = |violation: &Violation| !matches!(self.restore(project, violation, true), Ok(Restored::Same));
        Ok(all.into_iter().filter(is_open).collect())
    }

    /// What is watched in a session; `None`: no call of it ran that may do more than read.
    pub fn watch_report(&self, project: &Project, session: &str) -> Option<WatchReport> {
        let manifest = manifest_of(project, session)?;
        let (files, folders) = (manifest.files(), manifest.folders.len());
        Some(WatchReport { files, folders, capped: manifest.capped })
    }

    /// Puts back a file that a call changed although it might not; with `dry_run`, only says what would become of it. What the
    /// call made of it is kept beside the copies.
    ///
    /// # Errors
    ///
    /// `state-not-saved`: the file cannot be written or removed.
    pub fn restore(&self, project: &Project, violation: &Violation, dry_run: bool) -> Result<Restored, Problem> {
        let path = project.root.join(&violation.change.path);
        let keys = &self.platforms.places().client_keys;
        let part = violation.change.by.is_none().then_some(Part::Settings);
        let stamp = Stamp::of(&path).filter(|stamp| !stamp.is_folder());
        let now = stamp.and_then(|stamp| content::of(&path, &stamp, part, keys)).map(|content| content.digest);
        if leads_elsewhere(&path) {
            return Ok(Restored::Elsewhere);
        }
        if now == violation.before {
            return Ok(Restored::Same);
        }
        let failed = |error: std::io::Error| {
            Problem::new(Code::StateNotSaved, format!("`{}` cannot be put back: {error}", path.display()))
        };
        let aside = || match stamp.filter(Stamp::is_file) {
            Some(_) => std::fs::copy(&path, replaced_file(project, violation)).map(drop),
            None => Ok(()),
        };
        let Some(before) = &violation.before else {
            if !dry_run {
                aside().and_then(|()| disk().remove(&path)).map_err(failed)?;
            }
            return Ok(Restored::Removed);
        };
        let copied = copies_file(project, &session_key(&violation.session));
        let copy = manifest_of(project, &violation.session).and_then(|manifest| {
            let (_, WatchedFile { digest, copied: place, stamp, .. }) = manifest.file(&path)?;
            let bytes = copies::read(&copied, place.filter(|_| digest.as_ref() == Some(before))?).ok()?;
            (content::digest(&bytes, &path, part, keys) == *before).then_some((bytes, *stamp))
        });
        let Some((bytes, stamp)) = copy else { return Ok(Restored::NoCopy) };
        if !dry_run {
            aside().and_then(|()| put_back(&path, &bytes, stamp)).map_err(failed)?;
        }
        Ok(Restored::PutBack)
    }

    /// Accepts for a person what calls changed although they might not: the files are as they should be from now on.
    ///
    /// # Errors
    ///
    /// `state-not-saved`, `state-busy`, `state-unreadable`, `state-version`: the project's journal cannot be used.
    pub fn keep_changes(&self, project: &Project) -> Result<(), Problem> {
        let deadline = Deadline::new(LIMIT);
        let (mut journal, mut state) = Journal::open::<ProjectSnapshot>(&FileStore, &project.journal(), &deadline)?;
        let synced = ProjectChange::Synced(state.base + journal.seq() + 1);
        // The next call takes the files as they are.
        let kept = ProjectChange::ChangesKept(state.changes_kept.saturating_add(1));
        let changes = vec![ProjectChange::Violations(Vec::new()), kept, synced];
        changes.iter().for_each(|change| state.apply(change));
        let entry = Entry {
            time: (self.now)(),
            engine: env!("CARGO_PKG_VERSION").to_string(),
            policy: journal.policy().to_string(),
            event: json!({"event": "changes_accepted"}),
            changes,
            ..Entry::default()
        };
        Ok(journal.append(&entry, &state, Durability::Synced)?)
    }
}

/// Where what a call made of a file is kept, once the file is put back.
pub fn replaced_file(project: &Project, violation: &Violation) -> PathBuf {
    let name = violation.after.as_deref().unwrap_or_default();
    copies_file(project, &session_key(&violation.session)).with_extension(name)
}

/// The manifest of a session, as its journal names it.
fn manifest_of(project: &Project, session: &str) -> Option<Manifest> {
    let last = read_last::<SessionSnapshot>(&FileStore, &project.session_journal(session)).ok()??;
    let number = last.state.watch?.number;
    Manifest::read(&manifest_file(project, &session_key(session), number))
}

/// Whether a link stands on the way to a file, where none was when the file was watched first.
fn leads_elsewhere(path: &Path) -> bool {
    let folder = path.ancestors().skip(1).find(|folder| folder.symlink_metadata().is_ok());
    folder.is_some_and(|folder| folder.canonicalize().map_or(true, |real| real != folder))
}

/// Writes a file as it was, with its permissions.
fn put_back(path: &Path, bytes: &[u8], stamp: Option<Stamp>) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    // What took the place of the file is no file, or leads elsewhere.
    if Stamp::of(path).is_some_and(|now| now.is_link()) {
        disk().remove(path)?;
    }
    replace(path, bytes, Readers::Default)?;
    #[cfg(unix)]
    if let Some(stamp) = stamp {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(stamp.mode & 0o7777))?;
    }
    Ok(())
}
