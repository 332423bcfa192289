//! Runs: where each stands, what was proved in it, and what a person said of it.

use crate::calls::analysis::UNKNOWN;
use crate::calls::cause::By;
use crate::calls::outcome::CallOutcome;
use crate::evidence::condition::Gate;
use crate::policy::plan::PlanProgress;
use crate::policy::steps::Steps;
use crate::policy::{Mode, Phase, Scope, Skill, Spent};
use crate::prelude::*;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::sync::Arc;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The most open calls, agents and ended runs that are kept; the oldest go first.
pub const KEPT: usize = 64;

/// One activation of a skill.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Its id: `r1`, `r2`, ... in a session, `p1`, ... in a project.
    pub id: String,
    /// The name of the skill that it is a run of.
    pub skill: String,
    /// The hash of the compiled skill that it began with, and keeps to its end.
    pub version: String,
    /// What its violations lead to.
    pub mode: Mode,
    /// Whose half of the state it is in: the session's or the project's.
    pub scope: Scope,
    /// The id of the run that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// Its place in the phase of that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Branch>,
    /// How many visits it may make; with one more it has failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub visit_budget: Option<u32>,
    /// Where the runs stand that are parts of its present visit.
    #[serde(default, skip_serializing_if = "Children::is_none")]
    pub children: Children,
    /// The id of the session that works on the runs of its phase, where it is one of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
    /// How far it has come with the plan whose elements its phase runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<PlanProgress>,
    /// The state of another system that it began with, as it was written.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub imported: Option<Value>,
    /// The steps of the approved plan that its phase carries out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Steps>,
    /// Who began it.
    pub by: By,
    /// Whether it began because its skill is in force.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub in_force: bool,
    /// The id of the call that invoked the skill, where a call did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// What began it, where nobody asked for it: the line of `start`, as a text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<String>,
    /// Whether a call began it, and no call that a phase of it lists has succeeded since: it holds nobody.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub tentative: bool,
    /// Whether the agent ended its turn while the run was not done and had to be, and did nothing for it since.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub unfinished: bool,
    /// Whether it goes on, and how it ended if not.
    pub status: Status,
    /// The name of its phase.
    pub phase: String,
    /// The name of the phase before the last move; equal to `phase` if it never moved.
    pub phase_before: String,
    /// The number of the present visit; counts the moves of the run, from 1.
    pub visit: u32,
    /// How many visits there have been: the number of the next one is one more.
    pub visits: u32,
    /// The visits whose calls still count, one a phase at most: the index of the phase, and the visit's number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<(usize, u32)>,
    /// The phase it can still return to, while no call of the present one has succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub provisional: Option<Provisional>,
    /// What has been proven.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Evidence>,
    /// The conditions that a call of the present visit seemed to prove and did not, each with the last such call's reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub uncounted: Vec<Uncounted>,
    /// What a person approved in it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<Approval>,
    /// What a person rejected in it, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<Approval>,
    /// What waits for a person, as it was when the main agent's turn ended; nothing once a prompt begins the next one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<Shown>,
    /// Phases left early or passed over.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skipped: Vec<Skipped>,
    /// Phases that were left undone because a person said that they are done.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub said_done: Vec<SaidDone>,
    /// How often each rollback edge was taken: from, to, times.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub backs: Vec<(String, String, u32)>,
    /// How often among those a failure led back.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failed_backs: Vec<FailedBack>,
    /// The rollback edge of the present visit that was asked for after its limit was spent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<SpentEdge>,
    /// Why it was halted, where a person or the agent did so and no person has resumed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub halted: Option<String>,
    /// Whether the agent halted it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub halted_by_agent: bool,
    /// Whether the newest result of the present visit is a failure.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub failed: bool,
    /// The files of artifacts that lie where they no longer belong, and that the agent was told of: one of each artifact.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deprecated: Vec<DeprecatedFile>,
    /// The subagents whose starts were called in its visits, the latest last; at most [`KEPT`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<TiedAgent>,
    /// Named values (`task`, `from`, ...).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, Value>,
    /// The last calls judged by it, denied ones too; at most [`HISTORY`].
    #[serde(default, skip_serializing_if = "no_history")]
    pub history: Arc<VecDeque<Arc<str>>>,
}

