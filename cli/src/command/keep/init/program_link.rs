//! The link to this program that hooks and plugins start, at one place below each user's home.
//!
//! It belongs to all projects of the user, and goes when the last of them is undone.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use phasegate_adapter::InstallScope;
use phasegate_runtime::files::{Readers, make_folder, replace};
use serde::{Deserialize, Serialize};

use super::command_name::{lasting_path, same};
use super::setting::{self, Setting};
use super::shell_file::{Shell, beside, shells};
use crate::command::runs::control::refused_to_agent;
use crate::output::Failure;

/// Who needs the link, in the state.
const RECORD: &str = "init-program.json";

/// A link that is to be made or renewed.
pub(crate) struct Link {
    at: PathBuf,
    leads: PathBuf,
    is_new: bool,
    /// Whether it leads to this program already.
    known: bool,
    /// The files that are clients' shells, where they are not there or are others.
    shells: Vec<Shell>,
}

/// Who needs the link, and what was made for it.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Needed {
    /// The roots of the projects whose hooks start it.
    projects: BTreeSet<PathBuf>,
    /// Whether the user's settings do so for themselves.
    for_user: bool,
    /// The folders that were made for it.
    folders: BTreeSet<PathBuf>,
}

impl Link {
    /// The link as it is to be made; `None` where it leads to this program already, or no platform needs one.
    ///
    /// # Errors
    ///
    /// There is no home folder, or the system does not say where this program is.
    pub(crate) fn planned(setting: &Setting<'_>) -> Result<Option<Self>, Failure> {
        if !is_started(setting) {
            return Ok(None);
        }
        let no_home = || Failure::new("`HOME` names no home folder, so that hooks cannot say where the program is");
        let at = setting.runtime.locations.program().ok_or_else(no_home)?;
        let leads = lasting_path()?;
        let mut shells = shells(&setting.runtime.locations);
        shells.retain(|shell| std::fs::read_to_string(&shell.at).ok().as_ref() != Some(&shell.text));
        let known = leads == at || (cfg!(unix) && same(&at, &leads));
        if known && shells.is_empty() {
            return Ok(None);
        }
        let is_new = at.symlink_metadata().is_err();
        Ok(Some(Self { at, leads, is_new, known, shells }))
    }

    /// Refuses to have all hooks of the user start another program where an agent gives the command.
    ///
    /// # Errors
    ///
    /// An agent gives it.
    pub(crate) fn refuse_the_agent(&self, setting: &Setting<'_>) -> Result<(), Failure> {
        let sign = if self.is_new || self.known { None } else { setting.runtime.sign_of_an_agent_anywhere()? };
        sign.map_or(Ok(()), |sign| Err(refused_to_agent("init", &sign)))
    }

    /// Makes the link, in one step for a hook that starts meanwhile.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub(crate) fn write(&self, setting: &Setting<'_>) -> Result<(), Failure> {
        let mut needed = read(setting)?;
        for file in self.shells.iter().map(|shell| &shell.at).chain([&self.at]) {
            let missing = file.ancestors().skip(1).take_while(|folder| !folder.exists());
            needed.folders.extend(missing.map(Path::to_path_buf));
        }
        save(setting, &needed)?;
        let failed = |at: &Path, error: io::Error| Failure::new(format!("`{}`: {error}", at.display()));
        if !self.known {
            put(&self.at, &self.leads).map_err(|error| failed(&self.at, error))?;
        }
        self.shells.iter().try_for_each(|shell| shell.write().map_err(|error| failed(&shell.at, error)))
    }

    /// The link in a line.
    pub(crate) fn shown(&self) -> String {
        if self.known {
            let each: Vec<String> = self.shells.iter().map(|shell| shell.at.display().to_string()).collect();
            return format!("new {}", each.join(", "));
        }
        let fate = if self.is_new { "new" } else { "changed" };
        format!("{fate} {} -> {}", self.at.display(), self.leads.display())
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.at
    }
}

/// Whether something that is written starts the link: what a project shares may name the program instead.
fn is_started(setting: &Setting<'_>) -> bool {
    setting.scope == InstallScope::User || setting.adapters.iter().any(|adapter| !adapter.installer().by_name())
}

#[cfg(unix)]
fn put(at: &Path, leads: &Path) -> io::Result<()> {
    let beside = beside(at)?;
    std::os::unix::fs::symlink(leads, &beside)?;
    std::fs::rename(beside, at)
}

/// Links are not for every user there.
#[cfg(not(unix))]
fn put(at: &Path, leads: &Path) -> io::Result<()> {
    let beside = beside(at)?;
    std::fs::copy(leads, &beside)?;
    std::fs::rename(beside, at)
}

/// Notes that the hooks of this setting start the link.
///
/// # Errors
///
/// The note cannot be read or written.
pub(crate) fn note(setting: &Setting<'_>) -> Result<(), Failure> {
    if !is_started(setting) {
        return Ok(());
    }
    let mut needed = read(setting)?;
    let known = match setting.scope {
        InstallScope::User => std::mem::replace(&mut needed.for_user, true),
        InstallScope::Project => !needed.projects.insert(setting.project.root.clone()),
    };
    if known { Ok(()) } else { save(setting, &needed) }
}

/// Takes the link away once nothing needs it; its path, where that is so. `kept`: settings that start it stay in the project.
///
/// # Errors
///
/// The note cannot be read or written.
pub(crate) fn undo(setting: &Setting<'_>, kept: bool) -> Result<Option<PathBuf>, Failure> {
    if kept {
        return Ok(None);
    }
    let mut needed = read(setting)?;
    let known = match setting.scope {
        InstallScope::User => std::mem::take(&mut needed.for_user),
        InstallScope::Project => needed.projects.remove(&setting.project.root),
    };
    if !known {
        return Ok(None);
    }
    // One whose folder is gone needs no guard.
    needed.projects.retain(|root| !matches!(root.try_exists(), Ok(false)));
    if needed.for_user || !needed.projects.is_empty() {
        return if setting.args.dry_run { Ok(None) } else { save(setting, &needed).map(|()| None) };
    }
    let at = setting.runtime.locations.program().filter(|at| at.symlink_metadata().is_ok());
    if !setting.args.dry_run {
        for file in shells(&setting.runtime.locations).iter().map(|shell| &shell.at).chain(&at) {
            let _ = std::fs::remove_file(file);
        }
        // The inner ones first.
        for folder in needed.folders.iter().rev() {
            let _ = std::fs::remove_dir(folder);
        }
        let _ = std::fs::remove_file(record(setting));
    }
    Ok(at)
}

fn record(setting: &Setting<'_>) -> PathBuf {
    setting.runtime.locations.state.join(RECORD)
}

fn read(setting: &Setting<'_>) -> Result<Needed, Failure> {
    let path = record(setting);
    let Some(text) = setting::read(&path)? else { return Ok(Needed::default()) };
    serde_json::from_str(&text).map_err(|error| Failure::new(format!("`{}` cannot be read: {error}", path.display())))
}

fn save(setting: &Setting<'_>, needed: &Needed) -> Result<(), Failure> {
    let path = record(setting);
    let write = || {
        path.parent().map_or(Ok(()), make_folder)?;
        replace(&path, &serde_json::to_vec_pretty(needed)?, Readers::Owner)
    };
    write().map_err(|error: io::Error| Failure::new(format!("`{}` cannot be written: {error}", path.display())))
}
