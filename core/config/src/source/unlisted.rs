//! What becomes of calls that no line lists, as written.

use phasegate_core::policy::Unlisted;
use serde::Deserialize;

use super::matcher::MatcherSource;

/// How to answer calls that no line lists: a word, or a list of which the first line that selects a call decides.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum UnlistedRuleSource {
    /// One answer to all of them.
    Word(Unlisted),
    /// Lines, and at the end a word for the rest.
    List(Vec<UnlistedLineSource>),
}

/// A line of the list: calls with their answer, or the word for the rest.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum UnlistedLineSource {
    /// The answer to the rest. It ends the list.
    Word(Unlisted),
    /// Calls with their answer.
    Calls(Box<UnlistedCalls>),
}

/// Calls that no line lists, with their answer. Exactly one of the lists is given.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1, "maxProperties" = 2)))]
#[serde(default, deny_unknown_fields)]
pub struct UnlistedCalls {
    /// Calls that are allowed.
    pub allow: Vec<MatcherSource>,
    /// Calls that the user is asked about, in block mode. A call in doubt is one of them.
    pub ask: Vec<MatcherSource>,
    /// Calls that are violations. A call in doubt is one of them.
    pub deny: Vec<MatcherSource>,
    /// With `ask` or `deny`: what the user and the agent read of it, in the place of the line.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub why: Option<String>,
}

impl UnlistedRuleSource {
    /// The word for what no line of the list selects.
    pub fn word(&self) -> Option<Unlisted> {
        match self {
            Self::Word(word) => Some(*word),
            Self::List(lines) => lines.iter().find_map(|line| match line {
                UnlistedLineSource::Word(word) => Some(*word),
                UnlistedLineSource::Calls(_) => None,
            }),
        }
    }
}