impl Run {
    /// The phase in whose visit another run is a part of this one, which follows the skill.
    pub fn phase_of<'s>(&self, skill: &'s Skill, part: &Self) -> Option<&'s str> {
        let visit = part.branch.as_ref()?.visit;
        let kept = self.kept.iter().find(|(_, kept)| *kept == visit).and_then(|(index, _)| skill.phases.get(*index));
        // Of an earlier visit the only phase is told that runs such a skill.
        let runs = |phase: &&Phase| phase.run.iter().flat_map(|runs| &runs.each).any(|run| run.skill == part.skill);
        let mut phases = skill.phases.iter().filter(runs);
        let only = || phases.next().filter(|_| phases.next().is_none());
        kept.or_else(only).map(|phase| phase.name.as_str())
    }

    /// How a part of another run gets on: `completed`, `failed`, `in_progress` (a subagent does it) or `pending`.
    pub fn progress(&self) -> &'static str {
        match self.status {
            Status::Finished => "completed",
            Status::Failed | Status::Left => "failed",
            Status::Active if self.branch.as_ref().is_some_and(|at| at.agent.is_some()) => "in_progress",
            Status::Active => "pending",
        }
    }

    /// Whether another wave follows in its phase.
    pub fn has_more_waves(&self) -> bool {
        self.plan.as_ref().is_some_and(|progress| progress.next_wave().is_some())
    }

    /// Whether its phase consists of runs, and waits at the gate of a wave.
    pub fn at_gate(&self) -> bool {
        self.children == Children::Gate
    }

    /// Whether it stands still until a person says how it goes on: one halted it, a limit is spent, or a run failed that
    /// its phase consists of.
    pub fn stands_still(&self) -> bool {
        self.halted.is_some() || self.spent.is_some() || self.children == Children::Failed
    }

    /// Stands still for a reason, or goes on.
    pub(crate) fn halt(&mut self, why: Option<&String>, by_agent: bool) {
        (self.halted, self.halted_by_agent) = (why.cloned(), by_agent);
    }

    /// Keeps that a call of a visit started a subagent.
    pub(crate) fn tie(&mut self, agent: &TiedAgent) {
        self.agents.push(agent.clone());
        let surplus = self.agents.len().saturating_sub(KEPT);
        self.agents.drain(..surplus);
    }

    /// Whether a call of the present visit started the subagent.
    pub fn started(&self, agent: &str) -> bool {
        self.agents.iter().any(|tied| tied.id == agent && tied.visit == self.visit)
    }

    /// Whether a person said that a phase, which is still to come, is skipped.
    pub fn is_to_skip(&self, phase: &str) -> bool {
        self.skipped.iter().any(|one| one.ahead.is_some() && one.phase == phase)
    }
}

/// A subagent, and the visit of a run in which the call was decided that started it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TiedAgent {
    /// The id of the subagent.
    pub id: String,
    /// The number of the visit.
    pub visit: u32,
}

/// A rollback edge whose limit is spent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SpentEdge {
    /// The name of the phase that it leads to.
    pub to: String,
    /// How often a run may take it.
    pub limit: u32,
    /// What becomes of the run.
    pub then: Spent,
}

/// How often the failure of a phase led a run back to another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailedBack {
    /// The name of the phase that failed.
    pub from: String,
    /// The name of the phase that it led to.
    pub to: String,
    /// How often.
    pub times: u32,
    /// The number of the visit that it led to last.
    pub visit: u32,
}

/// A file of an artifact that lies where it no longer belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeprecatedFile {
    /// The name of the artifact.
    pub artifact: String,
    /// Its path.
    pub path: String,
}

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It does.
    Active,
    /// It ended after its last phase was done.
    Finished,
    /// It was deactivated before that, or the run that it is a part of left the phase.
    Left,
    /// It failed: a part of it did with no rollback edge left, or its budget of visits is spent.
    Failed,
}

/// The place of a run in a phase of its parent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Branch {
    /// The name of the branch; empty where there is only one.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The number of the parent's visit that the run is a part of.
    pub visit: u32,
    /// The subagent that does the run; `None`: the main agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The id of the session that the subagent belongs to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// What the parent's phase waits for.
    pub barrier: Barrier,
    /// Its place among the runs of the phase, from 0.
    #[serde(skip_serializing_if = "crate::state::open_call::is_first")]
    pub place: usize,
    /// Whether another run of the phase begins when this one has ended.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub more: bool,
    /// Whether the phase goes on where the run fails.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub may_fail: bool,
    /// Whether how the run ended counts no more, as a person had its element begun anew or skipped.
    #[serde(skip_serializing_if = "core::ops::Not::not")]
    pub void: bool,
}

/// What a phase that consists of runs waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Barrier {
    /// That all of them have finished.
    #[default]
    All,
    /// That one of them has finished.
    Any,
}

