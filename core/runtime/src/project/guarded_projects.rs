//! The projects that this process saw guarded. A process that stays keeps them in mind, so that a project whose configs
//! and state are both removed is not taken for one that was never guarded (rules 8.8).

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use phasegate_adapter::FailureMode;
use serde::{Deserialize, Serialize};

/// The guarded projects that this process saw, and their sessions.
#[derive(Debug, Default)]
pub struct Seen(Mutex<Projects>);

/// A project that was seen guarded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Guarded {
    /// Its root.
    pub root: PathBuf,
    /// What happens to a frame that cannot be decided.
    pub mode: FailureMode,
}

#[derive(Debug, Default)]
struct Projects {
    /// What happens to a frame that cannot be decided, by the project's root.
    modes: BTreeMap<PathBuf, FailureMode>,
    /// The root of the project that a session belongs to.
    sessions: BTreeMap<String, PathBuf>,
}

impl Seen {
    fn projects(&self) -> MutexGuard<'_, Projects> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether none was seen.
    pub(crate) fn is_empty(&self) -> bool {
        self.projects().modes.is_empty()
    }

    /// An event of this session was decided in the project with this root.
    pub(crate) fn note(&self, root: &Path, session: &str, mode: FailureMode) {
        let mut projects = self.projects();
        if projects.modes.insert(root.to_path_buf(), mode).is_none() || !projects.sessions.contains_key(session) {
            projects.sessions.insert(session.to_string(), root.to_path_buf());
        }
    }

    /// The process before this one saw the project guarded.
    pub fn was(&self, Guarded { root, mode }: Guarded) {
        self.projects().modes.insert(root, mode);
    }

    /// The project with this root, if it was seen guarded.
    pub fn guarded(&self, root: &Path) -> Option<Guarded> {
        self.mode(root).map(|mode| Guarded { root: root.to_path_buf(), mode })
    }

    /// What happens to a frame of the project with this root that cannot be decided; `None`: it was not seen guarded.
    pub(crate) fn mode(&self, root: &Path) -> Option<FailureMode> {
        self.projects().modes.get(root).copied()
    }

    /// The root of the project that the session was seen in.
    pub(crate) fn of_session(&self, session: &str) -> Option<PathBuf> {
        self.projects().sessions.get(session).cloned()
    }

    /// The nearest of the seen roots from this folder upwards.
    pub(crate) fn above(&self, folder: &Path) -> Option<PathBuf> {
        let projects = self.projects();
        folder.ancestors().find(|root| projects.modes.contains_key(*root)).map(Path::to_path_buf)
    }
}
