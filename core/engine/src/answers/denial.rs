//! Denials: why a call or command is denied or warned of, with the facts of the case. Their texts are in
//! `rendering.rs`.

use crate::answers::decision::Effect;
use crate::answers::doubt::NamedLine;
use crate::answers::reason::DenialReason;
use crate::calls::analysis::{Part, Registered};
use crate::calls::forbidden_change::ForbiddenChange;
use crate::decide::Line;
use crate::policy::plan::NamedElement;
use crate::policy::steps::StepsLeft;
use crate::prelude::*;
use crate::rules::objection::Ruled;
use crate::shell::classifier::NotRead;
use crate::state::{SpentEdge, Why};

/// Why a call or a command is denied. The renderer knows the code, the reason and the recovery of each kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DenialKind {
    /// The call would change a protected path.
    SelfProtection {
        /// The name of the tool.
        tool: String,
        /// The path as the call gives it.
        path: String,
        /// What the path is to the guard.
        part: Part,
    },
    /// A change of the platform's settings would take the guard away.
    GuardRemoved {
        /// The path of the settings file.
        path: String,
        /// Why the guard would be gone.
        why: String,
    },
    /// The platform's settings changed, and the running session keeps those it began with.
    SettingsKept {
        /// The path of the settings file.
        path: String,
    },
    /// A call changed files that it might not, and they are not as they were.
    Changed(Box<Changed>),
    /// A server's description of a tool changed since it was first seen.
    ToolChanged {
        /// The name of the server.
        server: String,
        /// The name of the tool.
        tool: String,
    },
    /// The policy that a live run began with is gone.
    PolicyGone {
        /// The name of the run's skill.
        skill: String,
    },
    /// A skill is in force, and the session's policy does not have it.
    SkillMissing {
        /// The name of the skill.
        skill: String,
    },
    /// The skill forbids the call in every phase.
    GlobalForbidden {
        /// The name of the tool.
        tool: String,
        /// The name of the skill.
        skill: String,
        /// The line of the policy that forbids it, where it is about more than the tool.
        by: Option<NamedLine>,
    },
    /// The call belongs to a later phase, and the transition to it is not open.
    NotDone {
        /// The name of the tool.
        tool: String,
        /// The phase that the call belongs to.
        target: String,
        /// The phase that keeps the transition closed.
        blocking: String,
        /// The line of the later phase that may mean the call, where it is in doubt.
        may: Option<NamedLine>,
    },
    /// The line that lists the call has a condition of its own, which does not hold.
    LineRequires {
        /// The name of the tool.
        tool: String,
        /// The phase of the line.
        phase: String,
        /// The line.
        line: NamedLine,
    },
    /// The current phase forbids the call.
    PhaseForbidden {
        /// The name of the tool.
        tool: String,
        /// The name of the current phase.
        phase: String,
        /// The line of the policy that forbids it, where it is about more than the tool.
        by: Option<NamedLine>,
    },
    /// No phase that can be reached lists the call, and the skill denies what it does not list.
    Unlisted {
        /// The name of the tool.
        tool: String,
        /// The name of the current phase.
        phase: Box<str>,
        /// Whether a call that only reads would pass.
        read_only: bool,
        /// The line of the phase that may mean the call, where it is in doubt; or the one of `unlisted` that denies it.
        may: Option<NamedLine>,
        /// Whether a line of `unlisted` denies it.
        denied: bool,
        /// Whether the user is asked about it.
        asks: bool,
        /// Whether the call changes a file, as it says itself.
        changes: bool,
        /// What the policy says of it where a line of `unlisted` denies it.
        why: Option<Box<str>>,
    },
    /// The call writes a file where the current phase makes an artifact of other files.
    ArtifactPath {
        /// The file.
        file: Misplaced,
        /// Whether the call belongs to a later phase; else no phase lists it.
        not_done: bool,
    },
    /// The run stands still until a person says how it goes on.
    Stopped(Box<Stopped>),
    /// Another session works on the runs that the call is for.
    HeldElsewhere {
        /// The name of the tool.
        tool: String,
        /// The name of the skill of the run that would judge it.
        skill: String,
        /// The id of the other session.
        session: String,
    },
    /// The agent wants to end its turn, and must finish the skill first.
    Unfinished {
        /// The name of the skill.
        skill: String,
        /// The name of the current phase.
        phase: String,
        /// Whether that phase is done, and another one is missing.
        done: bool,
    },
    /// A subagent is to be started for one of several runs, and nobody can tell for which.
    StartUnclear {
        /// The names of the branches that it may be for.
        branches: Vec<String>,
        /// Whether another one was started, and has not begun.
        pending: bool,
        /// An element of the plan that its prompt names, and that no subagent can begin now.
        named: Option<Box<NamedElement>>,
    },
    /// A skill is to be activated while another is active.
    SkillActive {
        /// The name of the active skill.
        skill: String,
        /// How the other one was to begin.
        by: BegunBy,
    },
    /// A skill is to begin without a value for each of its inputs that they take.
    InputsMissing {
        /// The name of the skill.
        skill: String,
        /// Its inputs, each with the pattern of its values.
        inputs: Vec<(String, String)>,
        /// What is wrong with what was given, each as a phrase: a name that is none of its inputs, a value that it refuses.
        wrong: Vec<String>,
    },
    /// No skill has this name.
    SkillUnknown {
        /// The name that was given.
        name: String,
        /// The names of the skills that apply.
        available: Vec<String>,
    },
    /// The skill may not be deactivated now, or not by the agent.
    SkillNotLeft {
        /// The name of the skill.
        skill: String,
        /// Whether only a person may deactivate it.
        person_only: bool,
        /// What is missing, each with the phase that asks for it, where somebody asked.
        missing: Vec<String>,
    },
    /// There is no mode of this name.
    ModeUnknown {
        /// The name that was given.
        name: String,
    },
    /// There is no control command of this name.
    CommandUnknown {
        /// The name that was given.
        name: String,
    },
    /// The command belongs to a person.
    CommandRefused {
        /// The name of the command.
        name: String,
    },
    /// A prompt is a command, and no person typed it.
    NotTyped {
        /// The prompt.
        prompt: String,
    },
    /// The command's arguments mean nothing.
    CommandInvalid(InvalidCommand),
    /// What commands of a program do is not registered.
    NotRegistered(NotRegistered),
    /// The call may do more than read, and the access is `readonly`.
    Readonly {
        /// The name of the tool.
        tool: String,
        /// Who says so.
        why: WhyReadonly,
    },
    /// A rule or a budget does not admit the call.
    Admission(Box<DenialReason>),
    /// A rule is about the call, or none permits it.
    Rule(Box<Ruled>),
}

