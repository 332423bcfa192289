//! Cases of the tool lock: the stage, its reasons and versions, through the crate that servers use.
//!
//! The rules of the cases are in the original's own language, which is not taken over. Where a case is about the stage, its
//! rules are constant (`true -> admit`), and [`Constant`] stands for the evaluator.

use std::sync::{Arc, Mutex};

use phasegate_tower::{
    AccessMode, Admission, AdmissionEvent, Admitted, Call as ToolCall, CallOutcome, DenialReason, Refusal, Request,
    StageError, ToolAdmissionDenied, ToolLock, ToolLockOptions, Verdict, same_version,
};
use serde_json::{Map, Value, json};
use xtask::failure::{Failure, Result};

use super::case::Case;
use super::outcome::Outcome;
use super::player::Player;

/// What is not taken over.
const LANGUAGE: &str = "the rule language of the original is not taken over: rules are written in Cedar";

/// Plays a case.
pub(super) fn play(case: &Case) -> Result<Outcome> {
    match case.calls.first().map(|call| call.tool.as_str()) {
        Some("reason.serialize_parse") => Ok(round_trip(case)),
        Some("rules.version_hash") => versions(case),
        Some(operation) if operation.starts_with("rules.") => Ok(Outcome::not_supported(LANGUAGE)),
        _ if case.expect.get("constant_time").is_some() => Ok(compares()),
        _ => match Constant::of(&case.setup) {
            Some(admission) => stage(case, admission),
            None => Ok(Outcome::not_supported(LANGUAGE)),
        },
    }
}

/// A reason is written as canonical JSON and read again.
fn round_trip(case: &Case) -> Outcome {
    let mut reason = case.setup.get("reason").cloned().unwrap_or_default();
    // In the canonical form numbers are decimal text.
    for value in reason.as_object_mut().into_iter().flat_map(Map::values_mut) {
        if value.is_u64() {
            *value = Value::from(value.to_string());
        }
    }
    let got = match DenialReason::parse(&reason.to_string()) {
        Ok(reason) => {
            let json = reason.canonical();
            let again = DenialReason::parse(&json).as_ref() == Ok(&reason);
            json!({"canonical_json": json, "round_trip": again})
        }
        Err(error) => json!({"error": error}),
    };
    Outcome::of(&case.expect, &got)
}

/// Versions are compared without a look at where they differ; what can be tested is that each difference counts.
fn compares() -> Outcome {
    let version = "sha256:0123456789abcdef";
    let differs = |at: usize| {
        let other: String =
            version.chars().enumerate().map(|(index, letter)| if index == at { 'x' } else { letter }).collect();
        !same_version(version, &other)
    };
    let right = same_version(version, version)
        && (0..version.len()).all(differs)
        && !same_version(version, "sha256:")
        && !same_version("", version);
    Outcome::of(&true, &right)
}

/// The version of a policy, in which a budget stands for each rule: its name, and what the rule says.
fn versions(case: &Case) -> Result<Outcome> {
    let mut found = Vec::new();
    for key in ["rules_a", "rules_b"] {
        let rules = case.setup.get(key).and_then(Value::as_str).and_then(rules);
        let Some(rules) = rules else { return Ok(Outcome::not_supported(LANGUAGE)) };
        let budgets: Map<String, Value> = rules
            .iter()
            .map(|rule| {
                let said = json!([{"tool": "create_task", "args": {"said": rule.says.clone().unwrap_or_default()}}]);
                (rule.name.clone(), json!({"count": "calls", "limit": 1, "of": said}))
            })
            .collect();
        let player = Player::with_settings("tool-lock", &json!({"budgets": budgets}).to_string())?;
        let answers = player.answers(&[json!({"event": "session_start", "source": "startup"})])?;
        let version = answers.last().and_then(|last| last.get("policy_version")).and_then(Value::as_str);
        found.push(version.unwrap_or_default().to_owned());
    }
    let hex = |version: &String| version.len() == 64 && version.bytes().all(|byte| byte.is_ascii_hexdigit());
    let format = case.expect.get("format").filter(|_| found.iter().all(hex)).cloned();
    Ok(Outcome::of(&case.expect, &json!({"same": found.first() == found.last(), "format": format})))
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
            return Some(DenialReason::Policy { policy_id, policy_reason });
        }
        match self.rules.iter().find(|rule| rule.matches) {
            None => Some(DenialReason::NoRuleMatched {}),
            Some(Rule { name, says: Some(says), .. }) => {
                Some(DenialReason::RuleRejected { rule_name: name.clone(), rule_reason: says.clone() })
            }
            Some(_) => None,
        }
    }
}

