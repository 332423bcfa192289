//! Holds what is said of calls against what the guard decided of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use phasegate_adapter::Recorded;
use phasegate_core::Effect;
use phasegate_core::calls::tool::BASH;
use phasegate_core::events::event::Outcome as End;
use phasegate_core::shell::test_report::TestReport;
use phasegate_core::state::redacted_tests::digest;
use phasegate_formats::journal::Record;
use phasegate_store::digest::sha256_hex;
use phasegate_store::scan::Scan;
use phasegate_store::store::Store;
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::bounds::MAX_PATH_BYTES;
use crate::clients::alarm::{Alarm, JudgedCall, Past, ToldEnd, note};
use crate::sessions::snapshot::{SessionChange, SessionSnapshot};

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
                Some(call) if end.ran && self.is_altered(call, one) => Past::Altered,
                Some(JudgedCall { told: Some(told), .. }) if differs(told, end.passed, end.tests.as_deref()) => {
                    Past::ToldOtherwise
                }
                _ => return None,
            };
            let tool = one.tool.clone().unwrap_or_default();
            Some(Alarm { tool, ..Alarm::new(self.session, what, &one.call) })
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

    /// Whether arguments that the client recorded are others than the guard was asked about. Clients add arguments that have a
    /// usual value, and write paths out: where not all is the same, the journal says what was asked. A name that one side lacks
    /// says nothing, and of a path only its end counts.
    fn is_altered(&self, call: &JudgedCall, recorded: &Recorded) -> bool {
        let Some(input) = recorded.input.as_ref().filter(|input| digest(input) != call.input) else { return false };
        // What comes from the journal has all of it already.
        let of_journal = || self.in_journal(&self.own, &BTreeSet::from([call.id.as_str()]));
        let kept = if call.input.is_empty() { vec![call.clone()] } else { of_journal() };
        let Some(call) = kept.first() else { return false };
        let is_shells = recorded.tool.as_deref() == Some(BASH);
        let same = |text: &str, known: &String| {
            known == text
                || given(Some(&json!({"": text}))).values().eq([known])
                || (!is_shells && known.starts_with('/') && Path::new(known).file_name() == Path::new(text).file_name())
        };
        let fields = input.as_object().into_iter().flatten();
        let mut texts = fields.filter_map(|(name, value)| Some((value.as_str()?, call.given.get(name)?)));
        texts.any(|(text, known)| !same(text, known))
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
            Some(JudgedCall { denied, given: given(event.get("input")), ..JudgedCall::allowed(&id) })
        }
        "tool_result" => {
            let end = part("outcome").and_then(|_| End::deserialize(event.get("outcome")?).ok());
            let passed = match end? {
                End::Ok => true,
                End::Failed => false,
                _ => return None,
            };
            let tests = event.get("tests").and_then(|tests| Vec::deserialize(tests).ok()).unwrap_or_default();
            Some(JudgedCall { told: Some(ToldEnd { passed, tests }), ..JudgedCall::allowed(&id) })
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

/// How much of a digest is kept of an argument.
const KEPT: usize = 16;

/// The texts among the arguments of a call, as [`JudgedCall::given`] has them. What a record has only the digest of is the same.
fn given(input: Option<&Value>) -> BTreeMap<String, String> {
    let short = |digest: &str| digest.chars().take(KEPT).collect();
    let kept = |value: &Value| match value {
        Value::String(text) if text.starts_with('/') && text.len() <= MAX_PATH_BYTES && !text.contains('\n') => {
            Some(text.clone())
        }
        Value::String(text) => Some(short(&sha256_hex(text.as_bytes()))),
        other => other.get("sha256").and_then(Value::as_str).map(short),
    };
    let fields = input.and_then(Value::as_object).into_iter().flatten();
    fields.filter_map(|(name, value)| Some((name.clone(), kept(value)?))).collect()
}