/// Files that a call changed although it might not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The first of them.
    pub first: ForbiddenChange,
    /// How many more there are.
    pub more: usize,
}

/// Who says that calls may only read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyReadonly {
    /// The configs.
    Config,
    /// A person, for the project.
    Person,
    /// The server that holds the guard, for this call.
    Server,
}

/// Why what the commands of a program do is not registered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotRegistered {
    /// A subagent registers nothing.
    Subagent,
    /// No person lets agents classify the program.
    NotNamed {
        /// The name of the program.
        program: String,
    },
    /// The name is none of a program.
    NoProgram {
        /// The name that was given.
        tool: String,
    },
    /// `commands` is no object of patterns with levels, and no list of pairs.
    NoCommands,
    /// There are too many patterns.
    TooMany,
    /// No pattern was accepted.
    Rejected {
        /// The name of the program.
        program: String,
        /// The patterns, each with the reason.
        rejected: Vec<String>,
    },
}

/// A file that is written where a phase makes an artifact: of the same ending, and none of its files. Only the layout
/// `blocked` names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misplaced {
    /// The path as the call gives it.
    pub path: String,
    /// The name of the artifact.
    pub artifact: String,
    /// The patterns of its files.
    pub files: String,
}

/// A run that stands still.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stopped {
    /// The name of the tool; empty where the agent wants to end its turn.
    pub tool: String,
    /// The name of the run's skill.
    pub skill: String,
    /// The name of its branch, where it is one of several.
    pub branch: Option<String>,
    /// The name of its phase.
    pub phase: String,
    /// The name of the phase after it, if there is one.
    pub next: Option<String>,
    /// The skill, the branch and the phase of the run that failed, where it is one that the phase consists of.
    pub part: Option<StoppedPart>,
    /// The element of a plan that the run, or the one that failed, belongs to: a person can have it begun anew.
    pub element: Option<String>,
    /// The rollback edge whose limit is spent, of the run or of its part.
    pub spent: Option<SpentEdge>,
    /// Why the run was halted, where a person or the agent did so.
    pub halted: Option<String>,
    /// Whether the agent halted it.
    pub halted_by_agent: bool,
}

