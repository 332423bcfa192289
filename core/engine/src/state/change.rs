//! Changes: what one event does to the state. Journals store them; [`State::apply`] is the only way a state changes.

use alloc::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answers::code::Code;
use crate::calls::cause::{By, SessionSource};
use crate::calls::outcome::CallOutcome;
use crate::evidence::proof::Proved;
use crate::policy::access::Granted;
use crate::policy::budget::Tally;
use crate::policy::input::Values;
use crate::policy::plan::Plan;
use crate::policy::steps::{StepState, Steps};
use crate::policy::{Mode, Scope};
use crate::prelude::*;
use crate::shell::safety::Entry;
use crate::state::call_counts::FactChange;
use crate::state::unfinished_calls::{DeniedCall, Question, Yes};
use crate::state::{Approval, Children, DeprecatedFile, Held, OpenCall, Run, Shown, SpentEdge, Status, TiedAgent};

/// One change of a [`State`]. An event leads to a list of them, which [`State::apply`] applies in order.
///
/// A change holds what is new and nothing that the state before it holds already.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Change {
    /// The session saw an event. Every event leads to this change first.
    Seen {
        /// The session's id, where the state does not have it yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
        /// The platform's permission mode, where it is another one than before.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        permission_mode: Option<String>,
    },
    /// The session began or goes on.
    SessionStarted {
        /// Why it begins now.
        source: SessionSource,
        /// The session it came from, where the platform says.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        parent: Option<String>,
    },
    /// The session took over runs of another session.
    SessionJoined {
        /// The id of that session.
        from: String,
    },
    /// The session ended.
    SessionEnded {},
    /// A subagent began.
    AgentStarted {
        /// The id that the platform gave the subagent.
        id: String,
        /// The kind of agent as the platform names it.
        kind: String,
        /// The number of the call that started it, where exactly one call can have.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<u64>,
    },
    /// A subagent ended.
    AgentEnded {
        /// The id of the subagent.
        id: String,
    },
    /// All subagents are gone, because the process that ran them is.
    AgentsCleared {},
    /// A call was let through. Its number is that of the event, so it is not written.
    CallOpened(Box<OpenCall>),
    /// The phase of a run carries out the steps of an approved plan.
    StepsRead {
        /// The id of the run.
        run: String,
        /// The steps.
        steps: Steps,
    },
    /// A call used a step of the plan, or it ended.
    StepIs {
        /// The id of the run.
        run: String,
        /// The place of the step.
        step: usize,
        /// What became of it.
        state: StepState,
    },
    /// A person was asked about a call.
    CallAsked {
        /// The number of the call.
        call: u64,
    },
    /// The subagent that a call started has ended, and the call's own outcome is to come.
    CallAgentEnded {
        /// The number of the call.
        call: u64,
    },
    /// The outcome of a call was seen. The call is open no more, except where it was only launched.
    CallOutcome {
        /// The number of the call.
        call: u64,
        /// How it ended.
        outcome: CallOutcome,
    },
    /// The outcome before this change means something to a run in which the call was decided.
    Proved(Proved),
    /// A visit of a phase began in which conditions ask what has changed since.
    VisitBegan {
        /// The id of the run.
        run: String,
        /// The index of the phase.
        phase: usize,
        /// By the number of the condition: the value now of the fact that it names; `null` if it is unknown.
        as_of: BTreeMap<u32, Value>,
    },
    /// A run judged a call.
    Judged {
        /// The id of the run.
        run: String,
        /// The canonical name of the tool.
        tool: String,
        /// The rule that the call broke, as a code; absent: the run let it pass.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        broke: Option<Code>,
        /// Whether what a person was shown stays what they were shown.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        shown_stays: bool,
    },
    /// A run began, or was copied from another session.
    RunBegun(Box<Run>),
    /// A person put a skill in force: every session that it concerns has a live run of it.
    SkillInForce {
        /// The name of the skill.
        skill: String,
        /// The least strict mode of its runs.
        mode: Mode,
        /// Whether it is in force for the session or for every session of the project.
        scope: Scope,
        /// The values of its inputs, where it has some.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        inputs: Values,
    },
    /// A person ended that a skill is in force.
    SkillNotInForce {
        /// The name of the skill.
        skill: String,
        /// Whether it ends for the session or for every session of the project.
        scope: Scope,
    },
    /// A run ended.
    RunEnded {
        /// The id of the run.
        run: String,
        /// How it ended.
        status: Status,
        /// Who ended it.
        by: By,
    },
    /// A subagent does a run that a phase consists of, or is gone.
    BranchBound {
        /// The id of the run.
        run: String,
        /// The id of the subagent; `None`: it is gone, and the main agent may go on with the run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
        /// The id of the session that the subagent belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// A subagent began whose start was called in a visit of a run.
    AgentTied {
        /// The id of the run.
        run: String,
        /// The subagent, and the visit.
        agent: TiedAgent,
    },
    /// A session works on the runs that a phase of a run of the project consists of, or does not any more.
    RunsHeld {
        /// The id of the run that has the phase.
        run: String,
        /// The id of the session; `None`: any session may go on with them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        session: Option<String>,
    },
    /// A call that a phase of a run lists succeeded, and the run had begun by a call: it holds from now on.
    RunTaken {
        /// The id of the run.
        run: String,
    },
    /// The agent ended its turn while a run was not done that it has to finish.
    RunUnfinished {
        /// The id of the run.
        run: String,
    },
    /// The agent was kept from ending its turn; or a prompt came since, and nothing is held against it.
    StopHeld {
        /// How often, in a row.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        held: Option<Held>,
        /// The id of the subagent, where it is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent: Option<String>,
    },
    /// A call was denied.
    CallDenied(DeniedCall),
    /// A person is asked about a call, and may answer by its name.
    QuestionAsked(Question),
    /// A person said yes to a call by its name.
    QuestionAnswered {
        /// The name of the call.
        name: String,
        /// The yes.
        yes: Yes,
    },
    /// A question is no more: its call was let through, or a person said no.
    QuestionClosed {
        /// The name of the call.
        name: String,
    },
    /// A prompt came: what was denied before it does not count any more.
    DenialsForgotten {},
    /// A message of the agent was what phases ask for.
    MessageHeard {
        /// A digest of its text.
        digest: String,
    },
    /// The runs that are parts of a run's visit finished or failed.
    ChildrenEnded {
        /// The id of the run that they are parts of.
        run: String,
        /// What that means to its phase.
        children: Children,
    },
    /// A run read the plan whose elements its phase runs.
    PlanRead {
        /// The id of the run.
        run: String,
        /// The plan.
        plan: Plan,
    },
    /// All elements of a wave finished, and the phase of a run waits at its gate.
    GateReached {
        /// The id of the run.
        run: String,
    },
    /// The next wave of a plan began.
    WaveBegan {
        /// The id of the run.
        run: String,
        /// The index of the wave.
        wave: usize,
    },
    /// A person has an element of a plan begun anew. How the runs of the wave ended counts no more.
    ElementRetried {
        /// The id of the run that reads the plan.
        run: String,
        /// The index of the element.
        element: usize,
    },
    /// A person skipped an element of a plan: it counts as finished. How the runs of the wave ended counts no more.
    ElementSkipped {
        /// The id of the run that reads the plan.
        run: String,
        /// The index of the element.
        element: usize,
    },
    /// What the violations of a run lead to was changed.
    RunMode {
        /// The id of the run.
        run: String,
        /// The mode from now on.
        mode: Mode,
    },
    /// A run entered a following phase. The evidence of earlier visits of that phase is cleared.
    PhaseEntered {
        /// The id of the run.
        run: String,
        /// The name of the phase that was entered.
        phase: String,
        /// Its index in the skill.
        index: usize,
        /// Who caused it: the agent by a call, the platform by an outcome, a person by a command.
        by: By,
        /// The phases that were left early or passed over.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        skipped: Vec<String>,
        /// Whether the run can still return to the phase it left.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        provisional: bool,
        /// Whether the phase that was left was not done, and a person said that it is.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        said_done: bool,
        /// The name of the person who caused it, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        who: Option<String>,
    },
    /// A person said that a phase, which is still to come, is skipped: the run may pass over it.
    PhaseSkipped {
        /// The id of the run.
        run: String,
        /// The name of the phase.
        phase: String,
        /// Its index in the skill.
        index: usize,
        /// The name of the person, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        who: Option<String>,
    },
    /// A run went back to an earlier phase. The evidence of that phase and of all later ones is cleared.
    PhaseBack {
        /// The id of the run.
        run: String,
        /// The name of the phase that was entered.
        phase: String,
        /// Its index in the skill.
        index: usize,
        /// Who caused it: the agent by a call, or the platform by an outcome.
        by: By,
        /// Whether the phase failed, and the edge is for that.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        failed: bool,
    },
    /// A person rejected something in a run.
    Rejected {
        /// The id of the run.
        run: String,
        /// What was rejected, as it was then.
        no: Approval,
    },
    /// The agent's turn ended while a run waits for a person: what the person can look at.
    Shown {
        /// The id of the run.
        run: String,
        /// What waits, as it was then.
        shown: Vec<Shown>,
    },
    /// A rollback edge of a run was asked for once more than its limit says.
    LimitSpent {
        /// The id of the run.
        run: String,
        /// The edge.
        edge: SpentEdge,
    },
    /// A person or the agent halted a run, or a person had it go on.
    RunHalted {
        /// The id of the run.
        run: String,
        /// Why; `None`: it goes on.
        why: Option<String>,
        /// Whether the agent did it.
        #[serde(default, skip_serializing_if = "core::ops::Not::not")]
        by_agent: bool,
    },
    /// A run returned from a provisional phase, as if it had never entered it.
    PhaseReturned {
        /// The id of the run.
        run: String,
    },
    /// A person approved something in a run. An earlier approval of the same is replaced.
    ApprovalGiven {
        /// The id of the run.
        run: String,
        /// What, by whom and when.
        approval: Approval,
    },
    /// A person took an approval back.
    ApprovalRevoked {
        /// The id of the run.
        run: String,
        /// The name that was approved.
        name: String,
    },
    /// Something was approved, before approvals belonged to runs.
    Approved {
        /// The name that conditions ask for.
        name: String,
        /// Who approved it.
        by: By,
    },
    /// A server described its tools, and some of them are new or not as they were.
    ToolsSeen {
        /// The name of the server.
        server: String,
        /// The tools whose pins are new or changed, in the server's order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tools: Vec<SeenTool>,
    },
    /// A call wrote files of artifacts of which each run has its own.
    OwnFilesWritten {
        /// The session of the call, and its number there.
        call: String,
        /// The paths of the files.
        paths: Vec<String>,
    },
    /// A person accepted a changed tool as it is now.
    ToolAccepted {
        /// The name of the server.
        server: String,
        /// The name of the tool.
        tool: String,
    },
    /// What commands of a program do was registered, in place of what was registered there before.
    SafetyRegistered {
        /// For whom: one session, or the project.
        scope: Scope,
        /// What was registered.
        entry: Entry,
    },
    /// A person let agents classify the commands of a program, or took that back.
    SafetyApproved {
        /// The name of the program.
        program: String,
        /// Whether they may.
        approved: bool,
    },
    /// A person set the access of the project.
    AccessSet {
        /// The access; `None`: as the configs say.
        granted: Option<Granted>,
    },
    /// A call used up some of a budget.
    BudgetSpent {
        /// Which half of the state keeps the count.
        scope: Scope,
        /// The count after the call, with the files that were not counted before.
        tally: Tally,
    },
    /// Facts of rules count calls, or no longer count them.
    CallsCounted {
        /// Which half of the state keeps the count.
        scope: Scope,
        /// What changes for each fact.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        seen: Vec<FactChange>,
        /// How many parts of the call change files of the project.
        #[serde(default, skip_serializing_if = "crate::values::is_default")]
        changes: u64,
        /// When a line was let through that changes files and of which something goes on after it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        left: Option<i64>,
        /// The keys of the facts that rules have, where what is kept for others is forgotten.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        known: Option<Vec<String>>,
    },
    /// The agent must be told how to register what commands do.
    SafetyTold {
        /// The programs that it is told of, in words.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        programs: String,
        /// The text for the agent.
        text: String,
    },
    /// The host must report the phase of a run to the agent. An earlier report of the run is dropped.
    ObligationDue {
        /// The id of the run.
        run: String,
        /// The number of the visit that the text is about.
        visit: u32,
        /// The text for the agent.
        text: String,
    },
    /// The agent must be told something else about a run, once.
    NoticeDue {
        /// The id of the run.
        run: String,
        /// What it is about, in a word: an earlier notice about the same is dropped.
        about: String,
        /// The text for the agent.
        text: String,
    },
    /// A file of an artifact counts in a run that lies where it no longer belongs.
    DeprecatedUsed {
        /// The id of the run.
        run: String,
        /// The file.
        file: DeprecatedFile,
    },
    /// Obligations were taken up, or are about runs that ended.
    ObligationsDropped {
        /// Their ids.
        ids: Vec<String>,
    },
    /// Obligations went out with the answer to this event.
    ObligationsGiven {
        /// Their ids; empty: all.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ids: Vec<String>,
        /// The id of the call that was answered, if it was one with an id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<String>,
    },
}

