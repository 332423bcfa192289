//! The heartbeat of a bridge: a plugin that was never loaded reports nothing, so the bridge records when it ran.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};

use crate::processes::ancestors::{Process, own_ancestors, own_process};
use crate::project::Project;
use phasegate_store::disk::Disk as _;
use phasegate_store::disk::active_disk::disk;
use phasegate_store::disk::ownership::read_own;

/// How often a bridge that works says so at most.
const EVERY: Duration = Duration::from_secs(5);

/// What is kept of the bridge that was started last for a platform in a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beat {
    /// The client's version, as the plugin says; empty if it does not.
    pub client_version: String,
    /// The version of the bridge's program.
    pub version: String,
    /// The bridge's process, where the system shows it.
    pub bridge: Option<Process>,
    /// The client's process, likewise.
    pub client: Option<Process>,
    /// When the plugin started it, in milliseconds since 1970-01-01 UTC.
    pub started: i64,
    /// When it last answered, likewise.
    pub last: i64,
    /// Whether it ended because its plugin closed it.
    pub ended: bool,
}

impl Beat {
    /// What is kept for the platform with this id; `None` if nothing readable is.
    pub fn read(project: &Project, platform: &str) -> Option<Self> {
        serde_json::from_slice(&read_own(&file(project, platform)).ok()?).ok()
    }

    /// Whether the bridge's process still runs.
    pub fn alive(&self) -> bool {
        self.bridge.is_some_and(Process::alive)
    }
}

fn file(project: &Project, platform: &str) -> PathBuf {
    project.folder.join(format!("bridge-{platform}.json"))
}

/// A bridge's own heartbeat. It is kept only where anything is kept of the project; what cannot be written is not, since
/// no decision depends on it.
#[derive(Debug)]
pub struct Heartbeat {
    platform: &'static str,
    project: Project,
    state: Mutex<(Beat, Option<Instant>)>,
}

impl Heartbeat {
    /// Says that a bridge was started.
    pub fn begin(platform: &'static str, client_version: &str, project: Project) -> Self {
        let now = now();
        let beat = Beat {
            client_version: client_version.to_string(),
            version: env!("CARGO_PKG_VERSION").to_string(),
            bridge: own_process(),
            client: own_ancestors().first().copied(),
            started: now,
            last: now,
            ended: false,
        };
        let heartbeat = Self { platform, project, state: Mutex::new((beat, None)) };
        heartbeat.beat();
        heartbeat
    }

    /// Says that it works, if it was not said lately.
    pub fn beat(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.1.is_none_or(|said| said.elapsed() >= EVERY) {
            state.0.last = now();
            // A project of which nothing was kept may be guarded by now.
            state.1 = self.write(&state.0).then(Instant::now);
        }
    }

    /// Says that it ends.
    pub fn end(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.0.ended = true;
        self.write(&state.0);
    }

    fn write(&self, beat: &Beat) -> bool {
        if !self.project.folder.is_dir() {
            return false;
        }
        let written = serde_json::to_vec(beat)
            .map_err(std::io::Error::from)
            .and_then(|bytes| disk().replace(&file(&self.project, self.platform), &bytes));
        written.inspect_err(|error| tracing::warn!("the heartbeat cannot be written: {error}")).is_ok()
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
