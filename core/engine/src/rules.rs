//! The rules of a policy, as they are stored (rules 4.9). `phasegate-rules` says what a rule is and decides by it.

pub mod fact_part;
pub mod rule_fact;
pub(crate) mod rule_request;
pub(crate) mod facts_of_parts;
pub(crate) mod earlier_calls;
pub mod objection;
pub(crate) mod objections;
pub mod rule_report;
pub(crate) mod own_action;

use alloc::collections::BTreeMap;

use phasegate_rules::{Effect, Kind, Ruleset};
use serde::{Deserialize, Serialize};

use crate::calls::tool::Labels;
use crate::policy::mode::Mode;
use crate::prelude::*;
use crate::rules::rule_fact::RuleFact;

/// The rules of all levels. Each level judges a call by itself, and the strictest answer wins.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rules {
    /// The levels that have rules: the machine's, the user's, the project's.
    pub levels: Vec<RuleLevel>,
}

/// The rules of one level.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RuleLevel {
    /// The rules.
    pub rules: Ruleset,
    /// What the level says of tools, by the ids of their actions.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<String, RuleTool>,
    /// Whether they are the machine's: then no person at a session lets a call pass that they deny.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub machine: bool,
    /// The facts that the rules read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<RuleFact>,
}

/// What a level says of a tool.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RuleTool {
    /// What it can do, beside what is known.
    #[serde(skip_serializing_if = "Labels::is_empty")]
    pub labels: Labels,
    /// Its arguments that rules read.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub arguments: BTreeMap<String, Kind>,
}

impl Rules {
    /// The mode that the rules ask for: they deny or ask in `block`, and warn in `warn`. `None`: they let every call pass.
    pub fn mode(&self) -> Option<Mode> {
        let strictest = self.levels.iter().filter_map(|level| level.rules.strictest()).max()?;
        Some(if strictest == Effect::Warn { Mode::Warn } else { Mode::Block })
    }
}
