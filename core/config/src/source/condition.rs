//! Conditions as written.

use serde::Deserialize;

use super::matcher::MatcherSource;

/// What must hold. Several keys in one object must all hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
#[serde(default, deny_unknown_fields)]
pub struct ConditionSource {
    /// A call that matches succeeded; for a program, with exit status 0. In a list, each one did.
    pub ok: Option<Matchers>,
    /// A call that matches ran and failed.
    pub failed: Option<Matchers>,
    /// A call that matches was refused by the user or by another guard.
    pub refused: Option<Matchers>,
    /// A call that matches was started in the background. That it began proves nothing about its end.
    pub launched: Option<Matchers>,
    /// A call that matches was interrupted.
    pub cancelled: Option<Matchers>,
    /// A call that matches ended in a way that nobody saw.
    pub unknown: Option<Matchers>,
    /// A call that matches ran to its end, `ok` or `failed`.
    pub ended: Option<Matchers>,
    /// All of these hold.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub all: Option<Vec<ConditionSource>>,
    /// One of these holds.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub any: Option<Vec<ConditionSource>>,
    /// This does not hold. What is not known satisfies neither a condition nor its negation.
    pub not: Option<Box<ConditionSource>>,
    /// A file, relative to the project. Without a further key it must exist.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub file: Option<String>,
    /// With `file`: whether the file exists.
    pub exists: Option<bool>,
    /// With `file`: the SHA-256 digest of its bytes, as 64 lower-case hexadecimal digits.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub sha256: Option<String>,
    /// With `file`: a text that occurs in it.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub contains: Option<String>,
    /// With `contains`: the least number of times. Without it 1, or 0 if `at_most` is given.
    pub at_least: Option<u64>,
    /// With `contains`: the greatest number of times.
    pub at_most: Option<u64>,
    /// A person approved this name, by the control command `approve`.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub approved: Option<String>,
}

/// One matcher, or a list of which each must be seen.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Matchers {
    /// Each of these must be seen.
    Each(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] Vec<MatcherSource>),
    /// This one must be seen.
    One(MatcherSource),
}
