//! What every platform adapter implements: native frames to events, decisions to native replies (rules 6).
//!
//! An adapter is pure. It sees no store, no clock and no config; what it must remember between frames
//! travels through [`Memory`], which the runtime keeps with the session's state.

pub mod frame;
pub mod capability;
pub mod install;
pub mod examine;
pub mod guard;
pub mod text;
#[cfg(feature = "guarded")]
pub mod guarded;

use std::path::{Path, PathBuf};

use phasegate_core::{Code, Event, Outcome};
use serde_json::Value;

pub use capability::{Ability, Capabilities};
pub use examine::{ExamineRequest, Examined, Finding, Level, Limit};
pub use frame::{Frame, Reply};
pub use guard::Guard;
pub use install::{Change, InstallRequest, InstallScope};

/// What an adapter keeps between the frames of one session. Small; `Null` at the start.
pub type Memory = Value;

/// Translates one platform.
pub trait Adapter: Send + Sync {
    /// The platform's id, as given to `phasegate hook <id>`: lower case, words joined by hyphens.
    fn id(&self) -> &'static str;

    /// The platform's name as its makers write it.
    fn name(&self) -> &'static str;

    /// The versions of the platform this adapter was recorded with, newest first.
    fn versions(&self) -> &'static [&'static str];

    /// What the platform can express, and what a decision becomes where it cannot.
    fn capabilities(&self) -> Capabilities;

    /// The session a frame belongs to, and its working directory, found without decoding the rest.
    ///
    /// # Errors
    ///
    /// The frame is not in the platform's form at all.
    fn address(&self, frame: &Frame) -> Result<Address, Problem>;

    /// Turns a frame into the events it stands for, in order. Events after a denied one are not stepped.
    ///
    /// # Errors
    ///
    /// The frame is not in the platform's form; the answer must then be [`Adapter::refuse`] or a warning.
    fn decode(&self, frame: &Frame, memory: &Memory) -> Result<Decoded, Problem>;

    /// Turns the steps of a frame's events into the platform's own reply.
    fn encode(&self, frame: &Frame, steps: &[Outcome]) -> Reply;

    /// What is sent when nothing else works: always a denial that the platform honours.
    fn refuse(&self, frame: &Frame, problem: &Problem) -> Reply;

    /// What is sent when a project in warn mode, or none at all, meets a problem: the call goes on, the problem is told.
    fn warn(&self, frame: &Frame, problem: &Problem) -> Reply;

    /// Where the platform keeps skills and settings.
    fn places(&self) -> Places;

    /// The changes that wire phasegate into the platform, as data. Nothing is written here.
    ///
    /// # Errors
    ///
    /// A settings file that exists cannot be understood, and writing it anew would lose something.
    fn install(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem>;

    /// As [`Adapter::install`], for these parts of the platform's settings only, such as servers by name.
    ///
    /// # Errors
    ///
    /// As for [`Adapter::install`]; the settings have no such part.
    fn install_parts(&self, request: &InstallRequest, parts: &[String]) -> Result<Vec<Change>, Problem> {
        match parts.first() {
            None => self.install(request),
            Some(part) => {
                let what = format!("the settings of {} have no server `{part}` to put the guard before", self.name());
                Err(Problem::new(Code::ConfigValue, what))
            }
        }
    }

    /// The changes that undo [`Adapter::install`]: only what phasegate put there is removed.
    ///
    /// # Errors
    ///
    /// As for [`Adapter::install`].
    fn uninstall(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem>;

    /// What somebody must know, or do besides, who has just installed it, each as a fragment without a full stop.
    fn advice(&self, _request: &InstallRequest) -> Vec<String> {
        Vec::new()
    }

    /// Why the platform would not start the guard with the settings of the request; `None` where it would.
    /// Asked when a session starts, and when settings change under it.
    fn unguarded(&self, request: &InstallRequest) -> Option<String>;

    /// What the platform's settings, as they are, mean for the guard; as far as [`Adapter::unguarded`] can tell, unless
    /// the adapter looks closer.
    fn examine(&self, request: &ExamineRequest) -> Examined {
        let finding = match self.unguarded(&request.install) {
            Some(why) => Finding::new(Level::Problem, why),
            None => Finding::new(Level::Ok, "the settings start the guard"),
        };
        Examined { findings: vec![finding], ..Examined::default() }
    }

    /// The ways to lose the guard that the platform gives nobody the means to close.
    fn limits(&self) -> &'static [Limit] {
        &[]
    }

    /// Whether the platform has a plugin that speaks with `phasegate serve`; else it starts a process for every frame.
    fn bridged(&self) -> bool {
        false
    }

    /// The program and the argument that make the platform say its version; `None` if none does.
    fn version_command(&self) -> Option<[&'static str; 2]> {
        None
    }
}

