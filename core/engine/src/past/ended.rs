//! A part of a call that ended, as an event.

use alloc::string::String;

use phasegate_history::{Field, Fields, Value as Kept};
use serde_json::Value as Json;

use crate::condition::{ReportWanted, TestsResult, Wanted};
use crate::event::{Event, EventKind};
use crate::outcome::CallOutcome;
use crate::part_snapshot::PartSnapshot;
use crate::status::Status;
use crate::test_report::TestReport;

/// Whether a call that has this outcome ran and is over.
pub(super) fn is_over(outcome: CallOutcome) -> bool {
    !matches!(outcome, CallOutcome::Refused | CallOutcome::Launched)
}

fn is_known(outcome: CallOutcome) -> bool {
    matches!(outcome, CallOutcome::Ok | CallOutcome::Failed)
}

/// A part of a call that ended.
pub(super) struct Ended<'a> {
    part: &'a PartSnapshot,
    outcome: CallOutcome,
    exit: Option<i64>,
    tests: &'a [TestReport],
    output: Option<&'a Json>,
    unchanged: bool,
}

impl<'a> Ended<'a> {
    /// The part of a call that ended so; `unchanged`: no part of a call changed files since it was decided.
    pub(super) fn new(part: &'a PartSnapshot, outcome: CallOutcome, event: &'a Event, unchanged: bool) -> Self {
        let (mut exit, mut tests, mut output) = (None, [].as_slice(), None);
        if let (EventKind::ToolResult { exit_code, tests: all, output: printed, .. }, true) =
            (&event.kind, is_known(outcome))
        {
            (exit, tests, output) = (*exit_code, all.as_slice(), printed.as_ref());
        }
        Self { part, outcome, exit, tests, output, unchanged }
    }
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
        let through = run.through.filter(|_| self.part.status == Status::Piped);
        let ended = |result: &TestsResult| {
            let (runner, part, unsure) = (run.runner, !run.whole, run.unsure);
            let wanted = ReportWanted { result: *result, runner, part, unsure, through };
            Wanted::Report(wanted).proven_by(self.outcome, self.tests)
        };
        let broken = Some(TestsResult::Broken).filter(|_| !run.beside);
        let mut all = [TestsResult::Passed, TestsResult::Failed].into_iter().chain(broken);
        let is_told = || through.is_some() || self.ok() == Some(true);
        all.find(ended).filter(|result| *result != TestsResult::Passed || is_told())
    }

    /// The spend that the call reports, as a whole number: `cost` of its answer, or of the structured part of it.
    fn cost(&self) -> Option<i64> {
        let output = self.output?;
        output.get("cost").or_else(|| output.get("structuredContent")?.get("cost"))?.as_i64()
    }
}
