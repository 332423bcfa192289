//! Conditions as written.

use serde::Deserialize;

use super::matcher::MatcherSource;

/// A condition. If an object has several keys, all of them must hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
#[serde(default, deny_unknown_fields)]
pub struct ConditionSource {
    /// A matching call succeeded; a program must have exit status 0. For a list, each matcher needs such a call.
    pub ok: Option<Matchers>,
    /// A matching call ran and failed.
    pub failed: Option<Matchers>,
    /// The user or another guard refused a matching call.
    pub refused: Option<Matchers>,
    /// A matching call was started in the background. The start proves nothing about the end.
    pub launched: Option<Matchers>,
    /// A matching call was interrupted.
    pub cancelled: Option<Matchers>,
    /// A matching call ended with an unknown outcome.
    pub unknown: Option<Matchers>,
    /// A matching call ran to its end, `ok` or `failed`.
    pub ended: Option<Matchers>,
    /// A known test runner ended so: `passed` (the whole suite, or what `command` names), `failed` or `broken`.
    pub tests: Option<Tests>,
    /// With `tests`: the words of the command that runs the tests meant, with `*` for any words.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub command: Option<String>,
    /// Beside `ok`, `failed`, `ended`, `tests` and the like: files that are as they were when that call was decided, whoever
    /// changes them. Alone: as they were when the visit of the phase began. A path with `*`, `?`, `**` and `{a,b}`,
    /// relative to the project.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub unchanged: Option<String>,
    /// All of these hold.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub all: Option<Vec<ConditionSource>>,
    /// One of these holds.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub any: Option<Vec<ConditionSource>>,
    /// This does not hold. An unknown fact satisfies neither a condition nor its negation.
    pub not: Option<Box<ConditionSource>>,
    /// A file, relative to the project. Without another key, the condition is that it exists.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub file: Option<String>,
    /// With `file`: whether the file exists.
    pub exists: Option<bool>,
    /// With `file`: the SHA-256 digest of its bytes, as 64 lower-case hexadecimal digits.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub sha256: Option<String>,
    /// With `file`: a text that the file contains.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub contains: Option<String>,
    /// With `contains`: the minimum number of occurrences. The default is 1, or 0 if `at_most` is given.
    pub at_least: Option<u64>,
    /// With `contains`: the maximum number of occurrences.
    pub at_most: Option<u64>,
    /// A person approved this name in the run with `phasegate approve`. With `file`: the file is what it was then.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub approved: Option<String>,
}

/// One matcher, or a list of matchers that all must be seen.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Matchers {
    /// Each of these must be seen.
    Each(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] Vec<MatcherSource>),
    /// This one must be seen.
    One(MatcherSource),
}

/// How tests ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Tests {
    /// At least one ran, none failed, and the exit status is 0.
    Passed,
    /// At least one failed.
    Failed,
    /// They could not be built or collected.
    Broken,
}
