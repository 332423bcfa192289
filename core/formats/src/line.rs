//! The written form of a record, a line of a journal: it holds changes, and a snapshot from time to time.

use std::borrow::Cow;

use phasegate_core::Facts;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;

use crate::compact_decision::{compact, complete};
use crate::context::{CompactEvent, Context};
use crate::journal::{Entry, JOURNAL_VERSION, Record};

/// A record as it is written. A field that is absent has its default, or the value of the record before
/// ([`Context`]).
#[derive(Serialize)]
struct Line<'a, C, S: ?Sized> {
    v: u32,
    seq: u64,
    t: i64,
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    back: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    prev: Option<&'a str>,
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    part: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    engine: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    policy: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<CompactEvent<'a>>,
    #[serde(skip_serializing_if = "Facts::is_empty")]
    facts: &'a Facts,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<WrittenDecision>,
    #[serde(skip_serializing_if = "<[C]>::is_empty")]
    changes: &'a [C],
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    project: Option<Option<u64>>,
    #[serde(skip_serializing_if = "phasegate_core::values::is_default")]
    cut: u64,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    unsealed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'a S>,
}

/// What stands in place of a decision that equals the last one.
const SAME: &str = "same";

/// A decision as a record holds it.
#[derive(Serialize)]
#[serde(untagged)]
enum WrittenDecision {
    Same(&'static str),
    New(Value),
}

/// Where a record stands in its journal.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The number of the record.
    pub seq: u64,
    /// How many bytes before this line the line of the last snapshot begins; 0 for a snapshot.
    pub back: u64,
    /// The chain hash of the record before, as hexadecimal digits; a snapshot repeats it.
    pub previous: &'a str,
    /// How many sealed parts of the journal come before the file that the record is in; a snapshot says so.
    pub part: u64,
    /// How many bytes of a torn record were cut off.
    pub cut: u64,
    /// Whether the mtime fingerprint did not fit.
    pub unsealed: bool,
}

/// The JSON of a record. With `snapshot`, the state after it, the record can be read without those before it.
///
/// # Errors
///
/// A value cannot be written as JSON.
pub fn write<C: Serialize, S: Serialize + ?Sized>(
    entry: &Entry<C>,
    place: Place<'_>,
    context: &Context,
    snapshot: Option<&S>,
) -> serde_json::Result<Vec<u8>> {
    let empty = Context::default();
    let context = if snapshot.is_some() { &empty } else { context };
    let whole = snapshot.is_some();
    serde_json::to_vec(&Line {
        v: JOURNAL_VERSION,
        seq: place.seq,
        t: entry.time,
        back: place.back,
        prev: Some(place.previous).filter(|_| whole),
        part: if whole { place.part } else { 0 },
        engine: Some(entry.engine.as_str()).filter(|engine| whole || *engine != context.engine),
        policy: Some(entry.policy.as_str()).filter(|policy| whole || *policy != context.policy),
        event: Some(CompactEvent { event: &entry.event, time: entry.time, context }).filter(|_| !entry.event.is_null()),
        facts: &entry.facts,
        decision: written_decision(entry, context)?,
        changes: &entry.changes,
        problem: entry.problem.as_ref(),
        project: Some(entry.project_seq).filter(|seq| *seq != context.project_seq),
        cut: place.cut,
        unsealed: place.unsealed,
        state: snapshot,
    })
}

fn written_decision<C>(entry: &Entry<C>, context: &Context) -> serde_json::Result<Option<WrittenDecision>> {
    let Some(decision) = &entry.decision else { return Ok(None) };
    let decision = compact(decision, &entry.event)?;
    let written = decision.to_string();
    let is_same = written == context.decision;
    Ok(Some(if is_same { WrittenDecision::Same(SAME) } else { WrittenDecision::New(decision) }))
}

/// Carries a record that was written into the context of the next one.
///
/// # Errors
///
/// A value cannot be written as JSON.
pub fn note<C>(context: &mut Context, entry: &Entry<C>, is_snapshot: bool) -> serde_json::Result<()> {
    if is_snapshot {
        *context = Context::default();
    }
    context.policy.clone_from(&entry.policy);
    context.engine.clone_from(&entry.engine);
    context.project_seq = entry.project_seq;
    context.note(&entry.event);
    if let Some(decision) = &entry.decision {
        context.decision = compact(decision, &entry.event)?.to_string();
    }
    Ok(())
}

/// What the first record of a file says of the sealed parts before it.
#[derive(Debug, Default, Deserialize)]
pub struct Beginning<'a> {
    /// The number of the record.
    pub seq: u64,
    /// The chain hash of the record before.
    #[serde(borrow, default)]
    pub prev: Option<Cow<'a, str>>,
    /// How many sealed parts come before the file.
    #[serde(default)]
    pub part: u64,
}

