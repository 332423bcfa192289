//! State: where a session and its project stand. Plain values; the journal can rebuild them.

pub mod run;
pub mod rule_answers;
pub mod redacted_tests;
pub mod redaction;
pub mod pins;
pub mod call_counts;
pub mod open_call;
pub mod unfinished_calls;
pub(crate) mod elements;
pub(crate) mod tallies;
pub mod change;
pub(crate) mod apply;
pub mod record;
pub(crate) mod draft;

use alloc::collections::BTreeMap;
use alloc::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::calls::cause::{By, SessionSource};
use crate::policy::Mode;
use crate::policy::access::Granted;
use crate::policy::budget::Tally;
use crate::policy::input::Values;
use crate::prelude::*;
use crate::shell::safety::{self, Registry};
use crate::state::call_counts::KeptFacts;
pub use crate::state::open_call::{CallVisit, OpenCall, Proof};
use crate::state::pins::Pins;
use crate::state::unfinished_calls::{DeniedCall, Question};
use crate::values::shared_list::SharedList;

pub use run::{
    Approval, Barrier, Branch, Children, DeprecatedFile, Evidence, FailedBack, KEPT, Provisional, Run, SaidDone, Shown,
    Skipped, SpentEdge, Status, TiedAgent, Uncounted, Why,
};

/// The most names that `get_skill_phase` lists as history.
pub const HISTORY: usize = 64;
/// The most calls a condition that are kept where it compares what calls are about; the oldest go first.
pub const OBJECTS: usize = 256;

/// All state a decision depends on. Each half has its own journal (rules 8).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct State {
    /// What belongs to the session.
    pub session: Session,
    /// What belongs to the project.
    pub project: Project,
}

impl State {
    /// The live runs, those of the project first.
    pub fn live_runs(&self) -> impl Iterator<Item = &Run> {
        self.project.runs.iter().chain(&self.session.runs).filter(|run| run.status == Status::Active)
    }

    /// A run by id.
    pub fn run(&self, id: &str) -> Option<&Run> {
        self.project.runs.iter().chain(&self.session.runs).find(|run| run.id == id)
    }
}

/// Runs, shared by the copies of a state.
pub type Runs = SharedList<Run>;

/// What belongs to one session.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Session {
    /// The id that the platform gave the session.
    pub id: String,
    /// How many events of the session have been stepped; the number of the last one, counted from 1.
    pub events: u64,
    /// How it began; `None` before its start was seen.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<SessionSource>,
    /// The session it came from, where known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Whether it has ended and not begun again.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub ended: bool,
    /// The platform's permission mode as last stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<String>,
    /// How many runs have begun in the session, ended ones too; the next one is `r` and one more.
    pub runs_begun: u64,
    /// The runs of session scope, oldest first: the live ones, and ended ones up to [`KEPT`].
    pub runs: Runs,
    /// The skills that a person put in force for this session; `None`: one that is in force for the project or begins by itself,
    /// and that a person ended for this session.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub in_force: BTreeMap<String, Option<Mode>>,
    /// Calls that have not ended, oldest first.
    #[serde(with = "crate::state::open_call::open_calls")]
    pub calls: Vec<Arc<OpenCall>>,
    /// Subagents that have not ended.
    pub agents: Vec<AgentInfo>,
    /// What the host must still be told.
    pub obligations: Vec<Obligation>,
    /// How often the agent was kept from ending its turn; `None`: not since the last prompt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
    /// The calls that were denied since the last prompt, each with how often; the latest last, at most [`DENIED`](crate::state::unfinished_calls::DENIED).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub denied: Vec<DeniedCall>,
    /// The calls that a person is asked about, the latest last, at most [`QUESTIONS`](crate::state::unfinished_calls::QUESTIONS).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub questions: Vec<Question>,
    /// How many questions were asked in the session; the next one has one more in its name.
    #[serde(skip_serializing_if = "crate::values::is_default")]
    pub questions_asked: u64,
    /// A digest of the last message of the agent that was what a phase asks for: one that repeats it counts for nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said: Option<String>,
    /// What was registered of commands in the session.
    #[serde(skip_serializing_if = "safety::is_nothing")]
    pub safety: Arc<Registry>,
    /// How much of the budgets is used up that are counted in the session or in phases of its runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tallies: Vec<Tally>,
    /// What is kept of the session's calls for facts of rules.
    #[serde(skip_serializing_if = "KeptFacts::is_empty")]
    pub facts: KeptFacts,
}

/// How often the agent was kept from ending its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Held {
    /// In a row: since the last prompt or, where nobody sits at the session, since the last progress.
    pub times: u32,
    /// How far the runs had come then; a greater number is progress.
    pub progress: u64,
}

/// What belongs to the project.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Project {
    /// How many runs have begun in the project, ended ones too; the next one is `p` and one more.
    pub runs_begun: u64,
    /// The runs of project scope, oldest first: the live ones, and ended ones up to [`KEPT`].
    pub runs: Runs,
    /// The skills that a person put in force for every session, and in which mode.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub in_force: BTreeMap<String, Mode>,
    /// The values of the inputs of those of them that have some.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub in_force_inputs: BTreeMap<String, Values>,
    /// What was approved before approvals belonged to runs. Satisfies no condition.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub approvals: BTreeMap<String, By>,
    /// The MCP servers that proxies of ours serve here, with their tools as first seen.
    #[serde(skip_serializing_if = "no_servers")]
    pub servers: Arc<Pins>,
    /// What people registered of commands, and the programs that they let agents classify.
    #[serde(skip_serializing_if = "safety::is_nothing")]
    pub safety: Arc<Registry>,
    /// The access that a person set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub access: Option<Granted>,
    /// How much of the budgets is used up that are counted in the project or in phases of its runs.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tallies: Vec<Tally>,
    /// What is kept of the calls of all sessions for facts of rules.
    #[serde(skip_serializing_if = "KeptFacts::is_empty")]
    pub facts: KeptFacts,
    /// Which call wrote which file last, of the artifacts of which each run has its own; the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub own_files: Vec<OwnFile>,
}

/// The call that wrote a file last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OwnFile {
    /// The path of the file.
    pub path: String,
    /// The session of the call, and its number there.
    pub call: String,
}

fn no_servers(servers: &Arc<Pins>) -> bool {
    servers.is_empty()
}

/// A subagent that has not ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AgentInfo {
    /// The id that the platform gave the subagent.
    pub id: String,
    /// The kind of agent as the platform names it, for example `general-purpose`; matchers ask for it.
    pub kind: String,
    /// The id of the subagent whose call started it; `None`: the main agent's did, or it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starter: Option<String>,
    /// How often it was kept from ending.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held: Option<Held>,
}

/// Something the host must be told or made to do (rules 3.4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Obligation {
    /// Its id, derived from state: the same obligation has the same id.
    pub id: String,
    /// What must be done.
    pub kind: ObligationKind,
    /// The number of the event with whose answer it was given last; 0 if never.
    #[serde(default)]
    pub given: u64,
    /// The call with whose answer it was given last, as its place among the session's calls shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// What an obligation asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ObligationKind {
    /// Put this text into the agent's context.
    Context(String),
}
