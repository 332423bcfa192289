//! What every decision works with: folders, stored policies, platforms, the clock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use phasegate_adapter::{Adapter, FailureMode, Problem, Refusal};
use phasegate_core::policy::Mode;
use phasegate_store::file_store::FileStore;
use phasegate_store::store::Store;

use crate::clients::client_shell::ShellProbe;
use crate::clients::platforms::Platforms;
use crate::driver::failure_mode::{of_configs, of_mode};
use crate::locations::Locations;
use crate::policies::policy_store::PolicyStore;
use crate::project::discover::{Found, discover};
use crate::project::guarded_projects::Seen;
use crate::project::{Project, worktree_of};
use crate::protected::Protected;
use crate::protected::places::PlacesCache;
use crate::sessions::live::may_be_strict;

/// How long the journal of a session is kept if nothing else is said.
const KEEP_SESSIONS: Duration = Duration::from_secs(90 * 24 * 60 * 60);

/// Finds configs and state, and decides by them.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// The folders outside of projects.
    pub locations: Locations,
    /// Where journals and small files are kept.
    pub store: Arc<dyn Store>,
    /// Where compiled policies are kept.
    pub policies: PolicyStore,
    /// The platforms of this build.
    pub platforms: Platforms,
    /// A file that audit events are written to, besides the one that settings name; relative to the project.
    pub audit_log: Option<PathBuf>,
    /// The projects that this process saw guarded.
    pub seen: Arc<Seen>,
    /// How long the journal of a session is kept after it was last written.
    pub keep_sessions: Duration,
    /// The protected paths that were found before.
    places: Arc<PlacesCache>,
    /// Finds out at which level this program, as the shell of a client, can hold a line in the project with this root.
    pub shell_probe: Option<ShellProbe>,
    /// Whether the process ends with its answer. What a frame needed is then left to the system, which frees it faster.
    pub ends_with_answer: bool,
    /// The time now, in milliseconds since 1970-01-01 UTC.
    pub now: fn() -> i64,
}

impl Runtime {
    /// A runtime with these folders, for these platforms.
    pub fn new(locations: Locations, adapters: impl IntoIterator<Item = &'static dyn Adapter>) -> Self {
        let policies = PolicyStore::new(&locations.state);
        let platforms = Platforms::new(adapters);
        Self {
            store: Arc::new(FileStore),
            policies,
            locations,
            platforms,
            audit_log: None,
            seen: Arc::default(),
            keep_sessions: KEEP_SESSIONS,
            places: Arc::default(),
            shell_probe: None,
            ends_with_answer: false,
            now,
        }
    }

    /// The protected paths, as seen from the project with this root or from an unguarded one, with the files of the
    /// audit log.
    pub(crate) fn protected(&self, root: Option<&Path>, logs: &[PathBuf]) -> Protected<'_> {
        Protected::new(&self.locations, self.platforms.places(), &self.places, root, logs)
    }

    /// Every config that applies to the project.
    pub fn discover(&self, project: &Project) -> Found {
        let folders: Vec<&str> = self.platforms.places().skill_folders.iter().map(String::as_str).collect();
        let found = discover(&self.locations, &project.root, &folders);
        // A worktree without configs of its own has those of its repository's main folder.
        let main = if found.project_guards() { None } else { worktree_of(&project.root) };
        main.map_or(found, |main| discover(&self.locations, &main, &folders))
    }

    /// What happens in this project to a frame whose session cannot be asked.
    pub fn failure_mode(&self, project: &Project) -> FailureMode {
        let unsaved = || PolicyStore::mode(&self.discover(project)).map(of_mode);
        let configs = || self.current(project).map_or_else(|_| unsaved(), |current| of_configs(&current));
        match (project.remembered(), self.seen.mode(&project.root)) {
            (Ok(Some(memory)), _) => of_mode(memory.mode),
            (Ok(None), Some(seen)) => configs().filter(|mode| *mode != FailureMode::Open).unwrap_or(seen),
            (Ok(None), None) => configs().unwrap_or_default(),
            (Err(_), _) => FailureMode::Closed,
        }
    }

    /// The mode that holds in this project where the guard gives no answer: block, where configs or a live run ask for it or
    /// cannot be read; without configs, what is remembered of the project.
    pub fn mode_without_answer(&self, project: &Project) -> Mode {
        let configs = self.current(project).ok().map_or(Some(FailureMode::Closed), |current| of_configs(&current));
        let closed = match configs {
            Some(FailureMode::Warn) => false,
            Some(FailureMode::Closed) => true,
            Some(FailureMode::Open) | None => self.failure_mode(project) == FailureMode::Closed,
        };
        if closed || may_be_strict(project) { Mode::Block } else { Mode::Warn }
    }

    /// The problem with its failure mode; that of the project where none is known.
    pub fn refuse(&self, project: &Project, known: Option<FailureMode>, problem: Problem) -> Refusal {
        Refusal { problem, failure_mode: known.unwrap_or_else(|| self.failure_mode(project)) }
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
