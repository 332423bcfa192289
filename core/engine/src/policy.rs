//! Policies: all configs compiled. Made by `phasegate-config`, never edited.

pub(crate) mod mode;
pub(crate) mod scope;
pub mod access;
pub mod input;
pub mod section_test;
mod questions;
pub mod matcher;
pub mod plan;
pub mod steps;
pub mod budget;
pub(crate) mod child_runs;
mod answers;
mod confine;
mod optional;
mod product;
mod safety;

use alloc::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::calls::analysis::Invocation;
use crate::calls::tool::Labels;
use crate::evidence::artifact::Artifact;
use crate::evidence::condition::Condition;
use crate::evidence::object::Selector;
use crate::policy::access::AccessMode;
pub use crate::policy::answers::{Approve, ChangedTools};
use crate::policy::budget::Budget;
pub use crate::policy::child_runs::{ChildRun, ChildRuns};
pub use crate::policy::confine::Confine;
use crate::policy::input::{Input, Values};
use crate::policy::matcher::{Matcher, ServerPattern, Servers};
pub use crate::policy::mode::Mode;
pub use crate::policy::optional::Optional;
use crate::policy::plan::PlanFile;
pub use crate::policy::safety::Safety;
pub use crate::policy::scope::Scope;
use crate::policy::steps::StepsFile;
use crate::prelude::*;
use crate::rules::Rules;
use crate::values::by_version::{ByVersion, Versioned};

/// All skills that apply, named by the hash of their content.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Policy {
    /// The policy version: 64 hexadecimal digits of SHA-256, independent of order and layout.
    pub version: String,
    /// The skills, sorted by name.
    pub skills: Vec<Skill>,
    /// Skills of earlier policies that live runs still follow.
    #[serde(default, skip_serializing_if = "ByVersion::is_empty")]
    pub earlier: ByVersion<Skill>,
    /// How calls of changed tools are answered.
    #[serde(default, skip_serializing_if = "crate::values::is_default")]
    pub changed_tools: ChangedTools,
    /// Which calls are approved, so that the platform does not ask its user about them.
    #[serde(default, skip_serializing_if = "crate::values::is_default")]
    pub approve: Approve,
    /// What agents may register about commands.
    #[serde(default, skip_serializing_if = "crate::values::is_default")]
    pub safety: Safety,
    /// What calls may do at all, where no person says otherwise.
    #[serde(default, skip_serializing_if = "crate::values::is_default")]
    pub access: AccessMode,
    /// How much calls may use up.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub budgets: Vec<Budget>,
    /// The rules over calls; `None` where there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rules: Option<Arc<Rules>>,
    /// The mode that the settings ask for, where nothing else of the policy has one: the guard protects itself by it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
}

impl Policy {
    /// The skill of this name in the present policy.
    pub fn skill(&self, name: &str) -> Option<&Skill> {
        self.skills.iter().find(|skill| skill.name == name)
    }

    /// The skill that an invocation means: the one of this name, else the one that the name means to a client that
    /// ignores case, outer spaces and the plugin a skill comes from (`plugin:name`). Doubt guards.
    pub fn invoked(&self, name: &str) -> Option<&Skill> {
        let plain = Invocation::plain(name);
        self.skill(name).or_else(|| self.skills.iter().find(|skill| skill.name.eq_ignore_ascii_case(plain)))
    }

    /// The modes that it asks for, those of its skills first: what is denied by access, a budget, a rule or to protect the
    /// guard needs no skill.
    pub fn modes(&self) -> impl Iterator<Item = Mode> {
        let access = (self.access == AccessMode::Readonly).then_some(Mode::Block);
        let skills = self.skills.iter().filter_map(|skill| skill.mode);
        let rules = self.rules.as_ref().and_then(|rules| rules.mode());
        skills.chain(self.budgets.iter().map(|budget| budget.mode)).chain(access).chain(rules).chain(self.mode)
    }

