//! Facts of rules as written, in the file beside that of the rules.

use std::collections::BTreeMap;

use phasegate_core::policy::Scope;
use serde::Deserialize;

use super::group::GroupSource;
use super::matcher::MatcherSource;

/// What the rules of a file know of earlier calls.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RuleFactsSource {
    /// Groups of files, by their names: `"@NAME"` stands for one wherever a path stands in the file.
    pub groups: BTreeMap<String, GroupSource>,
    /// The facts, by their names: the rules read one as `context.facts.NAME`.
    pub facts: BTreeMap<String, RuleFactSource>,
}

/// What a fact asks of earlier calls: one of `tests`, `count` and `running`.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RuleFactSource {
    /// Whether the whole suite of tests passed, by a known runner. A later run that fails ends it.
    pub tests: Option<TestsOfFact>,
    /// With `tests`: whether a change of the project's files ends it too.
    pub unchanged: Option<bool>,
    /// How many of these calls were let through, as a whole number: a call as in a list of a phase. Each command of a line
    /// counts, and each path of it where paths are asked for.
    pub count: Option<MatcherSource>,
    /// Whether such a call was let through and has not ended.
    pub running: Option<MatcherSource>,
    /// Whose calls count: those of the session, the default, or of all sessions of the project.
    pub scope: Option<Scope>,
    /// How far it looks back: a whole number and its unit (`90s`, `30m`, `2h`, `7d`).
    pub within: Option<String>,
}

/// How tests ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TestsOfFact {
    /// At least one ran, and none failed.
    Passed,
}