/// The run that failed, of those that a phase consists of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoppedPart {
    /// The name of its skill.
    pub skill: String,
    /// The name of its branch; empty where there is only one.
    pub branch: String,
    /// The name of the phase that it was in.
    pub phase: String,
}

/// What is wrong with the arguments of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidCommand {
    /// An argument is missing.
    ArgumentMissing {
        /// The name of the command.
        command: String,
        /// The name of the argument.
        argument: &'static str,
    },
    /// An argument is none of the command's.
    ArgumentUnknown {
        /// The name of the command.
        command: String,
        /// The name of the argument.
        argument: String,
    },
    /// An argument is not a text.
    ArgumentNotText {
        /// The name of the argument.
        argument: String,
    },
    /// The arguments are not an object.
    ArgumentsNotObject {
        /// The name of the command.
        command: String,
    },
    /// No live run of the session is of this skill.
    NotActive {
        /// The name that was given; absent: none was.
        skill: Option<String>,
        /// The skills that are active in the session.
        active: Vec<String>,
    },
    /// The command does no such thing.
    ActionUnknown {
        /// The name of the command.
        command: String,
        /// The action that was given.
        action: String,
        /// The actions that there are.
        known: Vec<String>,
    },
    /// A skill is in force for a session or for the project, and nothing else.
    ScopeUnknown,
    /// The skill is not in force there.
    NotInForce {
        /// The name that was given; absent: none was.
        skill: Option<String>,
        /// The skills that are in force there.
        in_force: Vec<String>,
    },
    /// The access cannot be set so.
    AccessInvalid {
        /// Why, as a phrase.
        why: &'static str,
    },
    /// The state of another system cannot be imported.
    StateNotImported {
        /// Why, as a phrase.
        why: String,
    },
    /// The current phase is the last one.
    NoPhaseFollows,
    /// No live run has this id.
    RunNotLive {
        /// The id that was given.
        run: String,
        /// The ids of the live runs.
        live: Vec<String>,
    },
    /// No live run has a phase of this name.
    NoRunHasPhase {
        /// The name that was given.
        phase: String,
    },
    /// Several live runs are meant.
    RunUnclear {
        /// The name that was given.
        name: String,
        /// The runs, each with its id first.
        runs: Vec<String>,
    },
    /// The phases of several live runs of one tree may be skipped, and none is named.
    PhaseUnclear {
        /// The runs, each with its id first.
        runs: Vec<String>,
    },
    /// No way leads from the current phase to this one.
    NotAhead {
        /// The skill of the run.
        skill: String,
        /// The name that was given.
        phase: String,
        /// The phases that follow.
        ahead: Vec<String>,
    },
    /// Nobody skips these phases.
    NeverSkipped {
        /// The skill of the run.
        skill: String,
        /// The names of the phases.
        phases: Vec<String>,
    },
    /// These phases lie between, and the person has not said that they are skipped.
    WouldSkip {
        /// The phase to go on to.
        to: String,
        /// The names of the phases between.
        phases: Vec<String>,
    },
    /// A person has said already that the phase is skipped.
    AlreadySkipped {
        /// The name of the phase.
        phase: String,
    },
    /// No plan that a live run reads has this element.
    NoElement {
        /// The name that was given.
        id: String,
        /// The elements that there are.
        known: Vec<String>,
    },
    /// The element of the plan has finished, or was skipped.
    ElementFinished {
        /// Its name.
        id: String,
    },
    /// The element of the plan has not begun, so it cannot be begun anew.
    ElementNotBegun {
        /// Its name.
        id: String,
    },
    /// No changed tool has the name that was approved.
    NoToolChanged {
        /// The name that was approved.
        name: String,
    },
    /// No live run waits for the approval of this name.
    NothingWaits {
        /// The name that was given.
        name: String,
        /// The names that wait.
        waiting: Vec<String>,
    },
    /// A live run has this approval already, and it holds.
    AlreadyApproved {
        /// The name that was given.
        name: String,
    },
    /// What the approval would be of does not exist or cannot be read.
    NothingToApprove {
        /// The name that was given.
        name: String,
        /// What it would be of.
        what: String,
    },
    /// Another session wrote the file after the one that it would be approved in.
    Rewritten {
        /// The path of the file.
        path: String,
    },
    /// No plan that is named so waits in the session.
    OtherPlan {
        /// The path that was given, or the end of it.
        named: String,
        /// The plans that wait.
        waiting: Vec<String>,
    },
    /// The plan that the approval would be of cannot be carried out.
    PlanUnusable {
        /// The name that was given.
        name: String,
        /// Why, as a phrase.
        why: String,
    },
    /// What the approval would be of changed after the agent's turn ended.
    ChangedSinceShown {
        /// The name that was given.
        name: String,
        /// What it would be of.
        what: String,
    },
    /// No call was denied that a person may let pass.
    NothingDenied,
    /// No live run has an approval of this name.
    NothingApproved {
        /// The name that was given.
        name: String,
        /// The names that are approved.
        approved: Vec<String>,
    },
    /// The prompt is a command that was merged into another.
    Merged {
        /// The first line of the prompt.
        prompt: String,
        /// The command of today.
        now: String,
    },
    /// The prompt is addressed to phasegate and is none of its commands.
    NoCommand {
        /// The first line of the prompt.
        prompt: String,
        /// How the commands are written.
        forms: &'static str,
    },
}

