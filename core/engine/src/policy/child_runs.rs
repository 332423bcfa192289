//! The runs that a phase consists of (rules 3.1).

use serde::{Deserialize, Serialize};

use crate::policy::matcher::Matcher;
use crate::policy::plan::PlanFile;
use crate::prelude::*;

/// The runs that a phase consists of.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChildRuns {
    /// The runs, in order.
    pub each: Vec<ChildRun>,
    /// Whether all go on at once; else each begins when the one before has ended.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub parallel: bool,
    /// The plan with a run for each of its elements: `each` has the one skill of all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Box<PlanFile>>,
    /// Whether the phase has a gate at the end of every wave: its `done_when`, by the calls that it allows.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub gate: bool,
    /// The calls that enter the phase: those that a phase of the skills lists, and those that invoke one of the skills.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub enters: Vec<Matcher>,
}

/// One of the runs that a phase consists of.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChildRun {
    /// The name of the branch; empty where there is only one.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub branch: String,
    /// The name of the skill, one of the children of the phase's.
    pub skill: String,
    /// The value of [`PART`](crate::policy::input::PART) in the run, where the skill uses it and is run in several places.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub part: String,
    /// Whether the phase goes on where the run fails.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub may_fail: bool,
}
