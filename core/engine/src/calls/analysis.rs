//! Call analysis: what the arguments of a call would do.

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use phasegate_rules::Piece;
use serde::{Deserialize, Serialize};

pub use crate::calls::exit_status::Status;
pub use crate::calls::forbidden_change::{ForbiddenChange, ForbiddingPhase};
use crate::shell::test_report::TestRun;
use crate::state::redacted_tests::Redacted;

/// The call analysis: the simple commands of a shell command, the paths of a file tool.
///
/// It is made before `step`. An empty analysis means that nothing is known, not that the call is harmless.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallAnalysis {
    /// The simple commands, in the order of the line.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<SimpleCommand>,
    /// Where the line begins. A command that goes to another folder counts as running there.
    #[serde(default, skip_serializing_if = "RunsIn::is_root")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub starts_in: RunsIn,
    /// The known paths that the call would access.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathUse>,
    /// The paths that a line names in part, the rest of which is made when it runs. Looked for only where there are rules.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub in_part: Vec<PathInPart>,
    /// What a tool may run of which nothing says what it does. Looked for only where there are rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub may_run: Option<Box<MayRun>>,
    /// What the tasks run that a line starts, as files of the project say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub tasks: Option<Box<TaskCommands>>,
    /// The protected paths that the call would change or could change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub guarded: Vec<Guarded>,
    /// Whether its record leaves arguments out: then no answer repeats them.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub unsaid: bool,
    /// What was found out about arguments that a record does not repeat; never given by a platform.
    #[serde(default, rename = "shortened", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub redacted: Option<Box<Redacted>>,
    /// What the call has the client do beside the tool itself, where the adapter knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invokes: Option<Invocation>,
    /// For a call that starts a subagent: how the platform names the subagent when it begins, where it does. Two starts of
    /// different names can be told apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_as: Option<String>,
    /// The paths among the arguments of a call whose tool says nothing of paths, by how they are written there; those of the
    /// project relative to it. [`UNKNOWN`]: there are more.
    #[serde(default, skip_serializing_if = "crate::values::is_default")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub in_project: Box<BTreeMap<String, String>>,
    /// Whether what the call ends with is no evidence, whatever it is: its server is not the one that a person knows.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub unproven: bool,
    /// Whether what it would change of the guard's own belongs to others too, one of which is in block mode: then only that
    /// mode holds.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub of_strict_others: bool,
    /// The files that earlier calls changed although they might not, and that are not as they were; none where this call
    /// puts some of them back. Never given by a platform.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub changed: Vec<ForbiddenChange>,
    /// Whether the call does nothing but put such files back, or change them once more: no run judges it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub undoes: bool,
    /// The calls of other sessions that facts of rules count as running, and whose process is gone, each as its session and
    /// its number there. Never given by a platform.
    #[serde(default, skip_serializing_if = "crate::values::is_default")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub gone: Box<[String]>,
    /// Whether the line says that something of it goes on after it: `&`, `nohup`.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub leaves_running: bool,
    /// The words below headings of arguments that are Markdown, by the path to the argument and the heading: those that the
    /// policy asks about. Never given by a platform.
    #[serde(default, skip_serializing_if = "crate::values::is_default")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub sections: Box<BTreeMap<String, BTreeMap<String, u64>>>,
    /// Whether the client's shell would run the line so that nothing of it stays. Never given by a platform.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub confinable: bool,
    /// Whether the line only reads, and reads the same where the kernel holds it: it shows no processes, asks no service.
    #[serde(skip)]
    pub reads_held: bool,
    /// Whether the question is about the tool with any arguments, so that it is denied only if every call of it is.
    /// Only probes set this.
    #[serde(skip)]
    pub open: bool,
}

impl CallAnalysis {
    /// The words below a heading of an argument; `None`: they were not counted.
    pub(crate) fn words_below(&self, argument: &str, heading: &str) -> Option<u64> {
        self.sections.get(argument)?.get(heading).copied()
    }

    /// Whether nothing was found.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
            && self.paths.is_empty()
            && self.in_part.is_empty()
            && self.may_run.is_none()
            && self.tasks.is_none()
            && self.guarded.is_empty()
            && self.redacted.is_none()
            && self.invokes.is_none()
            && self.starts_as.is_none()
            && self.sections.is_empty()
            && self.in_project.is_empty()
            && !self.unproven
            && !self.of_strict_others
            && self.changed.is_empty()
            && !self.undoes
            && self.gone.is_empty()
            && !self.confinable
    }
}

/// What a tool may run: the texts among its arguments that may be lines of a shell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MayRun {
    /// The commands of these lines, and each once more as the words after a program that is not known.
    pub commands: Vec<SimpleCommand>,
    /// The paths that they access.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathInPart>,
}

/// The commands of tasks: `make test` runs what the Makefile says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskCommands {
    /// The commands, each with its place in the text of the task.
    pub commands: Vec<SimpleCommand>,
    /// The paths that they access, each with the number of its command.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathUse>,
}

