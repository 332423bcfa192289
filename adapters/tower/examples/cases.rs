//! Plays a case of seed 004 that is about the stage: the case as JSON on standard input, what came of it as JSON on
//! standard output. `null`: the case asks for something that is not here. `cargo xtask cases` runs it.
#![allow(
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a case lacks a key as `null`, and the answer is what is printed"
)]

use std::io::Read as _;
use std::sync::{Arc, Mutex};

use phasegate_tower::{
    AccessMode, Admission, AdmissionEvent, Call, CallOutcome, DenialReason, Request, StageError, ToolAdmissionDenied,
    ToolLock, ToolLockOptions, Verdict, same_version,
};
use serde_json::{Map, Value, json};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let case: Value = serde_json::from_str(&text)?;
    let first = case.pointer("/calls/0/tool").and_then(Value::as_str);
    let got = match first {
        Some("reason.serialize_parse") => round_trip(&case["setup"]["reason"]),
        _ if case["expect"].get("constant_time").is_some() => json!({"constant_time": compares()}),
        _ => match Constant::of(&case["setup"]) {
            Some(admission) => stage(&case, admission).await,
            None => Value::Null,
        },
    };
    println!("{got}");
    Ok(())
}

/// A reason is written as canonical JSON and read again.
fn round_trip(reason: &Value) -> Value {
    let mut reason = reason.clone();
    // In the canonical form numbers are decimal text.
    for value in reason.as_object_mut().into_iter().flat_map(Map::values_mut) {
        if value.is_u64() {
            *value = Value::from(value.to_string());
        }
    }
    match DenialReason::parse(&reason.to_string()) {
        Ok(reason) => {
            let json = reason.canonical();
            let again = DenialReason::parse(&json).as_ref() == Ok(&reason);
            json!({"canonical_json": json, "round_trip": again})
        }
        Err(error) => json!({"error": error}),
    }
}

/// Versions are compared without a look at where they differ; what can be tested is that each difference counts.
fn compares() -> bool {
    let version = "sha256:0123456789abcdef";
    let differs = |at: usize| {
        let other: String =
            version.chars().enumerate().map(|(index, letter)| if index == at { 'x' } else { letter }).collect();
        !same_version(version, &other)
    };
    same_version(version, version)
        && (0..version.len()).all(differs)
        && !same_version(version, "sha256:")
        && !same_version("", version)
}

/// A rule whose only guard is constant.
struct Rule {
    name: String,
    /// Whether its guard holds.
    matches: bool,
    /// Why it rejects; `None`: it admits.
    says: Option<String>,
}

