//! Calls that were let through and have not ended, and what they would prove.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::calls::outcome::CallOutcome;
use crate::evidence::condition::Wanted;
use crate::prelude::*;
use crate::rules::fact_part::FactPart;
use crate::state::redacted_tests::digest;

/// A call that was let through and has not ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenCall {
    /// The number of the event that it was decided with; no other call of the session has it.
    #[serde(skip)]
    pub number: u64,
    /// The platform's id, where it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The subagent that called; `None` is the main agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The tool's canonical name.
    pub tool: String,
    /// A digest of the arguments.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub input: String,
    /// Whether the call runs programs, so that only exit status 0 is `ok`.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub executes: bool,
    /// Whether it may run programs: it does, or its tool has no labels.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub may_execute: bool,
    /// Whether it may have changed something although it failed or goes on: its line has several commands, or runs a program.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub changes_in_part: bool,
    /// The paths that it changes, where a skill asks whether files are as they were or as a call wrote them: a line may go on
    /// unseen, and of two calls that write one file nobody knows which is the last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub writes: Vec<String>,
    /// Whether a part of it changes files of the project, where rules ask whether files are as they were.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub changes: bool,
    /// When it was decided, in milliseconds since 1970-01-01 UTC, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<i64>,
    /// Whether its outcome so far is `launched`.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub launched: bool,
    /// Whether the subagent that it started has ended already.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub ended: bool,
    /// Whether a person was asked about it.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub asked: bool,
    /// The name by which a person answers, where the guard has them asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// The subagent it started, once known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// How the platform names that subagent when it begins, where it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_as: Option<String>,
    /// The visits in which it was decided, one of each run that judged it, and what it would prove there.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub visits: Vec<CallVisit>,
    /// Its parts that run tests, where facts of rules ask how tests ended.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<FactPart>,
    /// How many parts of calls had changed files before, where facts ask for it.
    #[serde(default, skip_serializing_if = "crate::values::is_default")]
    pub began: Began,
    /// The budgets that count it when its end is seen: what its result reports, or that it ran.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reports: Vec<ReportPlace>,
}

/// How many parts of calls have changed files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Began {
    /// In the session.
    pub session: u64,
    /// In all sessions of the project.
    pub project: u64,
}

/// Where a budget counts a call when its end is seen.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReportPlace {
    /// The name of the budget.
    pub budget: String,
    /// For a budget of phases: the id of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// For a budget of phases: the number of the visit.
    #[serde(default)]
    pub visit: u32,
    /// What is counted if it runs, where a person is asked about it first; `None`: what its result reports.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owed: Option<Amount>,
}

/// How much of a budget a call uses up.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Amount {
    /// How much.
    pub number: u64,
    /// For a budget of files: the paths.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
}

/// How long a call that was started in the background counts as one that may still change files, in milliseconds: nothing may ever tell of
/// its end.
pub const GOES_ON: i64 = 10 * 60 * 1000;

impl OpenCall {
    /// Whether it may have changed something, with this outcome.
    pub fn may_have_changed(&self, outcome: CallOutcome) -> bool {
        match outcome {
            CallOutcome::Ok => true,
            CallOutcome::Failed | CallOutcome::Launched => self.changes_in_part,
            CallOutcome::Refused | CallOutcome::Cancelled | CallOutcome::Unknown => false,
        }
    }

    /// Whether it may still change files at this time, in milliseconds since 1970-01-01 UTC.
    pub fn may_still_write(&self, now: Option<i64>) -> bool {
        !self.writes.is_empty() && self.may_go_on(now)
    }

    /// Whether it may still run at this time, in milliseconds since 1970-01-01 UTC.
    pub fn may_go_on(&self, now: Option<i64>) -> bool {
        let since = || Some(now?.saturating_sub(self.since?));
        !self.launched || since().is_some_and(|age| age < GOES_ON)
    }

    /// Whether the call was decided with these arguments. The digest tells calls apart and notices a change by chance or
    /// by another program; it is no proof against one who chooses both arguments.
    pub fn has_input(&self, input: &Value) -> bool {
        self.input == digest(input)
    }
}

/// The visit of a phase in which a call was decided.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CallVisit {
    /// The id of the run that judged the call.
    pub run: String,
    /// The index, from 0, of the phase the run was in after the decision.
    #[serde(default, skip_serializing_if = "is_first")]
    pub phase: usize,
    /// The number of that visit of the phase.
    pub visit: u32,
    /// Whether the phase lists the call; one that merely passed ends no provisional stay.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub listed: bool,
    /// Whether the call is a result of the phase: the phase failed if the newest of them did.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub result: bool,
    /// The places of the steps of the plan that it uses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<usize>,
    /// What the call would prove in this visit.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub proves: Vec<Proof>,
    /// The conditions that it is about and cannot prove, as the exit status of its line is not its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_own: Vec<u32>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
pub(crate) fn is_first(index: &usize) -> bool {
    *index == 0
}

/// What an open call would prove in a visit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proof {
    /// The number of the condition within the run's skill, as compiled.
    pub atom: u32,
    /// The outcomes that prove it.
    #[serde(default, skip_serializing_if = "crate::values::is_default")]
    pub wanted: Wanted,
    /// Whether another outcome of a later call does not take it back: under `not` a match may be in doubt.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub lasting: bool,
    /// Whether it tells which files the run has of its own.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub own: bool,
    /// As [`Evidence::as_of`](crate::state::Evidence::as_of), when the call was decided.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "stated")]
    pub as_of: Option<Value>,
    /// As [`Evidence::about`](crate::state::Evidence::about).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub about: Vec<Vec<String>>,
}

impl OpenCall {
    /// The call under its number.
    fn numbered(mut self, number: u64) -> Self {
        self.number = number;
        self
    }
}

/// Open calls as they are stored: an object, each call under its number.
pub(crate) mod open_calls {
    use alloc::collections::BTreeMap;
    use alloc::sync::Arc;
    use alloc::vec::Vec;

    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::OpenCall;

    pub(crate) fn serialize<S: Serializer>(calls: &[Arc<OpenCall>], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(calls.iter().map(|call| (call.number, call.as_ref())))
    }

    /// Reads the calls back, in the order of their numbers.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Arc<OpenCall>>, D::Error> {
        let calls = BTreeMap::<u64, OpenCall>::deserialize(deserializer)?;
        Ok(calls.into_iter().map(|(number, call)| Arc::new(call.numbered(number))).collect())
    }
}

/// A value that is written, `null` too.
pub(crate) fn stated<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}
