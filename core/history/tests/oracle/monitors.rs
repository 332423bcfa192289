//! The monitors behind Dogwood's trait for engines.

use std::collections::BTreeMap;

use dogwood_language as dogwood;
use dogwood_language::cedar::Schema;
use dogwood_language::{EventSignature, PartitionKey, TemporalBindings, TemporalEngine, TemporalField};
use phasegate_history::leaf::{Param, Root};
use phasegate_history::{Event, Field, Fields, History, Leaf, Request, Scope, Value, Verdict, compile, observe};

/// One history for each value of the keys. The last event is a candidate until the next one comes.
#[derive(Default)]
pub(crate) struct Monitors {
    leaves: Vec<Leaf>,
    keys: Vec<PartitionKey>,
    histories: BTreeMap<String, History>,
    last: Option<dogwood::Event>,
}

/// An event of Dogwood.
struct Seen<'a>(&'a dogwood::Event);

impl Monitors {
    fn partition(&self, event: &dogwood::Event) -> String {
        let value =
            |key: &PartitionKey| event.field_path(&key.field_path).map_or("none".into(), dogwood::partition_value_key);
        self.keys.iter().map(value).collect::<Vec<_>>().join("\u{1f}")
    }

    pub(crate) fn verdicts(&self) -> Vec<Verdict> {
        let last = self.last.as_ref().unwrap();
        let nothing = History::default();
        let history = self.histories.get(&self.partition(last)).unwrap_or(&nothing);
        let namespace = last.namespace().join("::");
        let event = event(&namespace, last);
        self.leaves.iter().map(|leaf| history.evaluate(leaf, &event.as_event(), &Seen(last))).collect()
    }

    /// The state as it would lie on disk.
    pub(crate) fn states(&self) -> String {
        serde_json::to_string(&self.histories).unwrap()
    }
}

/// An event with its action's type as one text.
struct Owned<'a> {
    namespace: &'a str,
    event: &'a dogwood::Event,
    fields: Seen<'a>,
}

fn event<'a>(namespace: &'a str, event: &'a dogwood::Event) -> Owned<'a> {
    Owned { namespace, event, fields: Seen(event) }
}

impl Owned<'_> {
    fn as_event(&self) -> Event<'_> {
        Event {
            time: self.event.timestamp().saturating_mul(1000),
            namespace: self.namespace,
            action: self.event.action(),
            also: &[],
            kind: self.event.kind(),
            fields: &self.fields,
        }
    }
}

impl Fields for Seen<'_> {
    fn field(&self, path: &[String]) -> Field {
        self.0.field_path(path).map(value).into()
    }
}

impl Request for Seen<'_> {
    fn param(&self, param: &Param) -> Option<Value> {
        match param.root {
            Root::Context => self.0.request_context_path(&param.path).map(value),
            Root::Principal => self.0.scope_attr("principal", &param.path).as_ref().map(value),
            Root::Resource => self.0.scope_attr("resource", &param.path).as_ref().map(value),
        }
    }
}

fn value(value: &dogwood::Value) -> Value {
    match value {
        dogwood::Value::Null => Value::Null,
        dogwood::Value::Bool(truth) => Value::Bool(*truth),
        dogwood::Value::Int(number) => Value::Int(*number),
        dogwood::Value::Decimal(text) => Value::decimal(text),
        dogwood::Value::String(text) => Value::text(text),
        dogwood::Value::Entity { ty, id } => Value::entity(ty, id),
        dogwood::Value::Array(items) => Value::List(items.iter().map(self::value).collect()),
        dogwood::Value::Object(members) => {
            Value::Record(members.iter().map(|(name, member)| (name.clone(), self::value(member))).collect())
        }
    }
}

impl TemporalEngine for Monitors {
    fn prepare(&mut self, leaves: &[TemporalField], _: &Schema, _: &[EventSignature]) -> Result<(), dogwood::Error> {
        let compiled = leaves.iter().map(|leaf| compile::leaf(leaf, Scope::Session));
        let leaves: Result<Vec<Leaf>, _> = compiled.collect();
        let leaves = leaves.map_err(|problem| dogwood::Error::ContextRead(problem.message))?;
        // Rules are shipped as data.
        self.leaves = serde_json::from_str(&serde_json::to_string(&leaves).unwrap()).unwrap();
        Ok(())
    }

    fn observe(&mut self, next: &dogwood::Event) {
        if let Some(last) = self.last.replace(next.clone()) {
            let namespace = last.namespace().join("::");
            let observation = observe(&self.leaves, &event(&namespace, &last).as_event());
            let history = self.histories.entry(self.partition(&last)).or_default();
            history.apply(&serde_json::from_str(&serde_json::to_string(&observation).unwrap()).unwrap());
            let kept: History = serde_json::from_str(&serde_json::to_string(history).unwrap()).unwrap();
            assert_eq!(kept, *history, "a state is what is read back");
        }
    }

    fn evaluate(&mut self) -> Result<TemporalBindings, String> {
        let verdicts = self.verdicts();
        let bound = self.leaves.iter().zip(verdicts).map(|(leaf, verdict)| match verdict {
            Verdict::True => Ok((leaf.field.clone(), true)),
            Verdict::False => Ok((leaf.field.clone(), false)),
            Verdict::Unknown(cause) => Err(format!("{}: {cause:?}", leaf.field)),
        });
        bound.collect()
    }

    fn supports_partitioning(&self) -> bool {
        true
    }

    fn set_partition_keys(&mut self, keys: &[PartitionKey]) {
        self.keys = keys.to_vec();
    }
}
