//! Decisions: what is answered to a call or a command, and how an agent gets on from a denial.

use serde::{Deserialize, Serialize};

use crate::answers::code::Code;
use crate::answers::reason::DenialReason;
use crate::decide::Line;
use crate::policy::Mode;
use crate::prelude::*;

/// What is answered, from lenient to strict: the strictest of several wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// The call may run.
    Allow,
    /// The call may run; the agent gets a warning and the journal records it.
    Warn,
    /// A person decides. Counts as a denial until the call's outcome is seen.
    Ask,
    /// The call may not run.
    Deny,
}

impl Effect {
    /// What the mode of a run makes of a violation.
    pub fn of_violation(mode: Mode) -> Self {
        match mode {
            Mode::Warn => Self::Warn,
            Mode::Block => Self::Deny,
        }
    }

    /// The same, where the policy has a person asked.
    pub fn of_question(mode: Mode) -> Self {
        Self::of_violation(mode).min(Self::Ask)
    }

    /// The effect's word in transcripts: `allow`, `warn`, `ask` or `deny`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Warn => "warn",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// The check that decided (rules 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gate {
    /// Whether the input could be understood and the guard could work.
    Input,
    /// Whether the call leaves the guard itself alone.
    Protection,
    /// Whether the files that earlier calls might not change are as they were.
    Effects,
    /// Whether a server's tool still is what it was when it was first seen.
    Pin,
    /// Whether it registers what commands do, and who does.
    Registry,
    /// Whether the caller was told of the policy that is in force.
    Version,
    /// What calls may do at all.
    Access,
    /// What calls may use up.
    Budget,
    /// The rules of the project.
    Rules,
    /// The phases of the live runs.
    Phase,
    /// The right to give a control command.
    Control,
}

impl Gate {
    /// The gate's word in transcripts.
    pub fn word(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::Protection => "protection",
            Self::Effects => "effects",
            Self::Pin => "pin",
            Self::Registry => "registry",
            Self::Version => "version",
            Self::Access => "access",
            Self::Budget => "budget",
            Self::Rules => "rules",
            Self::Phase => "phase",
            Self::Control => "control",
        }
    }
}

/// The answer to one event that asks for one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[must_use]
pub struct Decision {
    /// What is answered.
    pub effect: Effect,
    /// Why, as a stable code; `None` for a plain allow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<Code>,
    /// The check that decided; `None` where no check had a say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<Gate>,
    /// The line of the decision table that applied in the deciding run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<Line>,
    /// The canonical name of the tool asked for; empty for a command.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// A sentence that says why; empty for a plain allow.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// A sentence that says how to get on; empty for a plain allow.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub recovery: String,
    /// What is missing before the way is open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// The skill of the deciding run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The deciding run's phase after the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// The deciding run's phase before the event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase_before: Option<String>,
    /// What was attempted, as the call and the phase that it belongs to, where the skill's denials have the layout
    /// `blocked`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attempted: Option<String>,
    /// Whether the deciding skill has the compatible form: the text then has the layout of the original system.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub compat: bool,
    /// The name by which a person answers, where the answer is a question: `phasegate approve NAME`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Whether the call is approved, so that the platform need not ask its user about it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub approved: bool,
    /// Whether the agent's turn is to end, where the platform can end it: the same call was denied too often.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub ends_turn: bool,
    /// How the client's shell is to run the call, where it is not to run as without a guard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confined: Option<Box<Confined>>,
    /// Why, as data, where a rule or a budget does not admit the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub admission: Option<Box<DenialReason>>,
}

/// How a shell runs a call of which nothing is to stay.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confined {
    /// What the agent is told where something of the call was not kept.
    pub says: String,
    /// The folders of the project in which its changes stay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keeps: Vec<String>,
}

impl Decision {
    /// An allow that nothing had a say in.
    pub fn allow() -> Self {
        Self {
            effect: Effect::Allow,
            code: None,
            gate: None,
            line: None,
            tool: String::new(),
            reason: String::new(),
            recovery: String::new(),
            missing: Vec::new(),
            skill: None,
            phase: None,
            phase_before: None,
            attempted: None,
            compat: false,
            question: None,
            approved: false,
            ends_turn: false,
            confined: None,
            admission: None,
        }
    }

    /// An answer that does not come from a run: a problem with input, policy, state or a command.
    pub fn problem(effect: Effect, gate: Gate, code: Code, reason: String) -> Self {
        Self { effect, code: Some(code), gate: Some(gate), reason, recovery: code.remedy().into(), ..Self::allow() }
    }

    /// Whether the call may run now.
    pub fn lets_through(&self) -> bool {
        matches!(self.effect, Effect::Allow | Effect::Warn)
    }
}