    /// The skill exactly as a run began with it. The skills that others run are part of these.
    pub fn skill_version(&self, name: &str, version: &str) -> Option<&Skill> {
        let known = |skill: &&Skill| skill.version == version && skill.name == name;
        // Most live runs are elements of a plan, whose skills are among the earlier ones and are found by a search.
        let found = self.earlier.of_version(version).filter(known).or_else(|| self.skills.iter().find(known));
        found.or_else(|| self.skills.iter().chain(&self.earlier).find_map(|skill| skill.child(name, version)))
    }
}

/// A skill: its phases and rules (rules 2).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Skill {
    /// The name that it is activated and invoked by.
    pub name: String,
    /// What it is for, in a sentence.
    pub description: String,
    /// The hash of its compiled content, as hexadecimal digits; runs are tied to it.
    pub version: String,
    /// `true` for the compatible form: bare names mean every server, and a phase that is entered is not asked what it
    /// forbids.
    #[serde(rename = "seed")]
    pub compat: bool,
    /// The least strict mode a run may have; `None` leaves it to who activates.
    pub mode: Option<Mode>,
    /// Where its runs live.
    pub scope: Scope,
    /// How calls that no line lists are answered, where no line of `unlisted_lines` selects them.
    pub unlisted: Unlisted,
    /// Calls that no phase lists and that are answered in their own way; the first line that selects a call decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unlisted_lines: Vec<UnlistedLine>,
    /// Who may deactivate a run before its end.
    pub leave_skill: LeaveSkill,
    /// Whether the agent is kept from ending its turn while a run is not done.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub finish_required: bool,
    /// What becomes of a violation in block mode.
    #[serde(default, skip_serializing_if = "crate::values::is_default")]
    pub on_violation: OnViolation,
    /// Whether the kernel holds its lines, where its phases do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confine: Option<Confine>,
    /// What begins a run, besides a person's command. Any of them does.
    #[serde(default = "Start::by_default", skip_serializing_if = "Start::is_default")]
    pub start: Vec<Start>,
    /// The names of the servers whose tools a bare name in `allowed` or `done_when` means, besides the host's own.
    pub servers: Vec<String>,
    /// What the policy says about single tools.
    pub tools: Vec<ToolNote>,
    /// How its denials are laid out.
    #[serde(default, skip_serializing_if = "crate::values::is_default")]
    pub denial_text: DenialText,
    /// The values that a run is given when it begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<Input>,
    /// The version of the skill that this is an instance of: its inputs have values, which are put into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instance_of: Option<String>,
    /// The artifacts that it names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<Artifact>,
    /// The calls that every phase forbids.
    pub global_forbidden: Vec<Matcher>,
    /// The skills that its phases run, as they were when it was compiled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Self>,
    /// The phases, in order. Never empty.
    pub phases: Vec<Phase>,
}

impl Versioned for Skill {
    fn version(&self) -> &str {
        &self.version
    }
}

