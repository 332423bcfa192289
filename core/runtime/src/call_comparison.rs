//! Holds what is said of calls against what the guard decided of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use phasegate_adapter::Recorded;
use phasegate_core::Effect;
use phasegate_core::event::Outcome as End;
use phasegate_core::test_report::TestReport;
use phasegate_formats::journal::Record;
use phasegate_store::scan::Scan;
use phasegate_store::store::Store;
use serde::Deserialize as _;
use serde_json::Value;

use crate::alarm::{Alarm, JudgedCall, Past, ToldEnd, note};
use crate::snapshot::{SessionChange, SessionSnapshot};

/// The decisions of a session, and where others are.
pub(crate) struct Comparison<'a> {
    pub(crate) store: &'a dyn Store,
    /// The session.
    pub(crate) session: &'a str,
    /// Its journal.
    pub(crate) own: PathBuf,
    /// The journals in which its calls may have been decided, too.
    pub(crate) others: Vec<PathBuf>,
    /// The calls that were judged last.
    pub(crate) judged: &'a [JudgedCall],
    /// Whether a call is denied that cannot be decided.
    pub(crate) strict: bool,
}

impl Comparison<'_> {
    /// What the calls show that went past the guard.
    pub(crate) fn compare(&self, calls: &[Recorded]) -> Vec<Alarm> {
        let mut judged: BTreeMap<String, JudgedCall> =
            self.judged.iter().map(|call| (call.id.clone(), call.clone())).collect();
        let missing: BTreeSet<&str> =
            calls.iter().map(|one| one.call.as_str()).filter(|id| !judged.contains_key(*id)).collect();
        if !missing.is_empty() {
            let found = self.in_journal(&self.own, &missing);
            judged.extend(found.into_iter().map(|call| (call.id.clone(), call)));
        }
        let alarm = |one: &Recorded| {
            let end = one.end.as_ref()?;
            let what = match judged.get(&one.call) {
                None if end.ran && !self.asked_elsewhere(&one.call) => Past::Unasked,
                Some(call) if call.denied && end.ran => Past::Denied,
                Some(JudgedCall { told: Some(told), .. }) if differs(told, end.passed, end.tests.as_deref()) => {
                    Past::ToldOtherwise
                }
                _ => return None,
            };
            let tool = one.tool.clone().unwrap_or_default();
            Some(Alarm { session: self.session.to_owned(), id: one.call.clone(), tool, what, seen: false })
        };
        calls.iter().filter_map(alarm).collect()
    }

    /// What a journal says of these calls.
    fn in_journal(&self, journal: &Path, ids: &BTreeSet<&str>) -> Vec<JudgedCall> {
        let mut found = Vec::new();
        let Ok(scan) = Scan::<SessionSnapshot>::open(self.store, journal) else { return found };
        for record in scan.map_while(Result::ok) {
            if let Some(call) = judged_in(&record, self.strict).filter(|call| ids.contains(call.id.as_str())) {
                note(&mut found, &call, usize::MAX);
            }
        }
        found
    }

    fn asked_elsewhere(&self, id: &str) -> bool {
        self.others.iter().any(|journal| !self.in_journal(journal, &BTreeSet::from([id])).is_empty())
    }
}

/// What a record says of a call: that it was decided, or how it ended.
pub(crate) fn judged_in(record: &Record<SessionChange>, strict: bool) -> Option<JudgedCall> {
    let event = &record.entry.event;
    let part = |name: &str| event.get(name).and_then(Value::as_str);
    let id = part("id")?.to_owned();
    match part("event")? {
        "tool_call" => {
            let denied = match &record.entry.decision {
                Some(decision) => decision.effect == Effect::Deny,
                None => strict && record.entry.problem.is_some(),
            };
            Some(JudgedCall { id, denied, told: None })
        }
        "tool_result" => {
            let end = part("outcome").and_then(|_| End::deserialize(event.get("outcome")?).ok());
            let passed = match end? {
                End::Ok => true,
                End::Failed => false,
                _ => return None,
            };
            let tests = event.get("tests").and_then(|tests| Vec::deserialize(tests).ok()).unwrap_or_default();
            Some(JudgedCall { id, denied: false, told: Some(ToldEnd { passed, tests }) })
        }
        _ => None,
    }
}

/// Whether the guard was told another end than the client recorded.
fn differs(told: &ToldEnd, passed: Option<bool>, tests: Option<&[TestReport]>) -> bool {
    let of = |report: &TestReport| (report.runner, report.passed, report.failed, report.broken);
    let other = |tests: &[TestReport]| !tests.iter().map(of).eq(told.tests.iter().map(of));
    passed.is_some_and(|passed| passed != told.passed) || tests.is_some_and(other)
}