/// What a call has the client do, by name, in whatever way the platform does it. In a matcher, a name with `*` for any
/// characters.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Invocation {
    /// The agent gets the text of the client's skill of this name.
    Skill(String),
    /// A subagent of this type is started.
    Agent(String),
}

impl Invocation {
    /// The name of the skill, or the type of the subagent.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Skill(name) | Self::Agent(name) => name,
        }
    }

    /// A name as a client takes it that ignores outer spaces and the plugin that a skill comes from (`plugin:name`).
    #[must_use]
    pub fn plain(name: &str) -> &str {
        let name = name.trim();
        name.rsplit_once(':').map_or(name, |(_, last)| last.trim())
    }
}

/// A protected path that a call would change or could change.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guarded {
    /// The kind of protected path.
    pub part: Part,
    /// The path as the call gives it, or the words that name it.
    pub path: String,
}

/// The kinds of protected paths (rules 4.1).
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// A config, or a place where phasegate looks for one.
    Policy,
    /// The `SKILL.md` of a skill, or a place where discovery looks for one.
    Skill,
    /// The state folder: journals and other state of projects.
    State,
    /// The platform's settings, which start the guard, and other files that the platform obeys without asking the
    /// guard.
    Settings,
    /// The program `phasegate`.
    Program,
    /// No path: a client that a line starts, or runs to change what it obeys.
    Client,
    /// No path: a command of phasegate that only a person gives.
    Command,
    /// No path: a line that is not read to its end, and why.
    Unread,
}

impl Part {
    /// What such a thing is, behind "which" or "that".
    #[must_use]
    pub fn in_words(self) -> &'static str {
        match self {
            Self::Policy => "is the guard's config",
            Self::Skill => "says what a skill may do",
            Self::State => "is the guard's state",
            Self::Settings => "the client obeys without asking the guard",
            Self::Program => "is the guard's own program",
            Self::Client => "starts a second client of an agent, or changes what one obeys",
            Self::Command => "only a person may run where a project is guarded",
            Self::Unread => "cannot be read to its end, so that it may change what is the guard's",
        }
    }
}

/// One simple command of a shell line.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimpleCommand {
    /// The program and its arguments; the first word is the program.
    pub words: Vec<Word>,
    /// How words begin that are known in part: the number of each, and the text. Each is one word.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub starts: Vec<(u32, String)>,
    /// Assignments before the program, as name and value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<(String, Word)>,
    /// Redirections, as operator and target.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub redirections: Vec<(String, Word)>,
    /// Texts that may stand in words that are made when the line runs, and in what the command is fed: as far as the line
    /// says it. An unknown word stands for more than are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub beside: Vec<Word>,
    /// The first byte in the line, and the byte after the last.
    pub span: (u32, u32),
    /// The most harmful effect that the command can have.
    pub verdict: Verdict,
    /// How many words after the program are its own options, before its subcommand (2 in `git -C x push`).
    #[serde(default, skip_serializing_if = "is_zero")]
    pub global_options: u32,
    /// Whether one of these options may take the word after it for its value, so that the subcommand may stand elsewhere.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unplaced: bool,
    /// Whether all of these options are known, and change nothing about what the subcommand does.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub led_plainly: bool,
    /// Whether it is a `git push` of something else than what is checked out in the project, or may be. Looked for only where
    /// there are rules.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub pushes_other: bool,
    /// What the exit status of the line says about this command.
    #[serde(default, skip_serializing_if = "Status::is_lost")]
    pub status: Status,
    /// Whether it only runs the command inside it, as `timeout 60 pytest` does.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub transparent: bool,
    /// Whether another command of the line runs it, as `sudo` does `git push` in `sudo git push`.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub launched: bool,
    /// Whether the word after the program may be a user's own name for any of its commands, as an alias of git.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub alias: bool,
    /// Whether it talks to another machine, whatever else it does.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub network: bool,
    /// Whether it may run several times, or not where it stands: in a loop, a condition or a function, or if another program
    /// runs it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub repeats: bool,
    /// Where it runs.
    #[serde(default, skip_serializing_if = "RunsIn::is_root")]
    pub runs_in: RunsIn,
    /// Whether it changes something that is no file that it names: the repository's own data, a service, a process.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub besides: bool,
    /// Whether it only looks into a database, and makes at most files beside it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub looks: bool,
    /// Whether nothing is known of its program, by its bare name, and nothing is registered of it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unheard: bool,
    /// Whether it is `execute` only because programs obey a file that it changes: which files these are is known.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub obeyed: bool,
    /// The tests that it runs in the project, where nothing else in the line can print.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestRun>,
    /// What is registered of it, where that decided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registered: Option<Registered>,
    /// Why it does more than read, as a lower-case fragment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub because: Option<String>,
}

/// How it is said that nothing is known of a program, after its name.
pub const NOT_HEARD_OF: &str = "is not a program that is known";
/// How it is said that earlier calls changed what a program runs.
pub const CHANGED_BEFORE: &str = "was changed by earlier calls";

