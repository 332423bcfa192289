//! Rules, compiled.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::expr::Expr;

/// All rules of a policy. The order in which they are written does not matter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Ruleset {
    /// What becomes of a call that no rule is about.
    pub default: Default,
    /// The rules, sorted by id.
    rules: Vec<Rule>,
    /// The rules that are about one action, by its id.
    by_action: BTreeMap<String, Vec<usize>>,
    /// The rules that may be about any action.
    general: Vec<usize>,
}

#[derive(Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    default: Default,
    rules: Vec<Rule>,
}

/// What becomes of a call that no rule is about.
#[derive(Clone, Copy, Debug, core::default::Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "RuleDefault"))]
pub enum Default {
    /// It passes.
    #[default]
    Permit,
    /// It is denied: each part of a call needs a rule that permits it.
    Deny,
}

/// One rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Its name, from `@id`.
    pub id: String,
    /// What becomes of a call that it is about. `None`: it permits the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forbids: Option<Effect>,
    /// Why, from `@reason`; empty where it says nothing.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// How to get on, from `@recovery`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<String>,
    /// What its denial is given as to programs, from `@kind`. `None`: as the denial of a rule of this name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<RuleKind>,
    /// Who calls.
    #[serde(default, skip_serializing_if = "is_default")]
    pub principal: Scope,
    /// Which tools are called.
    #[serde(default, skip_serializing_if = "is_default")]
    pub action: ActionScope,
    /// The tool.
    #[serde(default, skip_serializing_if = "is_default")]
    pub resource: Scope,
    /// The conditions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<Expr>,
    /// The facts that the conditions read: what each is known by, by its name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub facts: BTreeMap<String, String>,
}

impl Rule {
    /// Whether it compares paths of files, and is so also about calls that access files and do not say which.
    pub fn is_about_unnamed(&self) -> bool {
        let reads = |names: &[&str]| self.when.as_ref().is_some_and(|when| when.reads("path", names));
        self.forbids.is_some() && reads(&["file", "name"]) && !reads(&["named", "names", "secret", "inside"])
    }
}

/// What a denial by a rule is given as to programs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RuleKind {
    /// The denial of a rule of this name, of which this one is a part.
    Rule(String),
    /// That of a policy with this id.
    Policy(String),
    /// A violation of this axiom.
    Axiom(String),
    /// An effect that would violate this invariant.
    Invariant(String),
    /// Several rules match, and none comes first.
    Ambiguous,
}

impl RuleKind {
    /// What `@kind` says: a word, and a name after it.
    pub fn parse(text: &str) -> Option<Self> {
        let (word, name) = text.split_once(' ').map_or((text, ""), |(word, name)| (word, name.trim()));
        let named = |kind: fn(String) -> Self| (!name.is_empty()).then(|| kind(name.into()));
        match word {
            "rule" => named(Self::Rule),
            "policy" => named(Self::Policy),
            "axiom" => named(Self::Axiom),
            "invariant" => named(Self::Invariant),
            "ambiguous" => name.is_empty().then_some(Self::Ambiguous),
            _ => None,
        }
    }
}

/// What becomes of a call that a rule forbids, from lenient to strict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It runs, with a warning.
    Warn,
    /// A person is asked.
    Ask,
    /// It is denied.
    Deny,
}

impl Effect {
    /// Every effect with its word.
    pub const ALL: [(&'static str, Self); 3] = [("warn", Self::Warn), ("ask", Self::Ask), ("deny", Self::Deny)];

    /// The word of `@effect`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Warn => "warn",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

/// Which entity a rule is about.
#[derive(Clone, Debug, core::default::Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Scope {
    /// Any.
    #[default]
    Any,
    /// This one.
    Is {
        /// Its type.
        kind: String,
        /// Its id.
        id: String,
    },
    /// This one and what belongs to it.
    In {
        /// Its type.
        kind: String,
        /// Its id.
        id: String,
        /// The type of what belongs to it, where the rule says it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        of: Option<String>,
    },
    /// Any of this type.
    Kind(String),
}

/// Which tools a rule is about.
#[derive(Clone, Debug, core::default::Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActionScope {
    /// Any.
    #[default]
    Any,
    /// This one.
    Is(String),
    /// Those of these groups.
    In(Vec<String>),
}

fn is_default<T: core::default::Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// The group of every call.
pub(crate) const CALL: &str = "call";

/// Whether the id of an action is one of a group: every call, a label, the tools of a server.
pub(crate) fn is_group(id: &str) -> bool {
    id == CALL || id.starts_with('@') || id.ends_with("/*")
}

impl From<Stored> for Ruleset {
    fn from(stored: Stored) -> Self {
        Self::new(stored.default, stored.rules)
    }
}

impl From<Ruleset> for Stored {
    fn from(ruleset: Ruleset) -> Self {
        Self { default: ruleset.default, rules: ruleset.rules }
    }
}

impl Ruleset {
    /// These rules, in whatever order.
    pub fn new(default: Default, mut rules: Vec<Rule>) -> Self {
        rules.sort_by(|one, other| one.id.cmp(&other.id));
        let mut by_action: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut general = Vec::new();
        for (at, rule) in rules.iter().enumerate() {
            match &rule.action {
                ActionScope::Is(action) => by_action.entry(action.clone()).or_default().push(at),
                ActionScope::In(all) if !all.iter().any(|action| is_group(action)) => {
                    all.iter().for_each(|action| by_action.entry(action.clone()).or_default().push(at));
                }
                ActionScope::Any | ActionScope::In(_) => general.push(at),
            }
        }
        Self { default, rules, by_action, general }
    }

    /// The rules, sorted by id.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// Whether it lets every call pass.
    pub fn is_empty(&self) -> bool {
        self.default == Default::Permit && self.rules.iter().all(|rule| rule.forbids.is_none())
    }

    /// The strictest effect that it can have.
    pub fn strictest(&self) -> Option<Effect> {
        let of_default = (self.default == Default::Deny).then_some(Effect::Deny);
        self.rules.iter().filter_map(|rule| rule.forbids).chain(of_default).max()
    }

    /// The rules that may be about an action, in order of their ids.
    pub(crate) fn candidates(&self, action: &str) -> impl Iterator<Item = &Rule> {
        let mut named = self.by_action.get(action).map_or(&[][..], Vec::as_slice).iter().peekable();
        let mut general = self.general.iter().peekable();
        core::iter::from_fn(move || {
            let of_named = match (named.peek(), general.peek()) {
                (Some(one), Some(other)) => one < other,
                (one, _) => one.is_some(),
            };
            let at = if of_named { named.next() } else { general.next() };
            self.rules.get(*at?)
        })
    }
}
