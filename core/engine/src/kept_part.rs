//! Parts of calls that are kept until their call ends: the fields that conditions over what happened before ask for
//! (rules 4.10).

use alloc::string::String;
use alloc::vec::Vec;

use phasegate_history::leaf::Path;
use phasegate_history::{Field, Fields, Value as Kept};
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::analysis::{SimpleCommand, Status};
use crate::condition::{ReportWanted, TestsResult, Wanted};
use crate::event::{Event, EventKind};
use crate::outcome::CallOutcome;
use crate::state::State;
use crate::test_report::{TestReport, TestRun};

/// The longest text that is kept, in bytes; of a longer one nothing is known.
const MAX_BYTES: usize = 1024;

/// A part of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptPart {
    /// The id of the action.
    pub action: String,
    /// Its fields, by their paths; `null`: there is none. Of a field that is missing here, nothing is known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<(Path, Option<Kept>)>,
    /// Fields that cannot be told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unclear: Vec<Path>,
    /// The tests that it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<TestRun>,
    /// What the exit status of the call says of it.
    pub status: Status,
    /// How many parts of calls had changed files before the call.
    #[serde(default)]
    pub began: Began,
}

/// How many parts of calls have changed files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Began {
    /// In the session.
    pub session: u64,
    /// In all sessions of the project, where rules ask for them.
    pub project: u64,
}

impl Began {
    /// How many have so far.
    pub(crate) fn of(state: &State) -> Self {
        Self { session: state.session.changes, project: state.project.changes }
    }
}

impl KeptPart {
    /// A part of which nothing is noted yet. `command` is what it runs, where it is part of a shell line.
    pub(crate) fn new(action: &str, command: Option<&SimpleCommand>, unproven: bool) -> Self {
        let status = command.map_or(Status::Own, |command| command.status);
        Self {
            action: action.into(),
            fields: Vec::new(),
            unclear: Vec::new(),
            tests: command.and_then(|command| command.tests).filter(|_| !unproven),
            status: if unproven { Status::Lost } else { status },
            began: Began::default(),
        }
    }

    /// Notes a field. Where it was noted with another value, nothing is known of it.
    pub(crate) fn note(&mut self, path: &Path, field: Field) {
        let value = match field {
            Field::Is(value) if size(&value) <= MAX_BYTES => Some(Some(value)),
            Field::Absent => Some(None),
            Field::Is(_) | Field::Unclear => None,
        };
        let known = self.fields.iter().position(|(known, _)| known == path);
        match (known, value) {
            (Some(at), value) if self.fields.get(at).map(|(_, known)| known) == value.as_ref() => {}
            (None, Some(value)) if !self.unclear.contains(path) => self.fields.push((path.clone(), value)),
            (known, _) => {
                if let Some(at) = known {
                    self.fields.remove(at);
                }
                if !self.unclear.contains(path) {
                    self.unclear.push(path.clone());
                }
            }
        }
    }

    /// Whether the field was noted.
    pub(crate) fn has(&self, path: &Path) -> bool {
        self.unclear.contains(path) || self.fields.iter().any(|(known, _)| known == path)
    }

    /// The part of a call that ended so; `unchanged`: no part of a call changed files since it was decided.
    pub(crate) fn ended<'a>(&'a self, outcome: CallOutcome, event: &'a Event, unchanged: bool) -> Ended<'a> {
        let (mut exit, mut tests, mut output) = (None, [].as_slice(), None);
        if let (EventKind::ToolResult { exit_code, tests: all, output: printed, .. }, true) =
            (&event.kind, is_known(outcome))
        {
            (exit, tests, output) = (*exit_code, all.as_slice(), printed.as_ref());
        }
        Ended { part: self, outcome, exit, tests, output, unchanged }
    }
}

fn size(value: &Kept) -> usize {
    match value {
        Kept::Text(text) => text.len(),
        Kept::List(items) => items.iter().map(size).sum(),
        Kept::Record(fields) => fields.values().map(size).sum(),
        _ => 0,
    }
}

impl Fields for KeptPart {
    fn field(&self, path: &[String]) -> Field {
        match self.fields.iter().find(|(known, _)| known == path) {
            Some((_, value)) => value.clone().into(),
            None => Field::Unclear,
        }
    }
}

/// Whether a call that has this outcome ran and is over.
pub(crate) fn is_over(outcome: CallOutcome) -> bool {
    !matches!(outcome, CallOutcome::Refused | CallOutcome::Launched)
}

fn is_known(outcome: CallOutcome) -> bool {
    matches!(outcome, CallOutcome::Ok | CallOutcome::Failed)
}

/// A part of a call that ended.
pub(crate) struct Ended<'a> {
    part: &'a KeptPart,
    outcome: CallOutcome,
    exit: Option<i64>,
    tests: &'a [TestReport],
    output: Option<&'a Json>,
    unchanged: bool,
}

impl Fields for Ended<'_> {
    fn field(&self, path: &[String]) -> Field {
        let [first, name] = path else { return self.part.field(path) };
        if first != "output" {
            return self.part.field(path);
        }
        match name.as_str() {
            "ok" => self.ok().map(Kept::Bool),
            "exit" => self.exit.filter(|_| self.ok().is_some()).map(Kept::Int),
            "tests" => self.tests().map(|result| Kept::text(result.word())),
            "unchanged" => Some(Kept::Bool(self.unchanged)),
            "cost" => self.cost().map(Kept::Int),
            _ => None,
        }
        .into()
    }
}

impl Ended<'_> {
    /// Whether the part succeeded, as far as the exit status of its call says so.
    fn ok(&self) -> Option<bool> {
        match (self.outcome, self.part.status) {
            (CallOutcome::Ok, Status::Own | Status::Success) => Some(true),
            (CallOutcome::Failed, Status::Own) => Some(false),
            _ => None,
        }
    }

    /// How its tests ended.
    fn tests(&self) -> Option<TestsResult> {
        let run = self.part.tests?;
        let ended = |result: &TestsResult| {
            let (runner, part, unsure) = (run.runner, !run.whole, run.unsure);
            Wanted::Report(ReportWanted { result: *result, runner, part, unsure }).proven_by(self.outcome, self.tests)
        };
        let all = [TestsResult::Passed, TestsResult::Failed, TestsResult::Broken];
        all.into_iter().find(ended).filter(|result| *result != TestsResult::Passed || self.ok() == Some(true))
    }

    /// The spend that the call reports, as a whole number: `cost` of its answer, or of the structured part of it.
    fn cost(&self) -> Option<i64> {
        let output = self.output?;
        output.get("cost").or_else(|| output.get("structuredContent")?.get("cost"))?.as_i64()
    }
}
