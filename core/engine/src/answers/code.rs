//! Codes: every reason for a denial and every config error, with its summary and remedy.
//!
//! A code is stable: it is never renamed and never gets another meaning.

use serde::{Deserialize, Serialize};

macro_rules! codes {
    ($( $(#[doc = $doc:literal])* $name:ident = $id:literal, $area:ident, $summary:literal, $remedy:literal; )*) => {
        /// A stable reason. Its word form is kebab-case.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Code {
            $( #[doc = $summary] #[serde(rename = $id)] $name, )*
        }

        impl Code {
            /// Every code, in the order of this file.
            pub const ALL: &'static [Code] = &[$( Code::$name, )*];

            /// The word form, for example `phase-forbidden`.
            pub fn id(self) -> &'static str {
                match self { $( Self::$name => $id, )* }
            }

            /// What it means, in a sentence.
            pub fn summary(self) -> &'static str {
                match self { $( Self::$name => $summary, )* }
            }

            /// What to do about it, in a sentence.
            pub fn remedy(self) -> &'static str {
                match self { $( Self::$name => $remedy, )* }
            }

            /// Where it comes from.
            pub fn area(self) -> Area {
                match self { $( Self::$name => Area::$area, )* }
            }
        }
    };
}

/// An error that has a stable code.
pub trait Coded: core::fmt::Display {
    /// The code that users see.
    fn code(&self) -> Code;
}