/// Where the runs stand that are parts of a run's present visit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Children {
    /// The visit has none: the phase is judged by its own conditions.
    #[default]
    None,
    /// They go on, so the phase is not done.
    Live,
    /// Those of a wave finished, and the phase waits at its gate.
    Gate,
    /// They finished as the barrier asks, so the phase is done.
    Finished,
    /// One of them failed or was left, so the phase failed.
    Failed,
}

impl Children {
    /// Whether the visit has no parts.
    pub fn is_none(&self) -> bool {
        *self == Self::None
    }
}

/// Where a provisional phase was entered from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Provisional {
    /// The name of the phase that was left.
    pub phase: String,
    /// The number of the visit that was left; a return continues it.
    pub visit: u32,
    /// How many entries [`Run::skipped`] had then; a return drops those that came after.
    pub skipped: usize,
    /// Whether the newest result of that visit was a failure.
    pub failed: bool,
}

/// That a call of a phase ended in a way that a condition asks for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The index of the phase in which the call was decided.
    pub phase: usize,
    /// The number of the visit in which it was decided.
    pub visit: u32,
    /// The number of the condition (`ok`, `ended`, ...) within the skill, as compiled.
    pub atom: u32,
    /// The value then of the fact that has to be as it was, where the condition names one; `null` if it was unknown.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "crate::state::open_call::stated")]
    pub as_of: Option<Value>,
    /// What the call was about, where the condition compares that: the values of each comparison.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<Vec<String>>,
}

impl Evidence {
    /// Whether it is of the same condition, visit and object.
    pub(crate) fn is_of_the_same(&self, other: &Self) -> bool {
        (self.phase, self.visit, self.atom) == (other.phase, other.visit, other.atom) && self.about == other.about
    }

    /// Whether it has a value of each comparison in common.
    pub(crate) fn shares(&self, about: &[Vec<String>]) -> bool {
        self.about.iter().zip(about).all(|(its, others)| its.iter().any(|value| others.contains(value)))
    }

    /// Whether the call wrote this file, or one that nobody can name.
    pub(crate) fn wrote(&self, path: &str) -> bool {
        self.about.first().is_some_and(|paths| paths.iter().any(|one| one == path || one == UNKNOWN))
    }

    /// Whether it is of this call.
    pub(crate) fn is_of_call(&self, call: &str) -> bool {
        self.as_of.as_ref().and_then(Value::as_str) == Some(call)
    }

    /// Whether it is about all of these values of each comparison.
    pub(crate) fn covers(&self, mine: &[Vec<String>]) -> bool {
        self.about.len() == mine.len()
            && self.about.iter().zip(mine).all(|(its, mine)| mine.iter().all(|value| its.contains(value)))
    }
}

/// That a call that a condition is about ended, and proved nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Uncounted {
    /// The number of the condition within the skill, as compiled.
    pub atom: u32,
    /// Why it proved nothing.
    pub why: Why,
}

/// Why a call that a condition is about proved nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// The exit status of its line is not its own.
    NotOwnStatus,
    /// It ended in this way, and the condition asks for another.
    Outcome(CallOutcome),
    /// What it printed reports no tests that ended as wanted.
    Report,
    /// The run of tests left out some that have to pass.
    Part,
    /// Its tests could not be built or collected, and a failed test is asked for.
    Broken,
    /// Lines of its report may be missing: they go through a filter, or the runner's errors go nowhere.
    Filtered,
    /// Something else than the runner may have printed the report.
    OwnProgram,
}

/// That a person approved something in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Approval {
    /// What was approved.
    pub gate: Gate,
    /// The value of the fact that the gate names, as it was then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<Value>,
    /// Who approved it.
    pub by: By,
    /// When, in milliseconds since 1970-01-01 UTC, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
    /// The index of the phase that the run was in.
    pub phase: usize,
    /// The number of that visit.
    pub visit: u32,
}

/// What a person was shown of what waits for their word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Shown {
    /// What would be approved.
    pub gate: Gate,
    /// The value of the fact that the gate names, as it was then.
    pub content: Value,
}

/// A phase left early or passed over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Skipped {
    /// The name of the phase.
    pub phase: String,
    /// Who caused it: the agent by a call, or a person by `skip_phase`.
    pub by: By,
    /// The name of that person, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// The index of the phase, where a person said so before the run came there: it may be passed over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ahead: Option<usize>,
}

/// A phase that the run left because a person said that it is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaidDone {
    /// The name of the phase.
    pub phase: String,
    /// The name of the person, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
}

fn no_history(history: &VecDeque<Arc<str>>) -> bool {
    history.is_empty()
}
