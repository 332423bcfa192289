//! Frames: where one belongs, what it leads to and what the reply is. A hook does all of it in one go, a bridge in batches.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use phasegate_adapter::{Adapter, Decoded, Frame, Message, Problem, Reply, SessionView, Verdict};
use phasegate_core::{Code, Event, Outcome};

use crate::deadline::{Deadline, broken, limit_from_environment};
use crate::hook_installation;
use crate::lineage::Origin;
use crate::opened::Opened;
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
    /// The frame with its message.
    pub opened: Opened,
    /// Why the frame was not opened, where the adapter panicked.
    panicked: Option<Problem>,
    /// How a problem with it is answered, as far as that is known.
    pub watch: Watch,
    /// The project that it belongs to, once somebody looked.
    project: OnceLock<Project>,
}

impl std::fmt::Debug for Framed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Framed").field("adapter", &self.adapter.id()).field("opened", &self.opened).finish()
    }
}

impl Framed {
    /// The frame, with its session in the variable of this name, where it says which that is.
    pub fn new(adapter: &'static dyn Adapter, frame: Frame, variable: &str) -> Self {
        let mut opened = Opened::new(frame);
        let open = catch_unwind(AssertUnwindSafe(|| opened.open(adapter).map(|message| message.session.clone()).ok()));
        let panicked = open.as_ref().err().map(|panic| broken(panic.as_ref()));
        if let Ok(Some(session)) = open {
            opened.frame.environment.insert(variable.to_string(), session);
        }
        Self { adapter, opened, panicked, watch: Watch::default(), project: OnceLock::new() }
    }

    /// The session; empty where that is not known.
    pub fn session(&self) -> &str {
        self.opened.message().map_or("", |message| &message.session)
    }

    /// The project that it belongs to.
    pub fn locate(&self, runtime: &Runtime) -> Result<&Project, Problem> {
        if let Some(problem) = &self.panicked {
            self.watch.set(runtime.stance_for(self.adapter, &self.opened.frame));
            return Err(problem.clone());
        }
        let (_, project) = runtime.locate(self.adapter, &self.opened, &self.watch)?;
        Ok(self.project.get_or_init(|| project))
    }

    /// The reply, by what came of it; a denial where even that cannot be made.
    pub fn reply(&self, runtime: &Runtime, outcome: FrameOutcomes) -> Reply {
        let place = (self.project.get(), &self.watch);
        let reply = || runtime.reply(self.adapter, &self.opened, place, outcome);
        let refuse = |problem| self.refuse(problem);
        catch_unwind(AssertUnwindSafe(reply)).unwrap_or_else(|panic| refuse(broken(panic.as_ref())))
    }

    /// The reply to a frame that cannot be decided, as far as is known by now how that is answered.
    pub fn refuse(&self, problem: Problem) -> Reply {
        self.watch.get().answer(self.adapter.codec(), self.opened.received(), problem)
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
        message: Option<&Message>,
    ) -> Result<Project, Problem> {
        let variables = adapter.installer().places().project_variables;
        let named = variables.iter().find_map(|name| frame.environment.get_key_value(name));
        if let Some((name, value)) = named {
            let path = Path::new(value);
            return if path.is_absolute() {
                Ok(Project::find(&self.locations, path))
            } else {
                Err(Problem::new(Code::BadInput, format!("`{name}` is set and names no absolute folder")))
            };
        }
        if let Some(project) =
            message.map_or(Ok(None), |message| Project::of_session(&self.locations, &message.session))?
        {
            return Ok(project);
        }
        let start = message
            .and_then(|message| message.cwd.clone())
            .or_else(|| std::env::current_dir().ok())
            .unwrap_or_else(|| PathBuf::from("/"));
        Ok(Project::find(&self.locations, &start))
    }

    /// Decides a frame. There always is a reply: where the frame cannot be decided, it is a denial in block mode, a
    /// warning in warn mode, and silence in a project that was never guarded.
    #[must_use]
    pub fn handle_frame(&self, adapter: &dyn Adapter, opened: &Opened, deadline: &Deadline, watch: &Watch) -> Reply {
        let located = self.locate(adapter, opened, watch);
        let decided = |(message, project): &(&Message, Project)| {
            let transaction = Transaction::open(self, project.clone(), &message.session, (deadline, watch))?;
            let decide = |mut open: Transaction<'_>| {
                let view = SessionView::new(&open.own.memory, Some(&open.state.session));
                let decoded = adapter.codec().decode(message, &view);
                let decided = decide(&mut open, (adapter, &opened.frame), decoded);
                if self.ends_with_answer {
                    std::mem::forget(open);
                }
                decided
            };
            transaction.map(decide).transpose()
        };
        let outcome = located.as_ref().map_err(Clone::clone).and_then(decided);
        let project = located.as_ref().ok().map(|(_, project)| project);
        self.reply(adapter, opened, (project, watch), outcome)
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
    pub fn locate<'a>(
        &self,
        adapter: &dyn Adapter,
        opened: &'a Opened,
        watch: &Watch,
    ) -> Result<(&'a Message, Project), Problem> {
        let frame = &opened.frame;
        let message = opened.open(adapter).inspect_err(|_| watch.set(self.stance_for(adapter, frame)))?;
        let project = self.project_of(adapter, frame, Some(message)).inspect_err(|_| watch.set(Stance::Unsure))?;
        tracing::debug!(event = message.event, session = message.session, root = %project.root.display(), "frame");
        Ok((message, project))
    }

    /// The reply to a frame, by what came of it.
    pub fn reply(
        &self,
        adapter: &dyn Adapter,
        opened: &Opened,
        (project, watch): (Option<&Project>, &Watch),
        outcome: FrameOutcomes,
    ) -> Reply {
        let codec = adapter.codec();
        match outcome {
            Ok(None) => match project.and_then(|project| other_projects::refused(self, adapter, opened, project)) {
                Some(problem) => codec.refuse(opened.received(), &problem),
                None => Reply::Nothing,
            },
            Ok(Some(steps)) => {
                let Some(message) = opened.message() else { return Reply::Nothing };
                codec.reply(message, &Verdict::of(&steps))
            }
            Err(problem) => {
                if let (Stance::Unknown, Some(project)) = (watch.get(), project) {
                    watch.set(self.stance(project));
                }
                watch.get().answer(codec, opened.received(), problem)
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
    let names = adapter.installer().places().session_variables;
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
