//! Codes: every reason and every config problem, once, with summary and way out.
//!
//! A code is stable: it is never renamed and never gets another meaning.

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($( $(#[doc = $doc:literal])* $name:ident = $id:literal, $area:ident, $summary:literal, $way_out:literal; )*) => {
        /// A stable reason. Its word form is kebab-case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Code {
            $( #[doc = $summary] #[serde(rename = $id)] $name, )*
        }

        impl Code {
            /// Every code, in the order of this file.
            pub const ALL: &'static [Code] = &[$( Code::$name, )*];

            /// The word form, for example `phase-forbidden`.
            #[must_use]
            pub fn id(self) -> &'static str {
                match self { $( Self::$name => $id, )* }
            }

            /// What it means, in a sentence.
            #[must_use]
            pub fn summary(self) -> &'static str {
                match self { $( Self::$name => $summary, )* }
            }

            /// What to do about it, in a sentence.
            #[must_use]
            pub fn way_out(self) -> &'static str {
                match self { $( Self::$name => $way_out, )* }
            }

            /// Where it comes from.
            #[must_use]
            pub fn area(self) -> Area {
                match self { $( Self::$name => Area::$area, )* }
            }
        }
    };
}

/// Where a code comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    /// A call was judged by the phases of a run.
    Phase,
    /// The guard itself was to be changed.
    Protection,
    /// A server's tool is not what it was.
    Tool,
    /// A control command was refused.
    Control,
    /// The guard could not work as it should.
    Fault,
    /// A config has a mistake.
    Config,
}

impl Area {
    /// The area's word: `phase`, `protection`, `tool`, `control`, `fault` or `config`.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Phase => "phase",
            Self::Protection => "protection",
            Self::Tool => "tool",
            Self::Control => "control",
            Self::Fault => "fault",
            Self::Config => "config",
        }
    }
}

