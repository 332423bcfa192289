//! The runtime: one frame or command in, one answer out.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use phasegate_adapter::{Adapter, Address, Frame, Problem, Reply};
use phasegate_core::{Code, Event, Outcome};

use crate::deadline::Deadline;
use crate::discover::{Found, discover};
use crate::frames;
use crate::lineage::Origin;
use crate::locations::Locations;
use crate::policy_store::{Current, PolicyStore};
use crate::project::Project;
use crate::protected::Protected;
use crate::protected::places::Grounds;
use crate::stance::{Stance, Watch};
use crate::transaction::{Transaction, stance_of};

/// Finds configs and state, and decides by them.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// The folders outside of projects.
    pub locations: Locations,
    /// Where compiled policies are kept.
    pub store: PolicyStore,
    /// The platforms' own folders of skills, as adapters give them.
    skill_folders: Vec<&'static str>,
    /// The platforms' settings files, and what else they obey, as adapters give them; a folder ends with `/`.
    settings: Vec<&'static str>,
    /// The variables in which platforms tell programs which session started them, as adapters give them.
    pub session_variables: Vec<&'static str>,
    /// A file that audit events are written to, besides the one that settings name; relative to the project.
    pub audit_log: Option<PathBuf>,
    /// What is known by now of the places that the guard stands on.
    grounds: Arc<Grounds>,
    /// The time now, in milliseconds since 1970-01-01 UTC.
    pub now: fn() -> i64,
}

impl Runtime {
    /// A runtime with these folders, for these platforms.
    #[must_use]
    pub fn new<'a>(locations: Locations, adapters: impl IntoIterator<Item = &'a dyn Adapter>) -> Self {
        let (mut skill_folders, mut settings, mut session_variables) = (Vec::new(), Vec::new(), Vec::new());
        for places in adapters.into_iter().map(Adapter::places) {
            skill_folders.extend(places.skill_folders);
            settings.extend(places.settings);
            settings.extend(places.unseen);
            session_variables.extend(places.session_variables);
        }
        skill_folders.sort_unstable();
        skill_folders.dedup();
        settings.sort_unstable();
        settings.dedup();
        let (store, grounds) = (PolicyStore::new(&locations.state), Arc::default());
        Self { store, locations, skill_folders, settings, session_variables, audit_log: None, grounds, now }
    }

    /// All that the guard stands on, as seen from the project with this root, or from one that nothing guards; and the files
    /// that audit events are also written to.
    pub(crate) fn protected(&self, root: Option<&Path>, logs: &[PathBuf]) -> Protected<'_> {
        Protected::new((&self.locations, &self.grounds), (&self.skill_folders, &self.settings), root, logs)
    }

    /// Every config that applies to the project.
    #[must_use]
    pub fn discover(&self, project: &Project) -> Found {
        discover(&self.locations, &project.root, &self.skill_folders)
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
            Ok(None) => self.current(project).map_or(Stance::Unknown, |current| stance_of(&current)),
            Err(_) => Stance::Unknown,
        }
    }

    /// How a problem with a frame is answered that does not say which session it belongs to.
    #[must_use]
    pub fn stance_for(&self, adapter: &dyn Adapter, frame: &Frame) -> Stance {
        self.project_of(adapter, frame, None).map_or(Stance::Unsure, |project| self.stance(&project))
    }

    /// The project a frame belongs to: the one that the platform's own variable names, else the one its session began
    /// in, else that of the frame's folder, else that of the process's.
    ///
    /// # Errors
    ///
    /// `bad-input`: the variable is set and names no absolute folder. `state-unreadable`: where the session began is
    /// kept and cannot be read.
    pub fn project_of(
        &self,
        adapter: &dyn Adapter,
        frame: &Frame,
        address: Option<&Address>,
    ) -> Result<Project, Problem> {
        let variables = adapter.places().project_variables;
        let named = variables.iter().find_map(|name| frame.environment.get_key_value(*name));
        if let Some((name, value)) = named {
            let path = Path::new(value);
            return if path.is_absolute() {
                Ok(Project::find(&self.locations, path))
            } else {
                Err(Problem::new(Code::BadInput, format!("`{name}` is set and names no absolute folder")))
            };
        }
        if let Some(project) =
            address.map_or(Ok(None), |address| Project::of_session(&self.locations, &address.session))?
        {
            return Ok(project);
        }
        let start = address
            .and_then(|address| address.cwd.clone())
            .or_else(|| std::env::current_dir().ok())
            .unwrap_or_else(|| PathBuf::from("/"));
        Ok(Project::find(&self.locations, &start))
    }

    /// Decides a frame. There always is a reply: where the frame cannot be decided, it is a denial in block mode, a
    /// warning in warn mode, and silence in a project that was never guarded.
    #[must_use]
    pub fn handle_frame(&self, adapter: &dyn Adapter, frame: &Frame, deadline: &Deadline, watch: &Watch) -> Reply {
        let located = self.locate((adapter, frame), adapter.address(frame), watch);
        let decided = |(address, project): &(Address, Project)| {
            let opened = Transaction::open(self, project.clone(), &address.session, (deadline, watch))?;
            let decide = |mut open: Transaction<'_>| {
                let decoded = adapter.decode(frame, &open.own.memory);
                frames::decide(&mut open, (adapter, frame), decoded)
            };
            opened.map(decide).transpose()
        };
        let outcome = located.as_ref().map_err(Clone::clone).and_then(decided);
        let project = located.as_ref().ok().map(|(_, project)| project);
        self.reply((adapter, frame), (project, watch), outcome)
    }

    /// Decides one event of a session that no frame brought, for example a control command. `None`: nothing guards
    /// the project.
    ///
    /// # Errors
    ///
    /// Whatever keeps the event from being decided and recorded.
    pub fn handle_event(&self, project: Project, session: &str, event: Event) -> Result<Option<Outcome>, Problem> {
        let deadline = Deadline::new(crate::deadline::limit_from_environment());
        let watch = Watch::default();
        match Transaction::open(self, project, session, (&deadline, &watch))? {
            Some(mut transaction) => {
                let mut last = None;
                for event in transaction.begun(&Origin::default(), vec![event])? {
                    last = Some(transaction.decide(event)?);
                }
                Ok(last)
            }
            None => Ok(None),
        }
    }
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