impl Skill {
    /// What it is made of: `composite` (a phase consists of runs), `atomic` (one phase, that a subagent does) or `phases`.
    pub fn kind(&self) -> &'static str {
        match self.phases.as_slice() {
            phases if phases.iter().any(|phase| phase.run.is_some()) => "composite",
            [only] if only.done_by.is_some() => "atomic",
            _ => "phases",
        }
    }

    /// A skill that one of its phases runs, at any depth.
    pub fn child(&self, name: &str, version: &str) -> Option<&Self> {
        let mut children = self.children.iter();
        children.find_map(|child| {
            let is_it = child.name == name && child.version == version;
            if is_it { Some(child) } else { child.child(name, version) }
        })
    }

    /// Whether one of its phases runs a skill of this name, at any depth.
    pub fn runs(&self, name: &str) -> bool {
        self.children.iter().any(|child| child.name == name || child.runs(name))
    }

    fn asks_what_was_written(&self) -> bool {
        let mut conditions = self.phases.iter().flat_map(Phase::conditions);
        conditions.any(Condition::asks_what_was_written) || self.children.iter().any(Self::asks_what_was_written)
    }

    /// Calls `visit` with every matcher of it and of the skills that it runs, those in exceptions too.
    pub(crate) fn each_matcher<'a>(&'a self, visit: &mut dyn FnMut(&'a Matcher)) {
        let lists =
            self.tools.iter().map(|note| &note.matcher).chain(&self.global_forbidden).chain(self.begins_before());
        let lists = lists.chain(self.unlisted_lines.iter().map(|line| &line.matcher));
        lists.for_each(|matcher| matcher.each(visit));
        for phase in &self.phases {
            let unlisted = phase.unlisted.iter().flat_map(|rule| &rule.lines);
            unlisted.for_each(|line| line.matcher.each(visit));
            phase.allowed.iter().chain(&phase.forbidden).for_each(|matcher| matcher.each(visit));
            phase.conditions().for_each(|condition| {
                condition.each_call(&mut |test| test.matcher.each(visit));
            });
        }
        self.children.iter().for_each(|child| child.each_matcher(visit));
    }

    /// The calls before which a run of it begins.
    pub(crate) fn begins_before(&self) -> impl Iterator<Item = &Matcher> {
        self.start.iter().filter_map(|start| if let Start::Before(line) = start { Some(line) } else { None })
    }

    /// The values of an instance.
    pub fn values(&self) -> Values {
        let pair = |input: &Input| Some((input.name.clone(), input.value.clone()?));
        self.inputs.iter().filter_map(pair).collect()
    }

    /// The servers that a bare name permits.
    pub fn permitted_servers(&self) -> Servers<'_> {
        if self.compat { Servers::Every } else { Servers::Listed(&self.servers) }
    }

    /// The servers that the skill names: those of its bare names, and those of single lines that allow.
    pub fn named_servers(&self) -> Vec<&str> {
        let lines = self.phases.iter().flat_map(|phase| &phase.allowed).filter_map(|matcher| match &matcher.server {
            ServerPattern::Named(server) => Some(server.as_str()),
            ServerPattern::Bare => None,
        });
        let mut named: Vec<&str> = lines.chain(self.servers.iter().map(String::as_str)).collect();
        named.sort_unstable();
        named.dedup();
        named
    }

    /// Whether something else than an invocation or a person's command begins its runs.
    pub fn starts_by_itself(&self) -> bool {
        self.start.iter().any(|start| *start != Start::Invocation)
    }

    /// Whether its invocation begins a run.
    pub fn is_invoked(&self) -> bool {
        self.start.contains(&Start::Invocation)
    }

    /// How calls that no line lists are answered in a phase.
    pub fn unlisted_in<'p>(&'p self, phase: &'p Phase) -> (&'p [UnlistedLine], Unlisted) {
        let own = phase.unlisted.as_deref().map(|rule| (rule.lines.as_slice(), rule.otherwise));
        own.unwrap_or((&self.unlisted_lines, self.unlisted))
    }

    /// The artifacts that a phase produces.
    pub fn produced_in<'p>(&'p self, phase: &'p Phase) -> impl Iterator<Item = &'p Artifact> {
        phase.produces.iter().filter_map(|at| self.artifacts.get(*at))
    }

    /// The calls that write an artifact of other phases: no line of this phase lists them.
    pub fn reserved_in<'p>(&'p self, phase: &'p Phase) -> impl Iterator<Item = &'p Matcher> {
        let others = self.artifacts.iter().enumerate().filter(|(at, _)| !phase.produces.contains(at));
        others.filter(|(_, artifact)| artifact.is_produced()).flat_map(|(_, artifact)| &artifact.writes)
    }

    /// Whether a condition of it asks whether files are as they were.
    pub fn asks_whether_unchanged(&self) -> bool {
        self.phases.iter().flat_map(Phase::conditions).any(|condition| {
            let mut asks = false;
            condition.each_call(&mut |test| asks |= test.unchanged.is_some());
            condition.each_unchanged(&mut |_| asks = true);
            asks
        })
    }

    /// What `same` compares, in the conditions of all phases.
    pub fn selectors(&self) -> Vec<&Selector> {
        let mut found = Vec::new();
        for condition in self.phases.iter().flat_map(Phase::conditions) {
            condition.each_call(&mut |test| found.extend(test.same.iter().flat_map(|same| [&same.its, &same.mine])));
        }
        found
    }

    /// The place of a phase, by name.
    pub fn phase_index(&self, name: &str) -> Option<usize> {
        self.phases.iter().position(|phase| phase.name == name)
    }
}