/// How an agent gets on after a call that broke a rule.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Guidance {
    /// The kind of the denial says all.
    #[default]
    None,
    /// In the compat form: the phase to complete, and the texts of its `allowed` lines.
    Compat {
        /// The name of the phase.
        phase: String,
        /// The texts of its `allowed` lines.
        allowed: Vec<String>,
    },
    /// The servers whose tool the skill means, where the call is of a server that it does not name.
    OtherServer {
        /// Their names; never empty.
        meant: Vec<String>,
    },
    /// The call is a command to phasegate that a person gives: what the person types.
    OfPeople(String),
    /// The phase is over that the subagent was started for.
    Over,
    /// In the strict form: where the run stands.
    Strict(Box<Standing>),
}

/// Where a run stands, as far as that tells how to get on. Texts are phrases, which are short.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// The name of the run's skill.
    pub skill: String,
    /// The current phase, if it is done.
    pub done: Option<String>,
    /// The phase that keeps the way closed.
    pub phase: String,
    /// What the agent has to do now, in the words of the policy; empty where it does not say so.
    pub now: String,
    /// What it still needs.
    pub needs: Vec<String>,
    /// Why the last call that would have supplied it does not count.
    pub uncounted: Option<Why>,
    /// The names that a person is to approve.
    pub gates: Vec<String>,
    /// Whether a person rejected what they are about, as it is now.
    pub rejected: bool,
    /// Whether nothing but a person's approval is missing.
    pub only_gates: bool,
    /// Where a rollback edge leads, if the phase failed.
    pub back: Option<WayBack>,
    /// What is allowed now, where nothing is missing.
    pub allowed: String,
    /// The phases that may come next, where nothing is missing, and what each allows.
    pub next: Vec<(String, String)>,
    /// The type of the subagent that does the phase, where another agent calls.
    pub done_by: Option<String>,
    /// The steps of the approved plan, where the phase lists them.
    pub steps: Option<StepsLeft>,
    /// Whether the run waits at the gate of a wave and what it asks for has failed, so that a task may have to be done again.
    pub failed_gate: bool,
    /// The skills that the phases list, where the call invokes one that none lists.
    pub known: Vec<String>,
}

