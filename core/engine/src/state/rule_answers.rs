//! What rules said of a call, kept where its record leaves arguments out (rules 4.9).

use phasegate_rules::Known;
use serde::{Deserialize, Serialize};

use crate::prelude::*;
use crate::rules::fact_part::FactPart;

/// What the rules say of arguments that a record leaves out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RulesSeen {
    /// How many parts the call has.
    pub parts: usize,
    /// What the tests of arguments say, by the level's place.
    pub known: Vec<Known>,
    /// What facts ask of each part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub facts: Vec<FactPart>,
}