/// Rules with constant guards; `None`: there is more to them.
fn rules(text: &str) -> Option<Vec<Rule>> {
    let spaced = text.replace(['{', '}'], " ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rules = Vec::new();
    let mut rest = words.as_slice();
    while !rest.is_empty() {
        let (name, guard, does, after) = match rest {
            ["rule", name, "guards", guard, "->", does, after @ ..] => (*name, *guard, *does, after),
            _ => return None,
        };
        let matches = guard.parse().ok()?;
        let (says, after) = match (does, after) {
            ("admit", after) => (None, after),
            ("reject", [says, after @ ..]) => (Some(says.trim_matches('"').to_owned()), after),
            _ => return None,
        };
        rest = after.strip_prefix(&["effects"])?;
        rules.push(Rule { name: name.to_owned(), matches, says });
    }
    Some(rules)
}

/// An evaluator whose rules are constant.
struct Constant {
    rules: Vec<Rule>,
    /// The policies that fail: the id of each, and why.
    policies: Vec<(String, String)>,
    asked: Mutex<Vec<AccessMode>>,
}

impl Constant {
    fn of(setup: &Value) -> Option<Self> {
        let rules = rules(setup.get("rules").and_then(Value::as_str)?)?;
        let text = |policy: &Value, key: &str| policy.get(key).and_then(Value::as_str).map(str::to_owned);
        let policies = setup.get("policies").and_then(Value::as_array).into_iter().flatten();
        let policies = policies.filter_map(|policy| Some((text(policy, "id")?, text(policy, "fails")?))).collect();
        Some(Self { rules, policies, asked: Mutex::default() })
    }

    fn denial(&self) -> Option<DenialReason> {
        if let Some((policy_id, policy_reason)) = self.policies.first().cloned() {
            return Some(DenialReason::policy(policy_id, policy_reason));
        }
        match self.rules.iter().find(|rule| rule.matches) {
            None => Some(DenialReason::no_rule_matched()),
            Some(Rule { name, says: Some(says), .. }) => Some(DenialReason::rule_rejected(name, says)),
            Some(_) => None,
        }
    }
}

#[async_trait::async_trait]
impl Admission for Constant {
    async fn version(&self, _request: &Request) -> Result<Option<String>, String> {
        Ok(None)
    }

    async fn evaluate(&self, request: &Request) -> Result<Verdict, String> {
        if let (Some(access), Ok(mut asked)) = (request.access, self.asked.lock()) {
            asked.push(access);
        }
        Ok(self.denial().map_or_else(Verdict::admitted, Verdict::from))
    }
}

/// What a case says of the stage, beside what the stage does.
async fn stage(case: &Value, admission: Constant) -> Value {
    let access = case["setup"]["mode"].as_str();
    let access =
        access.and_then(|word| AccessMode::ALL.iter().find(|(known, _)| *known == word)).map(|(_, mode)| *mode);
    let events: Arc<Mutex<Vec<AdmissionEvent>>> = Arc::default();
    let told = Arc::clone(&events);
    let options = ToolLockOptions::default().on_event(move |event| {
        if let Ok(mut events) = told.lock() {
            events.push(event.clone());
        }
    });
    let admission = Arc::new(admission);
    let lock = ToolLock::of(Arc::clone(&admission) as Arc<dyn Admission>, options, |(): &()| CallOutcome::Ok);
    let (mut admitted, mut reason) = (Value::Null, Value::Null);
    for call in case["calls"].as_array().into_iter().flatten() {
        let tool = call["tool"].as_str().unwrap_or_default();
        let mut made = Call::new("s", tool).with_input(call["args"]["args"].clone());
        made.principal = call["args"]["caller"].as_str().map(str::to_owned);
        let request = Request { access, ..Request::new(made) };
        let next = || async { Ok::<(), std::convert::Infallible>(()) };
        let answer = lock.run(request, next).await;
        admitted = Value::from(answer.is_ok());
        reason = match answer {
            Err(StageError::Denied(denied)) => json!(denied.reason()),
            Ok(()) | Err(StageError::Next(_)) => Value::Null,
        };
    }
    let asked = admission.asked.lock().map(|asked| asked.clone()).unwrap_or_default();
    if access.is_some_and(|access| asked.iter().any(|asked| *asked != access)) {
        return json!({"asked": asked});
    }
    let events = events.lock().map(|events| events.iter().map(as_json).collect::<Vec<_>>()).unwrap_or_default();
    let is_error = |_: &dyn std::error::Error| true;
    let denied = ToolAdmissionDenied {
        reason: Arc::new(DenialReason::no_rule_matched()),
        caller: String::new(),
        tool: String::new(),
        http_status: ToolAdmissionDenied::HTTP_STATUS,
        advice: String::new(),
        approval: None,
    };
    let mut got = Map::new();
    for key in case["expect"].as_object().into_iter().flat_map(Map::keys) {
        let value = match key.as_str() {
            "admitted" => admitted.clone(),
            "reason" => reason.clone(),
            "events" => json!(events),
            "error_type" => Value::from(ToolAdmissionDenied::NAME),
            "is_error" => Value::from(is_error(&denied)),
            "http_status" => Value::from(denied.http_status),
            _ => return Value::Null,
        };
        got.insert(key.clone(), value);
    }
    Value::Object(got)
}

fn as_json(event: &AdmissionEvent) -> Value {
    let AdmissionEvent { caller, tool, reason, at } = event;
    json!({"type": AdmissionEvent::TYPE, "caller": caller, "tool": tool, "reason": reason.as_ref(), "at": at})
}