codes! {
    PhaseForbidden = "phase-forbidden", Phase,
        "the current phase of the skill forbids this tool",
        "call a tool that the phase allows; the tool may be allowed in a later phase";
    GlobalForbidden = "global-forbidden", Phase,
        "the skill forbids this tool in every phase",
        "do without the tool, or finish the skill first";
    NotDone = "not-done", Phase,
        "the tool belongs to a later phase, and what must come first has not been seen",
        "make the calls listed under `missing`; they count once they have succeeded";
    Unlisted = "unlisted", Phase,
        "no phase that can be reached from here lists this tool, and the skill denies what it does not list",
        "call a tool that the phase allows, or a tool that only reads";
    SelfProtection = "self-protection", Protection,
        "the call would change something that the guard itself stands on",
        "let the user make the change, outside of the session";
    ToolChanged = "tool-changed", Tool,
        "the server describes the tool otherwise than when it was first seen",
        "let the user look at the tool and accept it with `phasegate approve tool:SERVER/TOOL`";
    SkillUnknown = "skill-unknown", Control,
        "no skill config of this name applies here",
        "`phasegate status` lists the skills that apply; a shipped skill applies where a config names it under `use`";
    SkillActive = "skill-active", Control,
        "a skill is already active",
        "finish or deactivate the active skill first";
    SkillNotLeft = "skill-not-left", Control,
        "the skill may not be deactivated yet, or not by the agent",
        "finish the last phase, or ask the user to run `phasegate deactivate`";
    ModeUnknown = "mode-unknown", Control,
        "a mode is `warn` or `block`, nothing else",
        "write `warn` or `block`";
    CommandUnknown = "command-unknown", Control,
        "there is no control command of this name",
        "`phasegate --help` lists the commands";
    CommandRefused = "command-refused", Control,
        "the command belongs to a person, not to the agent",
        "ask the user to give the command in a terminal";
    CommandInvalid = "command-invalid", Control,
        "the command's arguments are missing or of the wrong type",
        "`phasegate schema event` shows the form of a command";
    BadInput = "bad-input", Fault,
        "the platform's message could not be understood",
        "run `phasegate adapters` to compare the platform's version with the versions this adapter was recorded with";
    InputTooLarge = "input-too-large", Fault,
        "the platform's message is larger than phasegate reads",
        "do it in smaller parts, for example write the file piece by piece";
    EventUnknown = "event-unknown", Fault,
        "the platform sent an event that this adapter does not know",
        "update phasegate, or remove the event from the platform's hook settings";
    PolicyMissing = "policy-missing", Fault,
        "this project is guarded, and its config or the policy of a live run is gone",
        "restore the files under `.phasegate/`, or ask the user to run `phasegate init` again";
    PolicyInvalid = "policy-invalid", Fault,
        "the config has mistakes, so nothing can be decided by it",
        "run `phasegate check` and correct what it lists";
    StateUnreadable = "state-unreadable", Fault,
        "the session's journal is damaged",
        "ask the user to look at the journal named in the message and to start a new session";
    StateMissing = "state-missing", Fault,
        "a journal that must exist is gone or shorter than it was",
        "ask the user to restore the state folder, to start a new session, or to run `phasegate init` again";
    StateVersion = "state-version", Fault,
        "the journal was written by a newer version of phasegate",
        "use the newer phasegate, or start a new session";
    StateBusy = "state-busy", Fault,
        "another process held the journal's lock too long",
        "try the call again";
    StateExposed = "state-exposed", Fault,
        "the state folder, or a file in it, is not the user's alone",
        "ask the user to look at what is there, and to make it theirs alone (`chown`, `chmod -R go-w`) or to let `PHASEGATE_STATE_DIR` name another folder";
    StateDisk = "state-disk", Fault,
        "the file system of the state folder cannot lock files, or cannot make them durable",
        "let `PHASEGATE_STATE_DIR` name a folder on a local disk";
    StateNotSaved = "state-not-saved", Fault,
        "the decision could not be written to the journal",
        "make room on the disk or correct the permissions of the state folder, then try again";
    Deadline = "deadline", Fault,
        "the guard did not decide in time",
        "try the call again; if it happens often, look for a slow disk or a huge project config";
    Internal = "internal", Fault,
        "the guard failed in a way it should not",
        "try the call again, and report the message with `PHASEGATE_LOG_FILE` set";
    BridgeLost = "bridge-lost", Fault,
        "the platform's plugin got no answer from the bridge that it starts: the program is missing, ended, hung or said something else",
        "try the call again: each one starts the bridge anew; if it stays so, run `phasegate doctor`, and have a person repair or reinstall phasegate";
    ConfigSyntax = "config-syntax", Config,
        "the file is not valid YAML or JSON",
        "correct the place that is marked";
    ConfigKeyUnknown = "config-key-unknown", Config,
        "there is no such key here",
        "use the key that is suggested, or remove it";
    ConfigKeyDuplicate = "config-key-duplicate", Config,
        "a key, phase or skill is given twice",
        "keep one of the two";
    ConfigValue = "config-value", Config,
        "the value is not one of those that mean something here",
        "use one of the values that are listed";
    ConfigMissing = "config-missing", Config,
        "a key that must be given is not there",
        "add the key";
    MatcherEmpty = "matcher-empty", Config,
        "an empty matcher matches no tool",
        "name a tool, a prefix (`simulate_*`), a label (`@write`), or remove the line";
    MatcherNeverMatches = "matcher-never-matches", Config,
        "no call can match this",
        "a star stands at the end of a name only; check the spelling of tool, label and server";
    MatcherUnsupported = "matcher-unsupported", Config,
        "this condition cannot be judged yet",
        "shell commands can be compared for equality only until they are parsed; write `command: \"the whole line\"`";
    ToolAllowedAndForbidden = "tool-allowed-and-forbidden", Config,
        "the same calls are allowed and forbidden in one phase",
        "remove one of the two lines; forbidden wins";
    PhaseUnknown = "phase-unknown", Config,
        "an edge leads to a phase that does not exist",
        "use the name of a phase of this skill";
    PhaseUnreachable = "phase-unreachable", Config,
        "no sequence of calls can make this phase current",
        "let an earlier phase allow or not forbid a tool of this phase, or give the phase before it a `done_when`";
    PhaseNeverDone = "phase-never-done", Config,
        "what completes this phase can never be seen in it",
        "let the phase allow a call that its `done_when` asks for";
    SkillUnknownUse = "use-unknown", Config,
        "`use` names a skill that is neither shipped nor found in a config folder",
        "use the name that is suggested";
    ConfigUnreadable = "config-unreadable", Config,
        "a config file or folder is there and cannot be read",
        "make it a regular file of at most 1 MiB of UTF-8 text that you may read, or remove it";
    PathOutside = "path-outside", Config,
        "a path leads out of the project",
        "use a path relative to the project, without `..`";
}

impl core::fmt::Display for Code {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.id())
    }
}

impl core::str::FromStr for Code {
    type Err = ();

    /// Finds a code by its word form.
    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.iter().copied().find(|code| code.id() == text).ok_or(())
    }
}