#[async_trait::async_trait]
impl Admission for Constant {
    async fn version(&self, _request: &Request) -> std::result::Result<Option<String>, String> {
        Ok(None)
    }

    async fn evaluate(&self, request: &Request) -> std::result::Result<Verdict, String> {
        if let (Some(access), Ok(mut asked)) = (request.access, self.asked.lock()) {
            asked.push(access);
        }
        Ok(match self.denial() {
            Some(reason) => Verdict::Denied(Refusal::new(reason)),
            None => Verdict::Admitted(Admitted::default()),
        })
    }
}

/// What a case says of the stage, beside what the stage does.
fn stage(case: &Case, admission: Constant) -> Result<Outcome> {
    let access = case.setup.get("mode").and_then(Value::as_str);
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
    let runtime = tokio::runtime::Builder::new_current_thread().build();
    let runtime = runtime.map_err(|error| Failure::new(format!("no runtime: {error}")))?;
    let (mut admitted, mut reason) = (Value::Null, Value::Null);
    for call in &case.calls {
        let mut made = ToolCall::new("s", &call.tool).with_input(call.args.get("args").cloned().unwrap_or_default());
        made.principal = call.text("caller").map(str::to_owned);
        let request = Request { access, ..Request::new(made) };
        let next = || async { Ok::<(), std::convert::Infallible>(()) };
        let answer = runtime.block_on(lock.run(request, next));
        admitted = Value::from(answer.is_ok());
        reason = match answer {
            Err(StageError::Denied(denied)) => json!(*denied.reason),
            Ok(()) | Err(StageError::Next(_)) => Value::Null,
        };
    }
    let asked = admission.asked.lock().map(|asked| asked.clone()).unwrap_or_default();
    if access.is_some_and(|access| asked.iter().any(|asked| *asked != access)) {
        return Ok(Outcome::of(&access.map(AccessMode::word).unwrap_or_default(), &"another access"));
    }
    let events = events.lock().map(|events| events.iter().map(as_json).collect::<Vec<_>>()).unwrap_or_default();
    let is_error = |_: &dyn std::error::Error| true;
    let denied = ToolAdmissionDenied {
        reason: Arc::new(DenialReason::NoRuleMatched {}),
        caller: String::new(),
        tool: String::new(),
        http_status: ToolAdmissionDenied::HTTP_STATUS,
        advice: String::new(),
    };
    let mut got = Map::new();
    for key in case.expect.as_object().into_iter().flat_map(Map::keys) {
        let value = match key.as_str() {
            "admitted" => admitted.clone(),
            "reason" => reason.clone(),
            "events" => json!(events),
            "error_type" => Value::from(ToolAdmissionDenied::NAME),
            "is_error" => Value::from(is_error(&denied)),
            "http_status" => Value::from(denied.http_status),
            other => return Ok(Outcome::not_supported(&format!("what `{other}` means is not known"))),
        };
        got.insert(key.clone(), value);
    }
    Ok(Outcome::of(&case.expect, &Value::Object(got)))
}

fn as_json(event: &AdmissionEvent) -> Value {
    let AdmissionEvent { caller, tool, reason, at } = event;
    json!({"type": AdmissionEvent::TYPE, "caller": caller, "tool": tool, "reason": **reason, "at": at})
}