/// Where a code comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Area {
    /// A call was judged by the phases of a run.
    Phase,
    /// A rule, a budget or the access does not admit a call.
    Admission,
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
    /// The area's word: `phase`, `admission`, `protection`, `tool`, `control`, `fault` or `config`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Phase => "phase",
            Self::Admission => "admission",
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
        "the current phase of the skill forbids this call; the denial names the line that does, where it is about more than the tool",
        "call a tool that the phase allows; the tool may be allowed in a later phase";
    GlobalForbidden = "global-forbidden", Phase,
        "the skill forbids this call in every phase; the denial names the line that does, where it is about more than the tool",
        "do without the call, or finish the skill first";
    NotDone = "not-done", Phase,
        "the tool belongs to a later phase, and the guard has not yet seen what must come first",
        "make the calls listed under `missing`; they count once they have succeeded";
    Unlisted = "unlisted", Phase,
        "no reachable phase lists this tool, and the skill denies unlisted tools",
        "call a tool that the phase allows, or a tool that only reads";
    Stopped = "stopped", Phase,
        "a phase failed as often as its limit lets it, or a run that it consists of failed: until a person says how it goes on, only calls that read are allowed",
        "stop, and tell the user; they begin a task anew with `phasegate retry ID`, skip the phase with `phasegate skip`, or end the skill with `phasegate end`";
    HeldElsewhere = "held-elsewhere", Phase,
        "another session works on the runs that a phase of the project's run consists of; this one may only read there",
        "leave it to that session, or end that one first; if its client is gone, the next call here goes on";
    StartUnclear = "start-unclear", Phase,
        "a subagent is started for one of several runs of a phase, and nobody can tell for which",
        "name the branch in the prompt; or start it again when the subagent runs that was started before";
    Unfinished = "unfinished", Phase,
        "the agent wants to end its turn, and a skill that it must finish is not done",
        "make the calls that are still missing; a person may also end the skill with `phasegate end`";
    NoRuleMatched = "no-rule-matched", Admission,
        "no rule permits this call, and the configs say that such calls are denied (`rules: {default: deny}`)",
        "make a call that a rule permits, or ask the user to permit this one";
    RuleRejected = "rule-rejected", Admission,
        "a rule denies this call, may be about it, or cannot be evaluated for it; the denial names the rule",
        "do as the reason says, or go on without the call";
    PolicyDenied = "policy-denied", Admission,
        "a policy denies this call, as the rule of that kind says (`@kind`)",
        "do as the reason says, or go on without the call";
    BudgetSpent = "budget-spent", Admission,
        "the call is more than a budget allows; the denial names the limit, what was counted, and when it is counted anew",
        "go on without the call until the budget is counted anew, or ask the user for more";
    Readonly = "access-readonly", Admission,
        "the access is `readonly`, and the call is not known to only read",
        "make calls that only read, or ask the user: `phasegate access normal --for 30m`";
    RuleVersionMismatch = "rule-version-mismatch", Admission,
        "the request states another version of the rules than is in force",
        "read the rules again, and send the request with their present version";
    AmbiguousRuleset = "ambiguous-ruleset", Admission,
        "several rules match the call, and none comes first, as the rule of that kind says (`@kind`)",
        "ask the user to correct the rules";
    EffectInvariantViolated = "effect-invariant-violated", Admission,
        "an effect of a rule would violate an invariant, as the rule of that kind says (`@kind`)",
        "go on without the call";
    AxiomViolation = "axiom-violation", Admission,
        "the call violates an axiom, as the rule of that kind says (`@kind`)",
        "go on without the call";
    SelfProtection = "self-protection", Protection,
        "the call would change a file that the guard depends on",
        "let the user make the change, outside of the session";
    SettingsKept = "settings-kept", Protection,
        "settings of the client changed, and in block mode a running session keeps those it began with: a client takes hooks and variables up at once, and starts them outside of every call",
        "begin a new session to have them in force; `phasegate status` and the start of that session say what no person accepted yet";
    ForbiddenChange = "forbidden-change", Protection,
        "a call changed a file that the current phase or the guard forbids to change, and the file is not as it was: until then only calls pass that read or that put it back",
        "run `phasegate restore`, or undo the change in these files alone; if the change is meant, ask the user to accept it with `phasegate restore --keep`";
    RanUnguarded = "ran-unguarded", Protection,
        "something went past the guard in this session: a call ran although it was denied or the guard was never asked, or the client recorded another end of it than the guard was told",
        "the user looks at what ran and at what the client loads (`phasegate doctor`), and accepts it: `/phasegate reload`, or `phasegate reload` in a terminal";
    ToolChanged = "tool-changed", Tool,
        "the server's description of the tool differs from the one that was first seen",
        "ask the user to review the tool and accept it with `phasegate approve tool:SERVER/TOOL`";
    SkillUnknown = "skill-unknown", Control,
        "this project has no skill of this name",
        "`phasegate status` lists the skills of the project; to use a shipped skill, name it in a config under `use`";
    InputsMissing = "inputs-missing", Control,
        "a skill is to begin without values for its inputs, or with values that they do not take",
        "give a value for each input, as `name=value`";
    SkillActive = "skill-active", Control,
        "a skill is already active",
        "finish or deactivate the active skill first";
    SkillNotLeft = "skill-not-left", Control,
        "the skill cannot be deactivated yet, or only by a person",
        "finish the last phase, or ask the user to run `phasegate end`";
    ModeUnknown = "mode-unknown", Control,
        "there is no such mode; a mode is `warn` or `block`",
        "write `warn` or `block`";
    CommandUnknown = "command-unknown", Control,
        "there is no command of this name",
        "`phasegate --help` lists the commands";
    CommandRefused = "command-refused", Control,
        "only a person may give this command",
        "ask the user to give the command in a terminal";
    CommandInvalid = "command-invalid", Control,
        "an argument of the command is missing or has the wrong type",
        "`phasegate schema event` describes commands and their arguments";
    NotRegistered = "not-registered", Control,
        "what commands of a program do cannot be registered so, or not by who asked",
        "correct the patterns; the user lets agents classify a program with `phasegate safety approve PROGRAM`";
    BadInput = "bad-input", Fault,
        "the platform's message cannot be parsed",
        "tell the user, who compares the platform's version with those that `phasegate adapters` lists";
    HostUnknown = "host-unknown", Fault,
        "another host than the platform itself sent the message, in a form that is not read here",
        "tell the user: docs/platforms.md names the hosts that are known";
    InputTooLarge = "input-too-large", Fault,
        "the platform's message is larger than phasegate accepts",
        "split the call into smaller parts, for example write the file piece by piece";
    NotFromClient = "not-from-client", Fault,
        "another process than the session's client sent this message to the guard",
        "only the client starts `phasegate hook` or `phasegate serve`; if a person's hook line hands its messages on through another program, start phasegate in it directly (`phasegate init` writes such a line) and begin a new session";
    EventUnknown = "event-unknown", Fault,
        "the platform sent an event that this adapter does not know",
        "tell the user, who updates phasegate or takes the event out of the platform's hook settings";
    NotConfined = "not-confined", Fault,
        "the config requires that the kernel holds shell lines (`confine: required`), and it does not hold them here",
        "use the file tools; the user finds with `phasegate doctor` what is missing, or sets `confine: auto`";
    PolicyMissing = "policy-missing", Fault,
        "this project is guarded, but its config or the policy of a live run is missing",
        "ask the user to restore the files under `.phasegate/`, or to run `phasegate init` again (`phasegate init --undo`, if the project is not to be guarded any more)";
    PolicyInvalid = "policy-invalid", Fault,
        "the config has errors, so phasegate cannot decide",
        "ask the user to run `phasegate check` and correct what it lists";
    StateUnreadable = "state-unreadable", Fault,
        "a journal is damaged",
        "ask the user to run `phasegate repair` in a terminal: it sets the damaged journal aside, and the session goes on";
    StateMissing = "state-missing", Fault,
        "a journal is missing or shorter than before",
        "ask the user to run `phasegate repair` in a terminal: the session then goes on by what the user says was active";
    StateVersion = "state-version", Fault,
        "another version of phasegate wrote the journal",
        "use that version, or ask the user to run `phasegate repair` in a terminal, which sets the journal aside";
    StateBusy = "state-busy", Fault,
        "another process held the journal's lock too long",
        "try the call again; if it stays so, ask the user to end the process that holds the journal";
    StateExposed = "state-exposed", Fault,
        "the state folder or a file in it is not private to the user",
        "ask the user to look at what is there, and to make it theirs alone (`chown`, `chmod -R go-w`); where a link or no file stands in a journal's place, `phasegate repair` in a terminal sets it aside";
    StateDisk = "state-disk", Fault,
        "the file system of the state folder cannot lock or sync files",
        "set `PHASEGATE_STATE_DIR` to a folder on a local disk";
    StateNotSaved = "state-not-saved", Fault,
        "phasegate could not write the decision to the journal",
        "make room on the disk or correct the permissions of the state folder, then try again; if it cannot be written at all, start the client with `PHASEGATE_STATE_DIR` set to a folder that can";
    Deadline = "deadline", Fault,
        "phasegate did not decide before its deadline",
        "try the call again; if it happens often, look for a slow disk, a huge project config or a low `PHASEGATE_DEADLINE_MS`";
    Internal = "internal", Fault,
        "phasegate has an internal error",
        "try the call again; report the message together with a log (set `PHASEGATE_LOG_FILE`)";
    BridgeLost = "bridge-lost", Fault,
        "the plugin got no valid answer from its bridge: the program is missing, ended, hung or sent something else",
        "try the call again: each one starts the bridge anew; if it stays so, run `phasegate doctor`, and have a person repair or reinstall phasegate";
    ConfigSyntax = "config-syntax", Config,
        "the file is not valid YAML or JSON",
        "correct the place that is marked";
    ConfigKeyUnknown = "config-key-unknown", Config,
        "this key is unknown",
        "use the suggested key, or remove it";
    ConfigKeyDuplicate = "config-key-duplicate", Config,
        "a key, phase or skill is defined twice",
        "keep one of the two";
    ConfigValue = "config-value", Config,
        "the value is not valid for this key",
        "use one of the listed values";
    ConfigMissing = "config-missing", Config,
        "a required key is missing",
        "add the key";
    MatcherEmpty = "matcher-empty", Config,
        "an empty matcher matches no tool",
        "name a tool, a prefix (`simulate_*`), a label (`@write`), or remove the line";
    MatcherNeverMatches = "matcher-never-matches", Config,
        "no call can match this",
        "a star stands at the end of a name only; check the spelling of tool, label and server";
    MatcherUnsupported = "matcher-unsupported", Config,
        "phasegate does not support this condition",
        "use a supported condition: the words of a `command` (`git push *`), a name with a trailing `*`, or a pattern of paths (`src/**/*.rs`)";
    ToolAllowedAndForbidden = "tool-allowed-and-forbidden", Config,
        "one phase both allows and forbids the same calls",
        "remove one of the two lines; forbidden wins";
    PhaseUnknown = "phase-unknown", Config,
        "an edge leads to a phase that does not exist",
        "use the name of a phase of this skill";
    PhaseUnreachable = "phase-unreachable", Config,
        "no sequence of calls can make this phase current",
        "let an earlier phase allow or not forbid a tool of this phase, or give the phase before it a `done_when`";
    PhaseNeverDone = "phase-never-done", Config,
        "the phase can never be done: its `done_when` asks for calls that cannot run in it",
        "allow a call that the `done_when` asks for";
    SkillUnknownUse = "use-unknown", Config,
        "`use` names a skill that is neither shipped nor found in a config folder",
        "use the suggested name";
    RuleInvalid = "rule-invalid", Config,
        "a rule is not valid Cedar, or reads what no call has; while it stands, phasegate denies all calls",
        "correct the place that is marked; `phasegate rules schema` prints what rules can read";
    RulePointless = "rule-pointless", Config,
        "a rule can never be about a call, or says something that means nothing",
        "correct the rule, or remove it";
    RuleBroad = "rule-broad", Config,
        "a rule that compares paths is also about calls that access files and do not say which",
        "write `context.path.named && ...` where the rule means calls that name the file";
    ConfigUnreadable = "config-unreadable", Config,
        "a config file or folder exists but cannot be read",
        "make it a regular file of at most 1 MiB of UTF-8 text that you may read, or remove it";
    ConfigUnread = "config-unread", Config,
        "a file looks like a config and lies where none is read",
        "move it to `.phasegate/config.yaml` or `.phasegate/skills/`, or remove it";
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
