//! Frames: the project that one belongs to, the events it stands for, and the reply. A hook does all of it in one go, a
//! bridge in batches.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use phasegate_adapter::{
    Adapter, Decoded, FailureMode, Frame, Memory, Message, Places, Problem, Refusal, Reply, SessionView, Verdict,
};
use phasegate_core::policy::Mode;
use phasegate_core::{Code, Event, EventKind, Outcome, state};

use crate::bounds::MAX_PATH_BYTES;
use crate::clients::hook_installation;
use crate::deadline::{Deadline, broken, limit_from_environment};
use crate::driver::Driver;
use crate::driver::open_frame::Opened;
use crate::processes::sender::{self, sender};
use crate::project::Project;
use crate::project::descendant_projects;
use crate::project::other_projects;
use crate::runtime::Runtime;
use crate::sessions::lineage::Origin;
use crate::sessions::snapshot::SessionChange;

/// The outcomes of a frame's events; `None` if the project was never guarded.
pub type FrameOutcomes = Result<Option<Vec<Outcome>>, Refusal>;

/// A frame that waits for its turn.
pub struct Framed {
    /// The platform's adapter.
    pub adapter: &'static dyn Adapter,
    /// The frame with its message.
    pub opened: Opened,
    /// Why the frame was not opened, where the adapter panicked.
    panicked: Option<Problem>,
    /// The project that it belongs to, once it was looked for.
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
        Self { adapter, opened, panicked, project: OnceLock::new() }
    }

    /// The session; empty where that is not known.
    pub fn session(&self) -> &str {
        self.opened.message().map_or("", |message| &message.session)
    }

    /// The project that it belongs to, where that was looked for.
    pub fn project(&self) -> Option<&Project> {
        self.project.get()
    }

    /// The project that it belongs to.
    ///
    /// # Errors
    ///
    /// The frame cannot be read, or names no folder.
    pub fn locate(&self, runtime: &Runtime) -> Result<&Project, Refusal> {
        if let Some(problem) = &self.panicked {
            let failure_mode = runtime.failure_mode_of(self.adapter, &self.opened);
            return Err(Refusal { problem: problem.clone(), failure_mode });
        }
        let located = runtime.locate(self.adapter, &self.opened)?;
        Ok(self.project.get_or_init(|| located.project))
    }

    /// The reply, by what came of it.
    pub fn reply(&self, runtime: &Runtime, outcomes: FrameOutcomes) -> Reply {
        let reply = || runtime.reply(self.adapter, &self.opened, self.project.get(), outcomes);
        catch_unwind(AssertUnwindSafe(reply)).unwrap_or_else(|panic| {
            let failure_mode = runtime.failure_mode_of(self.adapter, &self.opened);
            self.refuse(&Refusal { problem: broken(panic.as_ref()), failure_mode })
        })
    }

    /// The reply to a frame that cannot be decided.
    pub fn refuse(&self, refusal: &Refusal) -> Reply {
        answer(refusal, self.adapter, &self.opened)
    }
}

/// A frame's message and the project that it belongs to.
pub struct Located<'a> {
    /// The message.
    pub message: &'a Message,
    /// The project.
    pub project: Project,
}

/// The reply to a frame that cannot be decided.
pub fn answer(refusal: &Refusal, adapter: &dyn Adapter, opened: &Opened) -> Reply {
    let Refusal { problem, failure_mode } = refusal;
    tracing::warn!(code = %problem.code, ?failure_mode, "{}", problem.message);
    refusal.reply(adapter.codec(), opened.received())
}