/// A record as it is read for its state `S` alone; event, facts and decision are skipped.
#[derive(Debug, Deserialize)]
pub struct StateLine<'a, C, S> {
    /// The number of the record.
    pub seq: u64,
    /// When it was written, in milliseconds since 1970-01-01 UTC.
    pub t: i64,
    /// On a snapshot, the chain hash of the record before.
    #[serde(borrow, default)]
    pub prev: Option<Cow<'a, str>>,
    /// On a snapshot, how many sealed parts of the journal come before its file.
    #[serde(default)]
    pub part: u64,
    #[serde(borrow, default)]
    engine: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    policy: Option<Cow<'a, str>>,
    #[serde(default)]
    event: Option<SharedFields>,
    #[serde(default, deserialize_with = "present_number")]
    project: Option<Option<u64>>,
    #[serde(borrow, default)]
    decision: Option<&'a RawValue>,
    /// What changes in the state.
    #[serde(default = "Vec::new")]
    pub changes: Vec<C>,
    /// The snapshot of the state after the record.
    #[serde(default = "Option::default")]
    pub state: Option<S>,
}

/// The fields of an event that [`Context`] knows.
#[derive(Debug, Deserialize)]
struct SharedFields {
    #[serde(default)]
    event: Option<IgnoredAny>,
    #[serde(default, with = "present")]
    session: Option<Value>,
    #[serde(default, with = "present")]
    cwd: Option<Value>,
    #[serde(default, with = "present")]
    permission_mode: Option<Value>,
}

/// Tells an absent field (`None`) from `null` (`Some(Value::Null)`).
mod present {
    use serde::{Deserialize, Deserializer};
    use serde_json::Value;

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
        Value::deserialize(deserializer).map(Some)
    }
}

/// Tells an absent number (`None`) from `null` (`Some(None)`).
fn present_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Option<u64>>, D::Error> {
    Option::<u64>::deserialize(deserializer).map(Some)
}

impl<C, S> StateLine<'_, C, S> {
    /// Carries what the record says, or repeats, into the context of the next one.
    pub fn note(&self, context: &mut Context) {
        if self.state.is_some() {
            *context = Context::default();
        }
        for (known, said) in [(&mut context.engine, &self.engine), (&mut context.policy, &self.policy)] {
            if let Some(said) = said {
                known.clear();
                known.push_str(said);
            }
        }
        if let Some(project) = self.project {
            context.project_seq = project;
        }
        if let Some(decision) = self.decision.map(RawValue::get).filter(|text| text.starts_with('{')) {
            context.decision.clear();
            context.decision.push_str(decision);
        }
        let Some(event) = self.event.as_ref().filter(|event| event.event.is_some()) else { return };
        let fields = [("session", &event.session), ("cwd", &event.cwd), ("permission_mode", &event.permission_mode)];
        for (name, said) in fields {
            match said {
                Some(Value::Null) => {
                    context.event.remove(name);
                }
                Some(value) => {
                    context.event.insert(name, value.clone());
                }
                None => {}
            }
        }
    }
}

/// A record as it is read whole.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WholeLine<C> {
    #[expect(dead_code, reason = "read before, by `LineVersion`")]
    v: u32,
    seq: u64,
    t: i64,
    #[expect(dead_code, reason = "read before, by `LineVersion`")]
    #[serde(default)]
    back: u64,
    #[expect(dead_code, reason = "of use only to a reader that begins at the snapshot")]
    #[serde(default)]
    prev: Option<String>,
    #[expect(dead_code, reason = "read before, by `Beginning`")]
    #[serde(default)]
    part: u64,
    #[serde(default)]
    engine: Option<String>,
    #[serde(default)]
    policy: Option<String>,
    #[serde(default)]
    event: Value,
    #[serde(default)]
    facts: Facts,
    #[serde(default)]
    decision: Option<Value>,
    #[serde(default = "Vec::new")]
    changes: Vec<C>,
    #[serde(default)]
    problem: Option<Value>,
    #[serde(default, deserialize_with = "present_number")]
    project: Option<Option<u64>>,
    #[serde(default)]
    cut: u64,
    #[serde(default)]
    unsealed: bool,
    #[serde(default)]
    state: Option<Value>,
}

/// Reads a whole record, and carries what it says into the context of the next one. Its snapshot comes beside it.
///
/// # Errors
///
/// The JSON is no record.
pub fn read<C: for<'de> Deserialize<'de>>(
    json: &[u8],
    context: &mut Context,
) -> serde_json::Result<(Record<C>, Option<Value>)> {
    let line: WholeLine<C> = serde_json::from_slice(json)?;
    if line.state.is_some() {
        *context = Context::default();
    }
    if let Some(engine) = line.engine {
        context.engine = engine;
    }
    if let Some(policy) = line.policy {
        context.policy = policy;
    }
    if let Some(project) = line.project {
        context.project_seq = project;
    }
    let mut event = line.event;
    context.complete(&mut event, line.t);
    context.note(&event);
    let decision = match line.decision {
        Some(Value::String(same)) if same == SAME => Some(serde_json::from_str(&context.decision)?),
        decision => decision,
    };
    if let Some(decision) = &decision {
        context.decision = decision.to_string();
    }
    let decision = decision.map(|decision| complete(decision, &event)).transpose()?;
    let entry = Entry {
        time: line.t,
        engine: context.engine.clone(),
        policy: context.policy.clone(),
        event,
        facts: line.facts,
        decision,
        changes: line.changes,
        problem: line.problem,
        project_seq: context.project_seq,
    };
    Ok((Record { seq: line.seq, entry, cut: line.cut, unsealed: line.unsealed }, line.state))
}