/// A rollback edge of a phase that failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WayBack {
    /// The phase that it leads to.
    pub phase: String,
    /// What that phase allows.
    pub allowed: String,
    /// Whether the edge is below its limit.
    pub open: bool,
}

/// A denial or warning of a call, before it is rendered.
#[derive(Clone, Debug, PartialEq)]
pub struct Denial {
    /// Why.
    pub kind: DenialKind,
    /// How strict the answer is.
    pub effect: Effect,
    /// The canonical name of the tool; empty for a command.
    pub tool: String,
    /// The run that decided, where one did.
    pub run: Option<DecidingRun>,
    /// What is missing before the transition is open, in words.
    pub missing: Vec<String>,
    /// How to get on.
    pub guidance: Guidance,
    /// What was attempted, where the skill's denials say it.
    pub attempted: Option<String>,
    /// What is known of the part of the call that is to blame, where that decided.
    pub blame: Option<Box<Blame>>,
}

/// How a skill was to begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BegunBy {
    /// By the tool `activate_skill`: there is one to deactivate it too.
    Tool,
    /// By a person's command.
    Person,
    /// By the client's call of the skill, with other values.
    Invocation,
}

/// What is known of the command that is to blame.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blame {
    /// Something is registered of it.
    Registered {
        /// What is registered of it.
        registered: Registered,
        /// The patterns by which commands of the same program only read.
        readers: Vec<String>,
    },
    /// Nothing is known of its program.
    Unheard {
        /// The program's name.
        program: String,
        /// The words that start it: its name, behind a runner where there is one.
        start: String,
        /// Whether a person lets agents say what its commands do.
        named: bool,
        /// What is registered of it: each pattern after its level, as it is registered.
        registered: Vec<String>,
        /// Why that does not make the command read, where something is registered.
        why: Option<NotRead>,
    },
    /// The tool has no label.
    Unlabelled {
        /// Its name, as labels are given to it.
        tool: String,
        /// The server that offers it.
        server: Option<String>,
    },
    /// It does more than read.
    Judged {
        /// Why, as a lower-case fragment.
        because: String,
        /// Whether it is because of what earlier calls changed, until a person says that it may run.
        changed: bool,
    },
}

/// Where the run that decided stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecidingRun {
    /// The name of its skill.
    pub skill: String,
    /// The name of its phase; absent where its policy is gone.
    pub phase: Option<String>,
    /// The line of the decision table that applied.
    pub line: Option<Line>,
    /// Whether the call began the run.
    pub began: bool,
    /// Whether the skill has the compatible form.
    pub compat: bool,
}

impl Denial {
    /// A denial that no run decided.
    pub fn new(kind: DenialKind, effect: Effect) -> Self {
        Self {
            kind,
            effect,
            tool: String::new(),
            run: None,
            missing: Vec::new(),
            guidance: Guidance::None,
            attempted: None,
            blame: None,
        }
    }
}
