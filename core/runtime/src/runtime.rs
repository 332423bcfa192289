//! What every decision works with: folders, stored policies, platforms, the clock.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use phasegate_adapter::{Adapter, Problem};

use crate::discover::{Found, discover};
use crate::locations::Locations;
use crate::platforms::Platforms;
use crate::policy_store::{Current, PolicyStore};
use crate::project::Project;
use crate::protected::Protected;
use crate::protected::places::PlacesCache;
use crate::stance::Stance;

/// Finds configs and state, and decides by them.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// The folders outside of projects.
    pub locations: Locations,
    /// Where compiled policies are kept.
    pub store: PolicyStore,
    /// The platforms of this build.
    pub platforms: Platforms,
    /// A file that audit events are written to, besides the one that settings name; relative to the project.
    pub audit_log: Option<PathBuf>,
    /// The protected paths that were found before.
    places: Arc<PlacesCache>,
    /// Whether the process ends with its answer. What a frame needed is then left to the system, which frees it faster.
    pub ends_with_answer: bool,
    /// The time now, in milliseconds since 1970-01-01 UTC.
    pub now: fn() -> i64,
}

impl Runtime {
    /// A runtime with these folders, for these platforms.
    #[must_use]
    pub fn new(locations: Locations, adapters: impl IntoIterator<Item = &'static dyn Adapter>) -> Self {
        let store = PolicyStore::new(&locations.state);
        let platforms = Platforms::new(adapters);
        Self { store, locations, platforms, audit_log: None, places: Arc::default(), ends_with_answer: false, now }
    }

    /// All that the guard stands on, as seen from the project with this root, or from one that nothing guards; and the files
    /// that audit events are also written to.
    pub(crate) fn protected(&self, root: Option<&Path>, logs: &[PathBuf]) -> Protected<'_> {
        Protected::new(&self.locations, self.platforms.places(), &self.places, root, logs)
    }

    /// Every config that applies to the project.
    #[must_use]
    pub fn discover(&self, project: &Project) -> Found {
        let folders: Vec<&str> = self.platforms.places().skill_folders.iter().map(String::as_str).collect();
        discover(&self.locations, &project.root, &folders)
    }

    /// What the configs of the project mean now.
    ///
    /// # Errors
    ///
    /// `state-not-saved`: a compiled policy cannot be written.
    pub fn current(&self, project: &Project) -> Result<Current, Problem> {
        self.store.current(&self.discover(project))
    }

    /// How a problem in this project is answered while no session is known.
    #[must_use]
    pub fn stance(&self, project: &Project) -> Stance {
        match project.remembered() {
            Ok(Some(memory)) => memory.mode.into(),
            Ok(None) => self.current(project).map_or(Stance::Unknown, |current| Stance::of(&current)),
            Err(_) => Stance::Unknown,
        }
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