/// Which session a frame belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// The platform's session id.
    pub session: String,
    /// The session's working directory, where the frame says.
    pub cwd: Option<PathBuf>,
    /// The platform's own word for what happened, for messages.
    pub event: String,
}

/// What a frame stands for.
#[derive(Clone, Debug, PartialEq)]
pub struct Decoded {
    /// The events, in order. May be empty for a frame that means nothing to us.
    pub events: Vec<Event>,
    /// The memory after the frame.
    pub memory: Memory,
}

/// Why a frame cannot be decided as usual.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The reason's stable code.
    pub code: Code,
    /// What exactly is wrong, as a sentence without a full stop.
    pub message: String,
}

impl Problem {
    /// A problem of this kind.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }

    /// The text an agent or a user is shown: code, message and way out.
    #[must_use]
    pub fn text(&self) -> String {
        format!("phasegate [{}]: {}. {}.", self.code, self.message, capitalised(self.code.way_out()))
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

impl std::error::Error for Problem {}

impl<E: phasegate_core::code::Coded> From<E> for Problem {
    fn from(error: E) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

/// Where a platform keeps what matters to us. Paths that begin with `~/` are the user's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Places {
    /// Folders whose subfolders hold a `SKILL.md`, relative to the project or the user's home.
    pub skill_folders: Vec<&'static str>,
    /// Settings files that can switch the guard off; those that begin with `/` are the machine's.
    pub settings: Vec<&'static str>,
    /// Other files, and folders if they end with `/`, that the platform obeys or runs without asking the guard. They are
    /// protected as settings are.
    pub unseen: Vec<&'static str>,
    /// A file or folder whose presence in a project or home shows that the platform is used there.
    pub signs: Vec<&'static str>,
    /// Variables of the environment that name the project's folder, first choice first; they do not follow `cd`.
    pub project_variables: Vec<&'static str>,
    /// Variables in which the platform tells the programs that it starts, hooks and the agent's, which session they
    /// belong to.
    pub session_variables: Vec<&'static str>,
    /// Files other than settings that [`Adapter::install`] may write.
    pub installed: Vec<&'static str>,
}

impl Places {
    /// The settings files of a project and of the user whose home folder this is, whether they exist or not.
    #[must_use]
    pub fn settings_files(&self, project: &Path, home: &Path) -> Vec<PathBuf> {
        places(&self.settings, project, home)
    }

    /// The files other than settings that an installation in this project or for this user may write.
    #[must_use]
    pub fn installed_files(&self, project: &Path, home: &Path) -> Vec<PathBuf> {
        places(&self.installed, project, home)
    }
}

fn places(names: &[&str], project: &Path, home: &Path) -> Vec<PathBuf> {
    let whole = |name: &&str| name.strip_prefix("~/").map_or_else(|| project.join(name), |below| home.join(below));
    names.iter().map(whole).collect()
}

/// One entry of the registry.
pub struct Registered(pub &'static dyn Adapter);

inventory::collect!(Registered);

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