impl Runtime {
    /// What happens to a frame whose session cannot be asked.
    pub fn failure_mode_of(&self, adapter: &dyn Adapter, opened: &Opened) -> FailureMode {
        let project = self.project_of(adapter, &opened.frame, opened.message());
        project.map_or(FailureMode::Closed, |project| self.failure_mode(&project))
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
            if !path.is_absolute() || value.len() > MAX_PATH_BYTES {
                return Err(Problem::new(
                    Code::BadInput,
                    format!("`{name}` is set and names no absolute folder of at most {MAX_PATH_BYTES} bytes"),
                ));
            }
            let project = self.project_above(path);
            if project.is_guarded_anywhere(&self.locations) {
                return Ok(project);
            }
            // Where a skill of a project below was started, the session belongs to that one.
            let kept = message.map_or(Ok(None), |message| Project::of_session(&self.locations, &message.session))?;
            return Ok(kept.filter(|kept| kept.root.starts_with(&project.root)).unwrap_or(project));
        }
        if let Some(project) =
            message.map_or(Ok(None), |message| Project::of_session(&self.locations, &message.session))?
        {
            return Ok(project);
        }
        if let Some(root) = message.and_then(|message| self.seen.of_session(&message.session)) {
            return Ok(Project::at(&self.locations, &root));
        }
        let start = message
            .and_then(|message| message.cwd.clone())
            .or_else(|| std::env::current_dir().ok())
            .unwrap_or_else(|| PathBuf::from("/"));
        Ok(self.project_above(&start))
    }

    /// The project that the folder lies in: a guarded one, else the nearest that this process saw guarded.
    fn project_above(&self, folder: &Path) -> Project {
        let found = Project::find(&self.locations, folder);
        if self.seen.is_empty() || found.is_guarded_anywhere(&self.locations) {
            return found;
        }
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf());
        self.seen.above(&folder).map_or(found, |root| Project::at(&self.locations, &root))
    }

    /// Decides a frame. There always is a reply: where the frame cannot be decided, it is a denial in block mode, a
    /// warning in warn mode, and silence in a project that was never guarded.
    pub fn handle_frame(&self, adapter: &dyn Adapter, opened: &Opened, deadline: &Deadline) -> Reply {
        let Located { message, project } = match self.locate(adapter, opened) {
            Ok(located) => located,
            Err(refusal) => return answer(&refusal, adapter, opened),
        };
        let open =
            |project: &Project| Driver::open(self, self.store.as_ref(), project.clone(), &message.session, deadline);
        let (project, opened_driver) = match open(&project) {
            Ok(None) => match descendant_projects::with_skill(self, adapter, message, &project) {
                Some(below) => (below.clone(), open(&below)),
                None => (project, Ok(None)),
            },
            other => (project, other),
        };
        let decide = |mut driver: Driver<'_>| {
            let kept = &driver.loaded.own.snapshot.memory;
            let decoded = decode(adapter, message, kept, &driver.state.session);
            let decided = decide(&mut driver, adapter, opened, decoded);
            let decided = decided.map_err(|problem| driver.refuse(problem));
            if self.ends_with_answer {
                std::mem::forget(driver);
            }
            decided
        };
        let decided = opened_driver.and_then(|driver| driver.map(decide).transpose());
        let decided = decided.or_else(|refusal| self.in_a_line(adapter, message, refusal));
        self.reply(adapter, opened, Some(&project), decided)
    }

    /// What comes of a frame that cannot be recorded. A client that a line of another session starts is held with the line, and
    /// cannot write to the guard: it may answer prompts, and calls nothing.
    fn in_a_line(&self, adapter: &dyn Adapter, message: &Message, refusal: Refusal) -> FrameOutcomes {
        if refusal.problem.code != Code::StateNotSaved || !is_read_only(&self.locations.state) {
            return Err(refusal);
        }
        let decoded = decode(adapter, message, &Memory::default(), &state::Session::default());
        let is_call = |event: &Event| matches!(event.kind, EventKind::ToolCall { .. } | EventKind::Command { .. });
        if decoded.is_ok_and(|decoded| !decoded.events.iter().any(is_call)) {
            return Ok(Some(Vec::new()));
        }
        let message =
            "the guard's state is read-only here, as for a client that a line of a session starts: it calls no tool";
        let remedy = "use a subagent of the session, or ask the user to start the client in a terminal, with a state that it can write";
        Err(Refusal { problem: Problem::new(Code::StateNotSaved, message).with_remedy(remedy), ..refusal })
    }

    /// Decides one event of a session that no frame brought, for example a control command. `None`: nothing guards
    /// the project.
    ///
    /// # Errors
    ///
    /// Whatever keeps the event from being decided and recorded.
    pub fn handle_event(&self, project: Project, session: &str, event: Event) -> Result<Option<Outcome>, Problem> {
        let deadline = Deadline::new(limit_from_environment());
        let driver = Driver::open(self, self.store.as_ref(), project, session, &deadline);
        let Some(mut driver) = driver.map_err(|refusal| refusal.problem)? else { return Ok(None) };
        let mut last = None;
        for event in driver.inherit(&Origin::default(), vec![event])? {
            last = Some(driver.decide(event)?);
        }
        Ok(last)
    }

    /// The message of a frame and its project.
    ///
    /// # Errors
    ///
    /// The frame cannot be read, or names no folder.
    pub fn locate<'a>(&self, adapter: &dyn Adapter, opened: &'a Opened) -> Result<Located<'a>, Refusal> {
        let message = opened.open(adapter).map_err(|problem| self.unread(adapter, opened, problem))?;
        let project = self.project_of(adapter, &opened.frame, Some(message)).map_err(Refusal::closed)?;
        if self.asks_for_less(&project)
            && let Some(problem) = hook_installation::weakened(adapter, &opened.frame, &project)
        {
            return Err(Refusal::closed(problem));
        }
        tracing::debug!(event = message.event, session = message.session, root = %project.root.display(), "frame");
        Ok(Located { message, project })
    }

    /// Whether nothing is kept of a guarded project, and its configs ask for warnings alone.
    fn asks_for_less(&self, project: &Project) -> bool {
        matches!(project.remembered(), Ok(None))
            && self.discover(project).project_guards()
            && self.mode_without_answer(project) == Mode::Warn
    }

    /// The refusal of an unreadable frame. In an unguarded project the frame passes unless it names a protected path of
    /// another project.
    fn unread(&self, adapter: &dyn Adapter, opened: &Opened, problem: Problem) -> Refusal {
        let failure_mode = match self.failure_mode_of(adapter, opened) {
            FailureMode::Open if other_projects::speaks_of_guarded(self, opened) => FailureMode::Closed,
            known => known,
        };
        Refusal { problem, failure_mode }
    }

    /// The reply to a frame, by what came of it.
    pub fn reply(
        &self,
        adapter: &dyn Adapter,
        opened: &Opened,
        project: Option<&Project>,
        outcomes: FrameOutcomes,
    ) -> Reply {
        match outcomes {
            Ok(None) => {
                let removed = |project| hook_installation::removed(adapter, &opened.frame, project);
                let other = |project| other_projects::refused(self, adapter, opened, project);
                match project.and_then(|project| removed(project).or_else(|| other(project))) {
                    Some(problem) => adapter.codec().refuse(opened.received(), &problem),
                    None => Reply::Nothing,
                }
            }
            Ok(Some(outcomes)) => {
                let Some(message) = opened.message() else { return Reply::Nothing };
                adapter.codec().reply(message, &Verdict::of(&outcomes))
            }
            Err(refusal) => answer(&refusal, adapter, opened),
        }
    }
}

