//! Frames: where one belongs, what it leads to and what the reply is. A hook does all of it in one go, a bridge in batches.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use phasegate_adapter::{Adapter, Address, Decoded, Frame, Problem, Reply};
use phasegate_core::{Code, Event, Outcome};

use crate::deadline::{Deadline, broken, limit_from_environment};
use crate::hook_installation;
use crate::lineage::Origin;
use crate::other_projects;
use crate::project::Project;
use crate::runtime::Runtime;
use crate::stance::{Stance, Watch};
use crate::transaction::Transaction;

/// What came of a frame or an event: its steps. `None`: nothing guards the project and nothing ever did.
pub type FrameOutcomes = Result<Option<Vec<Outcome>>, Problem>;

/// A frame that waits for its turn.
pub struct Framed {
    /// The platform's adapter.
    pub adapter: &'static dyn Adapter,
    /// The frame as it came.
    pub frame: Frame,
    /// The session and folder that it names.
    pub address: Result<Address, Problem>,
    /// How a problem with it is answered, as far as that is known.
    pub watch: Watch,
    /// The project that it belongs to, once somebody looked.
    project: OnceLock<Project>,
}

impl std::fmt::Debug for Framed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Framed").field("adapter", &self.adapter.id()).field("address", &self.address).finish()
    }
}

impl Framed {
    /// The frame, with its session in the variable of this name, where it says which that is.
    pub fn new(adapter: &'static dyn Adapter, mut frame: Frame, variable: &str) -> Self {
        let address = catch_unwind(AssertUnwindSafe(|| adapter.address(&frame)));
        let address = address.unwrap_or_else(|panic| Err(broken(panic.as_ref())));
        if let Ok(Address { session, .. }) = &address {
            frame.environment.insert(variable.to_string(), session.clone());
        }
        Self { adapter, frame, address, watch: Watch::default(), project: OnceLock::new() }
    }

    /// The session; empty where that is not known.
    pub fn session(&self) -> &str {
        self.address.as_ref().map_or("", |address| &address.session)
    }

    /// The project that it belongs to.
    pub fn locate(&self, runtime: &Runtime) -> Result<&Project, Problem> {
        let (_, project) = runtime.locate((self.adapter, &self.frame), self.address.clone(), &self.watch)?;
        Ok(self.project.get_or_init(|| project))
    }

    /// The reply, by what came of it; a denial where even that cannot be made.
    pub fn reply(&self, runtime: &Runtime, outcome: FrameOutcomes) -> Reply {
        let place = (self.project.get(), &self.watch);
        let reply = || runtime.reply((self.adapter, &self.frame), place, outcome);
        let refuse = |problem| self.watch.get().answer(self.adapter, &self.frame, &problem);
        catch_unwind(AssertUnwindSafe(reply)).unwrap_or_else(|panic| refuse(broken(panic.as_ref())))
    }
}

impl Runtime {
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
                decide(&mut open, (adapter, frame), decoded)
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
        let deadline = Deadline::new(limit_from_environment());
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

    /// The session and the project of a frame. Where they cannot be known, the watch says how that is answered.
    pub fn locate(
        &self,
        (adapter, frame): (&dyn Adapter, &Frame),
        address: Result<Address, Problem>,
        watch: &Watch,
    ) -> Result<(Address, Project), Problem> {
        let address = address.inspect_err(|_| watch.set(self.stance_for(adapter, frame)))?;
        let project = self.project_of(adapter, frame, Some(&address)).inspect_err(|_| watch.set(Stance::Unsure))?;
        tracing::debug!(event = address.event, session = address.session, root = %project.root.display(), "frame");
        Ok((address, project))
    }

    /// The reply to a frame, by what came of it.
    pub fn reply(
        &self,
        (adapter, frame): (&dyn Adapter, &Frame),
        (project, watch): (Option<&Project>, &Watch),
        outcome: FrameOutcomes,
    ) -> Reply {
        match outcome {
            Ok(None) => match project.and_then(|project| other_projects::refused(self, adapter, frame, project)) {
                Some(problem) => adapter.refuse(frame, &problem),
                None => Reply::silent(),
            },
            Ok(Some(steps)) => adapter.encode(frame, &steps),
            Err(problem) => {
                if let (Stance::Unknown, Some(project)) = (watch.get(), project) {
                    watch.set(self.stance(project));
                }
                watch.get().answer(adapter, frame, &problem)
            }
        }
    }
}

/// Decides the events of a frame that was decoded, up to the first that is denied, and records them.
pub fn decide(
    transaction: &mut Transaction<'_>,
    (adapter, frame): (&dyn Adapter, &Frame),
    decoded: Result<Decoded, Problem>,
) -> Result<Vec<Outcome>, Problem> {
    let Decoded { events, memory } = match decoded {
        Ok(decoded) => decoded,
        Err(problem) => return Err(transaction.note_unreadable(&frame.bytes, problem)),
    };
    if events.is_empty() {
        transaction.note_memory(&frame.bytes, memory)?;
        return Ok(Vec::new());
    }
    transaction.own.memory = memory;
    let names = adapter.places().session_variables;
    let origin = Origin::of(names, frame, &events, &transaction.session, &mut transaction.own.clients);
    let mut steps = Vec::new();
    for mut event in transaction.begun(&origin, events)? {
        let (locations, project) = (&transaction.runtime.locations, &transaction.project);
        hook_installation::complete(&mut event, &mut transaction.own.unwired, adapter, locations, project);
        let step = transaction.decide(event)?;
        let denied = step.decision.as_ref().is_some_and(|decision| !decision.lets_through());
        steps.push(step);
        if denied {
            break;
        }
    }
    Ok(steps)
}
