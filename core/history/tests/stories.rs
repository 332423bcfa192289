//! What happened and what conditions say of it: each file in `tests/stories` is about the rule of its name.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use phasegate_history::leaf::{Param, Root};
use phasegate_history::{Cause, Event, Field, Fields, History, Leaf, Request, Value, Verdict, observe};
use serde::Deserialize;
use serde_json::Value as Json;

/// Something happens, or the condition is asked for.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// Seconds.
    at: i64,
    request: Option<String>,
    call: Option<String>,
    response: Option<String>,
    #[serde(default)]
    fields: Json,
    #[serde(default)]
    unclear: Vec<String>,
    #[serde(default = "once")]
    times: i64,
    #[serde(default)]
    every: i64,
    /// What the condition must be.
    is: Option<Json>,
    /// The call that is decided, if its own event matters.
    #[serde(rename = "as")]
    event: Option<Decided>,
    #[serde(default)]
    context: Json,
    #[serde(default)]
    why: String,
    #[expect(dead_code, reason = "says for readers what is decided")]
    decide: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Decided {
    kind: String,
    action: String,
    fields: Json,
}

fn once() -> i64 {
    1
}

struct Happened<'a> {
    fields: &'a Json,
    unclear: &'a [String],
    number: i64,
}

impl Fields for Happened<'_> {
    fn field(&self, path: &[String]) -> Field {
        match self.fields.field(path) {
            _ if path == self.unclear => Field::Unclear,
            Field::Is(value) if value == Value::text("#") => Field::Is(Value::Int(self.number)),
            other => other,
        }
    }
}

struct Context<'a>(&'a Json);

impl Request for Context<'_> {
    fn param(&self, param: &Param) -> Option<Value> {
        assert_eq!(param.root, Root::Context);
        match self.0.field(&param.path) {
            Field::Is(value) => Some(value),
            _ => None,
        }
    }
}

fn event<'a>(kind: &'a str, action: &'a str, time: i64, fields: &'a dyn Fields) -> Event<'a> {
    Event { time: time * 1000, namespace: "Action", action, also: &[], kind, fields }
}

fn name(verdict: Verdict) -> Json {
    match verdict {
        Verdict::True => Json::Bool(true),
        Verdict::False => Json::Bool(false),
        Verdict::Unknown(cause) => serde_json::to_value(cause).unwrap(),
    }
}

fn play(leaf: &Leaf, steps: &[Step], story: &str) -> History {
    let mut history = History::default();
    for (number, step) in steps.iter().enumerate() {
        let happened = [("request", &step.request), ("call", &step.call), ("response", &step.response)];
        for (kind, action) in happened {
            let Some(action) = action else { continue };
            for number in 0..step.times {
                let fields = Happened { fields: &step.fields, unclear: &step.unclear, number };
                let time = step.at + number * step.every;
                history.apply(&observe([leaf], &event(kind, action, time, &fields)));
            }
        }
        if let Some(wanted) = &step.is {
            let none = Json::Null;
            let decided = step
                .event
                .as_ref()
                .map_or(("request", "Other", &none), |event| (&event.kind, &event.action, &event.fields));
            let candidate = event(decided.0, decided.1, step.at, decided.2);
            let before = history.clone();
            let found = history.evaluate(leaf, &candidate, &Context(&step.context));
            assert_eq!(name(found), *wanted, "{story}, step {number}: {}", step.why);
            assert_eq!(history, before);
            assert_eq!(name(history.evaluate(leaf, &candidate, &Context(&step.context))), *wanted, "again");
        }
    }
    history
}

#[test]
fn conditions_hold_when_stories_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    let leaves: BTreeMap<String, Vec<Leaf>> =
        serde_json::from_str(&fs::read_to_string(folder.join("leaves.json")).unwrap()).unwrap();
    let mut played = 0;
    for entry in fs::read_dir(folder.join("stories")).unwrap() {
        let path = entry.unwrap().path();
        let story = path.file_stem().unwrap().to_str().unwrap().to_string();
        let steps: Vec<Step> = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        let [leaf] = leaves[&story].as_slice() else { panic!("{story}: one condition") };
        let history = play(leaf, &steps, &story);
        assert_eq!(history, play(leaf, &steps, &story), "same inputs, same state");
        let written = serde_json::to_string(&history).unwrap();
        assert_eq!(serde_json::from_str::<History>(&written).unwrap(), history);
        assert!(written.len() < 100_000, "{story}: {} bytes", written.len());
        played += 1;
    }
    assert!(played >= 8);
}

#[test]
fn causes_have_names() {
    assert_eq!(serde_json::to_value(Cause::Overflow).unwrap(), "overflow");
}