/// Whether the file system that a folder is seen on takes no changes.
#[cfg(unix)]
fn is_read_only(folder: &Path) -> bool {
    rustix::fs::statvfs(folder).is_ok_and(|found| found.f_flag.contains(rustix::fs::StatVfsMountFlags::RDONLY))
}

#[cfg(not(unix))]
fn is_read_only(_: &Path) -> bool {
    false
}

/// The events that a message stands for. A panic of the adapter is a problem.
///
/// # Errors
///
/// The adapter cannot read the message.
pub fn decode(
    adapter: &dyn Adapter,
    message: &Message,
    memory: &Memory,
    session: &state::Session,
) -> Result<Decoded, Problem> {
    let view = SessionView::new(memory, Some(session));
    let decoded = catch_unwind(AssertUnwindSafe(|| adapter.codec().decode(message, &view)));
    decoded.unwrap_or_else(|panic| Err(broken(panic.as_ref())))
}

/// Decides the events of a frame that was decoded, up to the first that is denied, and records them.
///
/// # Errors
///
/// `not-from-client`: another process than the session's client sent the frame. It could not be decoded, an event not be decided, or a record not be written.
pub fn decide(
    driver: &mut Driver<'_>,
    adapter: &dyn Adapter,
    opened: &Opened,
    decoded: Result<Decoded, Problem>,
) -> Result<Vec<Outcome>, Problem> {
    let frame = &opened.frame;
    if let Err(problem) = sender::check(&driver.loaded.own.snapshot.senders, sender()) {
        return Err(driver.note_unreadable(&frame.bytes, problem));
    }
    let Decoded { events, memory } = match decoded {
        Ok(decoded) => decoded,
        Err(problem) => return Err(driver.note_unreadable(&frame.bytes, problem)),
    };
    if events.is_empty() {
        driver.note_memory(&frame.bytes, memory)?;
        return Ok(Vec::new());
    }
    driver.client = Some(adapter.id().to_owned());
    driver.loaded.own.change(SessionChange::Memory(memory));
    let Places { session_variables: names, project_variables: variables, .. } = adapter.installer().places();
    driver.note_shell(adapter.shell(), &frame.environment);
    let mut clients = driver.loaded.own.snapshot.clients.clone();
    let origin = Origin::of(names, frame, &events, &driver.session, &mut clients);
    let mut senders = driver.loaded.own.snapshot.senders.clone();
    sender::note(&mut senders, &clients, sender());
    driver.loaded.own.change(SessionChange::Clients(clients));
    driver.loaded.own.change(SessionChange::Senders(senders));
    driver.note_program();
    let root = driver.project.root.clone();
    let start = variables.iter().find_map(|name| frame.environment.get(name)).map_or(root.as_path(), Path::new);
    driver.start = start.to_path_buf();
    let folder = adapter.installer().project_folder(&root, start);
    let mut outcomes = Vec::new();
    driver.look_at_others(adapter, &events);
    let untold = opened.message().map(|message| driver.untold_ends(adapter, message, &events)).unwrap_or_default();
    let words = opened.message().map(|message| driver.untold_words(adapter, message, &events)).unwrap_or_default();
    let events = untold.into_iter().chain(words).chain(events).collect();
    for mut event in driver.inherit(&origin, events)? {
        let mut unwired = driver.loaded.own.snapshot.unwired.clone();
        hook_installation::complete(&mut event, &mut unwired, adapter, &driver.runtime.locations, folder);
        driver.loaded.own.change(SessionChange::Unwired(unwired));
        if let Some(message) = opened.message() {
            driver.look(adapter, message, &mut event);
        }
        driver.attribute(&mut event);
        let outcome = driver.decide(event)?;
        let denied = outcome.decision.as_ref().is_some_and(|decision| !decision.lets_through());
        outcomes.push(outcome);
        if denied {
            break;
        }
    }
    Ok(outcomes)
}