/// What begins a run of a skill (rules 3.1).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Start {
    /// The client's skill of that name is invoked.
    Invocation,
    /// A session begins.
    Session,
    /// A prompt begins so.
    Prompt(String),
    /// The platform begins to say that its session is in this permission mode.
    PermissionMode(String),
    /// A call that this selects is to be made, and does not only read.
    Before(Matcher),
}

impl Start {
    /// What begins a run where nothing is said.
    pub fn by_default() -> Vec<Self> {
        Vec::from([Self::Invocation])
    }

    fn is_default(start: &[Self]) -> bool {
        matches!(start, [Self::Invocation])
    }
}

/// What a policy says about a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolNote {
    /// The tools that the note is about.
    pub matcher: Matcher,
    /// What they can do.
    pub labels: Labels,
}

/// A phase: a named state of a skill's workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Phase {
    /// The phase's name, the only one of this name in the skill.
    pub name: String,
    /// What an agent has to do in it, as a sentence or a text of several lines; may be empty.
    #[serde(rename = "do")]
    pub task: String,
    /// The calls that belong to the phase.
    pub allowed: Vec<Matcher>,
    /// The lines of `allowed` that have a condition of their own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub line_requires: Vec<LineRequires>,
    /// The lines of `forbidden` that forbid only until a condition holds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub forbidden_until: Vec<LineRequires>,
    /// The plan whose steps permit further calls, each one call, once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Box<StepsFile>>,
    /// The calls that are a violation while the run is in it; stronger than `allowed`.
    pub forbidden: Vec<Matcher>,
    /// The artifacts that it produces, by their places in the skill: it alone, and others that produce them, may write them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub produces: Vec<usize>,
    /// The type of the subagent that does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done_by: Option<String>,
    /// The runs that it consists of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<Box<ChildRuns>>,
    /// How calls that no line lists are answered in it; `None`: as the skill says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unlisted: Option<Box<UnlistedRule>>,
    /// Whether the kernel holds its lines; `None`: as the skill says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confine: Option<Confine>,
    /// What must hold before it is entered.
    pub requires: Option<Condition>,
    /// What completes it; `None`: nothing is needed to leave it.
    pub done_when: Option<Condition>,
    /// What makes it fail; `None`: a failed call whose success it asks for, or a failed run of those that it consists of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_when: Option<Condition>,
    /// Whether it may be passed over, and when.
    pub optional: Optional,
    /// What is told where it is passed over; empty: the condition of `optional`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub skip_text: String,
    /// Whether completion moves by itself.
    pub leave: Leave,
    /// The ways forward, first choice first.
    pub next: Vec<Edge>,
    /// The rollback edges to earlier phases, first choice first.
    pub back: Vec<Back>,
}

/// The condition of one line: one of `allowed` lists a call only while it holds, one of `forbidden` forbids only while it
/// does not.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LineRequires {
    /// The index of the line.
    pub line: usize,
    /// What has to hold, over the evidence of the whole run.
    pub condition: Condition,
}

impl Phase {
    /// Whether something has to happen before the phase is done.
    pub fn asks(&self) -> bool {
        self.done_when.is_some() || self.run.is_some() || self.steps.is_some()
    }

    /// The calls that belong to the phase while it is not current: its lines, and those of the runs that it consists of.
    pub fn enters(&self) -> impl Iterator<Item = &Matcher> {
        let own: &[Matcher] = if self.run.is_some() { &[] } else { &self.allowed };
        own.iter().chain(self.run.iter().flat_map(|run| &run.enters))
    }

    /// The calls that belong to the phase where a run stands in it. A phase that consists of runs has only those of its
    /// gate, once that is reached.
    pub fn lines(&self, at_gate: bool) -> &[Matcher] {
        if self.run.is_some() && !at_gate { &[] } else { &self.allowed }
    }

    /// The plan whose elements it runs.
    pub fn plan(&self) -> Option<&PlanFile> {
        self.run.as_ref().and_then(|run| run.plan.as_deref())
    }