/// A tool as its server describes it now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SeenTool {
    /// The name of the tool.
    pub name: String,
    /// The digest of its description that is pinned.
    pub sha256: String,
    /// The digest of its description now, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<String>,
}

/// Whether a change must be on the disk before the answer goes out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Durability {
    /// It need only be written: it is history.
    Written,
    /// It must be durable: later decisions depend on it.
    Synced,
}

impl Change {
    /// Which half of the state the change belongs to.
    #[expect(clippy::too_many_lines, reason = "a line for each change, so that a new one must say where it belongs")]
    pub fn scope(&self) -> Scope {
        let of = |run: &str| if run.starts_with(PROJECT_RUN) { Scope::Project } else { Scope::Session };
        match self {
            Self::Judged { run, .. }
            | Self::RunEnded { run, .. }
            | Self::BranchBound { run, .. }
            | Self::AgentTied { run, .. }
            | Self::RunsHeld { run, .. }
            | Self::RunTaken { run }
            | Self::RunUnfinished { run }
            | Self::ChildrenEnded { run, .. }
            | Self::PlanRead { run, .. }
            | Self::StepsRead { run, .. }
            | Self::StepIs { run, .. }
            | Self::GateReached { run }
            | Self::WaveBegan { run, .. }
            | Self::ElementRetried { run, .. }
            | Self::ElementSkipped { run, .. }
            | Self::RunMode { run, .. }
            | Self::PhaseEntered { run, .. }
            | Self::PhaseSkipped { run, .. }
            | Self::PhaseBack { run, .. }
            | Self::Shown { run, .. }
            | Self::LimitSpent { run, .. }
            | Self::RunHalted { run, .. }
            | Self::ApprovalGiven { run, .. }
            | Self::Rejected { run, .. }
            | Self::ApprovalRevoked { run, .. }
            | Self::VisitBegan { run, .. }
            | Self::DeprecatedUsed { run, .. }
            | Self::PhaseReturned { run } => of(run),
            Self::Proved(proved) => of(&proved.run),
            Self::RunBegun(run) => run.scope,
            Self::SkillInForce { scope, .. } | Self::SkillNotInForce { scope, .. } => *scope,
            Self::SafetyRegistered { scope, .. } | Self::BudgetSpent { scope, .. } => *scope,
            Self::CallsCounted { scope, .. } => *scope,
            Self::Approved { .. }
            | Self::ToolsSeen { .. }
            | Self::ToolAccepted { .. }
            | Self::OwnFilesWritten { .. }
            | Self::AccessSet { .. }
            | Self::SafetyApproved { .. } => Scope::Project,
            Self::Seen { .. }
            | Self::SessionStarted { .. }
            | Self::SessionJoined { .. }
            | Self::SessionEnded {}
            | Self::AgentStarted { .. }
            | Self::AgentEnded { .. }
            | Self::AgentsCleared {}
            | Self::CallOpened(_)
            | Self::CallAsked { .. }
            | Self::CallAgentEnded { .. }
            | Self::CallOutcome { .. }
            | Self::StopHeld { .. }
            | Self::CallDenied(_)
            | Self::QuestionAsked(_)
            | Self::QuestionAnswered { .. }
            | Self::QuestionClosed { .. }
            | Self::DenialsForgotten {}
            | Self::MessageHeard { .. }
            | Self::ObligationDue { .. }
            | Self::NoticeDue { .. }
            | Self::SafetyTold { .. }
            | Self::ObligationsDropped { .. }
            | Self::ObligationsGiven { .. } => Scope::Session,
        }
    }

