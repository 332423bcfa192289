//! Calls that did not simply run: those that a person is asked about, and those that were denied.

use serde::{Deserialize, Serialize};

use crate::calls::cause::By;
use crate::prelude::*;

/// The most questions that are kept; the oldest go first.
pub const QUESTIONS: usize = 8;
/// The most denied calls that are kept; the one that was denied least recently goes first.
pub const DENIED: usize = 8;

/// A call that a person is asked about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Question {
    /// Its name, by which a person answers.
    pub name: String,
    /// The SHA-256 digest of the call and of who makes it, as 64 hexadecimal digits: a yes is for this call alone.
    #[serde(default)]
    pub call: String,
    /// The canonical name of its tool.
    pub tool: String,
    /// The call, in short.
    pub of: String,
    /// The skill of the run that asks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
    /// The phase of that run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<String>,
    /// When it was asked, in milliseconds since 1970-01-01 UTC, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
    /// The yes, where a person gave it by name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub yes: Option<Yes>,
}

/// Keeps a question, and says whether it is asked for the first time. The oldest of too many goes.
pub(crate) fn keep(questions: &mut Vec<Question>, question: &Question) -> bool {
    let known = questions.iter().position(|known| known.name == question.name);
    known.into_iter().for_each(|at| drop(questions.remove(at)));
    questions.push(question.clone());
    let surplus = questions.len().saturating_sub(QUESTIONS);
    questions.drain(..surplus);
    known.is_none()
}

/// Keeps a denied call as the latest one, which alone a person may let pass. The oldest of too many goes.
pub(crate) fn keep_denied(all: &mut Vec<DeniedCall>, denied: &DeniedCall) {
    all.retain(|known| known.digest != denied.digest);
    all.iter_mut().for_each(|known| known.lift = None);
    all.push(denied.clone());
    let surplus = all.len().saturating_sub(DENIED);
    all.drain(..surplus);
}

/// Nothing that was denied counts any more; the latest call may still be let pass.
pub(crate) fn forget_denied(all: &mut Vec<DeniedCall>) {
    all.retain(|denied| denied.lift.is_some());
    all.iter_mut().for_each(|denied| denied.times = 0);
}

/// A yes to a question, which lets one call run and lasts for ten minutes; or to what was denied, for thirty.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Yes {
    /// Who gave it.
    pub by: By,
    /// When, in milliseconds since 1970-01-01 UTC; where that is not known, it lets nothing run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<i64>,
}

/// A call that was denied, with the same answer each time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeniedCall {
    /// The canonical name of its tool.
    pub tool: String,
    /// A digest of the call, of who made it, and of the answer.
    pub digest: String,
    /// How often since the last prompt.
    pub times: u32,
    /// What a person may let pass of it; absent where that is not theirs to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lift: Option<Box<Lift>>,
}

/// A denied call that a person may let pass once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Lift {
    /// The SHA-256 digest of what the call is and of why it was denied, as 64 hexadecimal digits.
    pub call: String,
    /// The call, in short.
    pub of: String,
    /// The skill that denied it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skill: Option<String>,
}