/// The folder in which a command runs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum RunsIn {
    /// The root of the project, also where nobody says it.
    #[default]
    Root,
    /// A folder below it.
    Below,
    /// Another folder, or one that is not known.
    Elsewhere,
}

impl RunsIn {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
    fn is_root(&self) -> bool {
        *self == Self::Root
    }
}

/// What the registry says of a command: which pattern selects it, and what its level is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Registered {
    /// The name of the program.
    pub tool: String,
    /// The pattern; absent where the entry's default says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The level's word.
    pub level: String,
    /// Whether a word is not known that decides whether the pattern means the command.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub doubt: bool,
    /// The word that no READ pattern passes over, where that is why none selects the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<String>,
}

impl Registered {
    /// Whether the command only reads.
    #[must_use]
    pub fn reads(&self) -> bool {
        self.level == "READ"
    }

    /// Why it does what it does, as a lower-case fragment.
    #[must_use]
    pub fn because(&self) -> String {
        let Self { tool, pattern, level, doubt, changes } = self;
        match (pattern, changes) {
            (Some(pattern), _) if *doubt => {
                format!("it may be what `{pattern}` means, which is registered as {level}")
            }
            (Some(pattern), _) => format!("registered as {level} by `{pattern}`"),
            (None, Some(word)) => {
                format!("`{word}` changes things, so no READ pattern of `{tool}` means it")
            }
            (None, None) => format!("no pattern of `{tool}` means it, and its default is {level}"),
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A word of a command: known, or computed at run time (a variable, a substitution).
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Word {
    /// The word after quote removal.
    Known(String),
    /// A word that is unknown before the line runs.
    Unknown,
    /// One word that is unknown before the line runs and is the value of an option, as a message: no option of its own.
    Value,
}

/// The most harmful effect of a command, from harmless to unknown.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It only reads.
    Read,
    /// It writes files or other state.
    Write,
    /// It runs other programs.
    Execute,
    /// It sends data to other machines.
    Send,
    /// It is unknown.
    Unknown,
}

/// One path that a call would access.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathUse {
    /// The path as the call gives it.
    pub written: String,
    /// The path with links, `.` and `..` resolved; absent if that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resolved: Option<String>,
    /// What the call does to it.
    pub access: Access,
    /// Which simple command of a shell line does it, by its number; absent in other calls.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<u32>,
    /// Whether a folder is made, and nothing in it is changed.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub folder: bool,
    /// Whether a file with secrets would stand there, by its name, and nothing is there yet. Looked for only where there are
    /// rules.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub new: bool,
    /// Whether a file is written that has another name too (a hard link), wherever that is.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub linked: bool,
    /// What stands in the file once the call is done, where its arguments say so. Looked for only where a condition asks for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub becomes: Option<Box<NewContent>>,
    /// How the paths of files end that are changed below it, where it is a folder: `""` for any end. Else empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub below: Vec<String>,
    /// Whether only a bare word says so, of which nobody knows whether it is a path, and nothing of that name is there. Rules
    /// do not see it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    #[cfg_attr(feature = "schema", schemars(skip))]
    pub guess: bool,
}

/// What a call makes of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NewContent {
    /// The SHA-256 of the new bytes, as hexadecimal digits; empty: what it makes of those that are there is not known.
    pub sha256: String,
    /// The SHA-256 of the bytes that it is made from; empty: not known. `None`: the call gives all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_from: Option<String>,
    /// Whether it has no line of code that the file had not before, in that order.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub adds_none: bool,
}

/// What a command writes without naming it, as a path: anything.
pub const UNNAMED: &str = "/";
/// A path of which nothing is known before it runs: anything too, as a word may say it.
pub const UNKNOWN: &str = "//";

impl PathUse {
    /// A path as a call gives it.
    #[must_use]
    pub fn new(written: String, access: Access) -> Self {
        Self {
            written,
            resolved: None,
            access,
            command: None,
            folder: false,
            new: false,
            linked: false,
            becomes: None,
            below: Vec::new(),
            guess: false,
        }
    }
}

/// A path of which a shell line names a part.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PathInPart {
    /// What the path is made of.
    pub name: Vec<Piece>,
    /// What its last part is made of.
    pub file: Vec<Piece>,
    /// Whether the last part may begin with a dot: no name that a pattern of the shell finds does, unless it says so.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub hidden: bool,
    /// Whether what is not known of the path has no slash: what a pattern of the shell finds in one folder.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub flat: bool,
    /// What is done there.
    pub access: Access,
    /// Which simple command does it, by its number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<u32>,
}

/// What a call does to a path.
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Reads it.
    Read,
    /// Creates or changes it.
    Write,
    /// Removes or renames it, with everything below it.
    Remove,
    /// Runs it.
    Execute,
}

impl Access {
    /// The predicate of a call that does so.
    #[must_use]
    pub fn verb(self) -> &'static str {
        match self {
            Self::Read => "reads",
            Self::Write => "changes",
            Self::Remove => "removes",
            Self::Execute => "runs",
        }
    }
}