    /// The condition of a line of `allowed`.
    pub fn required_by(&self, line: usize) -> Option<&Condition> {
        self.line_requires.iter().find(|requires| requires.line == line).map(|requires| &requires.condition)
    }

    /// The lines of `forbidden`, with their numbers, that forbid whatever has happened.
    pub fn always_forbidden(&self) -> impl Iterator<Item = (usize, &Matcher)> + Clone {
        let waits = |at: usize| self.forbidden_until.iter().any(|until| until.line == at);
        self.forbidden.iter().enumerate().filter(move |(at, _)| !waits(*at))
    }

    /// The conditions of single lines.
    pub fn line_conditions(&self) -> impl Iterator<Item = &Condition> {
        self.line_requires.iter().chain(&self.forbidden_until).map(|line| &line.condition)
    }

    /// Every condition of the phase, in the order of its fields.
    pub fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let optional = match &self.optional {
            Optional::When(condition) => Some(&**condition),
            Optional::No | Optional::Never | Optional::Yes => None,
        };
        let edges = self.next.iter().filter_map(|edge| edge.when.as_ref());
        let backs = self.back.iter().filter_map(|back| back.when.as_ref());
        let asked = self.line_conditions().chain(&self.requires).chain(&self.done_when).chain(&self.failed_when);
        asked.chain(optional).chain(edges).chain(backs)
    }
}

/// When a completed phase is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Leave {
    /// When a call of a following phase asks for it.
    OnCall,
    /// As soon as `done_when` holds.
    OnDone,
}

/// A way forward.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Edge {
    /// The index of the phase it leads to.
    pub to: usize,
    /// What must hold for the way to be open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// Whether it may be taken by request before the phase is done.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub early: bool,
}

/// A rollback edge, taken at most `limit` times in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Back {
    /// The index of the phase it leads to.
    pub to: usize,
    /// How often it may be taken.
    pub limit: u32,
    /// `true`: open only after a call of the present visit failed (`on_failure`).
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub on_failure: bool,
    /// A further condition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Condition>,
    /// What becomes of the run when the edge is asked for and its limit is spent; `None`: the call is denied.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub then: Option<Spent>,
}

/// What becomes of a run whose rollback edge is asked for once more than its limit says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Then"))]
pub enum Spent {
    /// It has failed, and with it the phase of a run that consists of it. A run that is part of no other stands still: only
    /// calls that read are allowed until a person ends the skill or skips the phase.
    Halt,
    /// It stands still until a person says how it goes on.
    Person,
}

/// What becomes of a violation in block mode, from lenient to strict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum OnViolation {
    /// The user is asked, and a yes lets that one call run. Where nobody can be asked, the call is denied. What the skill
    /// forbids in every phase is denied.
    Ask,
    /// The call is denied.
    #[default]
    Deny,
}

impl OnViolation {
    /// The word of a config: `ask` or `deny`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// How calls that no line lists are answered, from lenient to strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Unlisted {
    /// It is allowed.
    Allow,
    /// It is allowed if its tool has the label `read` and neither `write` nor `execute`.
    ReadOnly,
    /// It is a violation.
    Deny,
}

/// Calls that no phase lists, and their answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnlistedLine {
    /// Whether they are allowed.
    pub passes: bool,
    /// Whether a person is asked about them.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub asks: bool,
    /// Which calls.
    pub matcher: Matcher,
    /// What is said of them where they are denied or a person is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

/// How calls that no line lists are answered in one phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnlistedRule {
    /// Calls that are answered in their own way; the first line that selects a call decides.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<UnlistedLine>,
    /// How the others are answered.
    pub otherwise: Unlisted,
}

/// How the text of a denial is laid out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum DenialText {
    /// The reason, how to get on, and an object with the rest.
    #[default]
    Standard,
    /// `BLOCKED:` with the reason, the current phase, what was attempted, and how to get on.
    Blocked,
}

/// Who may deactivate a run before its end, from lenient to strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LeaveSkill {
    /// The agent, at any time.
    Agent,
    /// The agent once the last phase is done; a person at any time.
    Finished,
    /// A person only.
    Human,
}