    /// Whether the change must be on the disk before the answer goes out.
    pub fn durability(&self) -> Durability {
        if self.scope() == Scope::Session && self.may_be_lost() { Durability::Written } else { Durability::Synced }
    }

    /// Whether the guard decides no call more freely without the change.
    fn may_be_lost(&self) -> bool {
        match self {
            // No later decision depends on what did not count. That a proof was undone must not be forgotten.
            Self::Proved(proved) => proved.atoms.is_empty() && proved.undone.is_empty() && proved.visit_is.is_none(),
            change => matches!(
                change,
                Self::Seen { .. }
                    | Self::SessionStarted { .. }
                    | Self::SessionJoined { .. }
                    | Self::SessionEnded {}
                    | Self::AgentStarted { .. }
                    | Self::AgentEnded { .. }
                    | Self::AgentsCleared {}
                    | Self::CallOpened(_)
                    | Self::CallAsked { .. }
                    | Self::CallAgentEnded { .. }
                    | Self::CallOutcome { .. }
                    | Self::Judged { .. }
                    | Self::CallDenied(_)
                    | Self::DenialsForgotten {}
                    | Self::ObligationsGiven { .. }
            ),
        }
    }

    /// Whether a run may have a move to make because of it. What a call leaves behind that moves nothing brings none on.
    pub(crate) fn may_settle(&self) -> bool {
        !matches!(
            self,
            Self::Judged { .. }
                | Self::CallOpened(_)
                | Self::CallDenied(_)
                | Self::QuestionAsked(_)
                | Self::BudgetSpent { .. }
                | Self::CallsCounted { .. }
                | Self::ObligationsDropped { .. }
        )
    }

    /// Whether a run began, moved or ended.
    pub fn moves_a_run(&self) -> bool {
        let enters = matches!(self, Self::PhaseEntered { .. } | Self::PhaseBack { .. } | Self::PhaseReturned { .. });
        enters || matches!(self, Self::RunBegun(_) | Self::RunEnded { .. })
    }
}

/// What the id of a run of project scope begins with.
pub(crate) const PROJECT_RUN: char = 'p';
