//! Claims about a skill: what holds whatever an agent does (`phasegate check --prove`).
//!
//! A claim becomes a skill of one phase that watches: its `forbidden` objects to the call that must not be.

use std::collections::BTreeMap;

use phasegate_core::policy::Skill;
use serde_json::{Value, json};

use crate::compile::compile;
use crate::diagnostic::Severity;
use crate::input::{Kind, Level, SourceFile};
use crate::read::read;
use crate::read::text::Text;

/// The name of a skill that watches.
pub const WATCHER: &str = "claim";
/// The forms of a claim.
const FORMS: &str = "a claim is `never CALL before CONDITION`, `never CALL outside [PHASE, ...]` or `always CONDITION`";

/// The claims of one file, about one skill.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Claims {
    /// The skill.
    pub skill: String,
    /// The values of its inputs.
    pub inputs: BTreeMap<String, String>,
    /// What is claimed.
    pub claims: Vec<Claim>,
}

/// One claim.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// It as written.
    pub text: String,
    /// The calls that must not be, as in `forbidden`; empty: it is asked at the end of the run.
    calls: Vec<Value>,
    /// What has to hold before, as in `done_when`.
    until: Option<Value>,
    /// The phases in which the calls may be.
    pub outside: Vec<String>,
}

/// Reads a file of claims.
///
/// # Errors
///
/// It is no YAML, or a part of it is none of the forms.
pub fn read_claims(text: &str) -> Result<Claims, String> {
    let Value::Object(fields) = value(text)? else { return Err("it is no object with `skill` and `claims`".into()) };
    let mut found = Claims::default();
    for (key, value) in fields {
        match (key.as_str(), value) {
            ("skill", Value::String(name)) => found.skill = name,
            ("inputs", Value::Object(inputs)) => {
                let text = |value: Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                found.inputs = inputs.into_iter().map(|(name, value)| (name, text(value))).collect();
            }
            ("claims", Value::Array(claims)) => {
                let read = |claim: &Value| Claim::read(claim.as_str().ok_or(FORMS)?);
                found.claims = claims.iter().map(read).collect::<Result<_, String>>()?;
            }
            (key, _) => return Err(format!("`{key}` is none of `skill: NAME`, `inputs: {{...}}`, `claims: [...]`")),
        }
    }
    if found.skill.is_empty() { Err("`skill: NAME` is missing".into()) } else { Ok(found) }
}

impl Claim {
    fn read(text: &str) -> Result<Self, String> {
        let claim = Self { text: text.to_owned(), calls: Vec::new(), until: None, outside: Vec::new() };
        if let Some(rest) = text.strip_prefix("always ") {
            return Ok(Self { until: Some(condition(value(rest)?)), ..claim });
        }
        let rest = text.strip_prefix("never ").ok_or(FORMS)?;
        let calls = |text: &str| match value(text)? {
            Value::Array(calls) => Ok(calls),
            call => Ok::<_, String>(vec![call]),
        };
        if let Some((call, until)) = rest.rsplit_once(" before ") {
            return Ok(Self { calls: calls(call)?, until: Some(condition(value(until)?)), ..claim });
        }
        let (call, phases) = rest.rsplit_once(" outside ").ok_or(FORMS)?;
        let phases = match value(phases)? {
            Value::Array(phases) => phases,
            phase => vec![phase],
        };
        let outside = phases.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Self { calls: calls(call)?, outside, ..claim })
    }

    /// Whether it is asked at the end of the run alone.
    pub fn is_of_end(&self) -> bool {
        self.calls.is_empty()
    }

    /// The skill that watches: it objects to the calls, at the end of a run to the call of the tool `probe`. `servers` are those
    /// whose tools a bare name means; `settings` the files that say what groups and programs are.
    ///
    /// # Errors
    ///
    /// A call or a condition has a mistake.
    pub fn watcher(&self, probe: &str, servers: &[String], settings: &[SourceFile]) -> Result<Skill, String> {
        let calls = if self.is_of_end() { &vec![json!(probe)] } else { &self.calls };
        let line = |call: &Value| {
            let mut line = if call.is_object() { call.clone() } else { json!({"tool": call}) };
            if let (Some(until), Some(fields)) = (&self.until, line.as_object_mut()) {
                fields.insert("until".into(), until.clone());
            }
            line
        };
        let forbidden: Vec<Value> = calls.iter().map(line).collect();
        let phase = json!({"do": "watch", "allowed": ["*"], "forbidden": forbidden});
        let text = json!({
            "skill": WATCHER, "description": "watches", "mode": "block", "unlisted": "allow", "servers": servers,
            "finish": "person", "phases": {"watch": phase},
        });
        let path = self.text.clone();
        let file = SourceFile { path: path.clone(), text: text.to_string(), level: Level::Project, kind: Kind::Skill };
        let compiled = compile(&[settings, &[file]].concat());
        let mistake = compiled.diagnostics.iter().find(|found| found.severity == Severity::Error && found.path == path);
        match (mistake, compiled.policy.skill(WATCHER)) {
            (None, Some(skill)) => Ok(skill.clone()),
            (found, _) => Err(found.map_or_else(|| FORMS.to_owned(), |found| found.message.clone())),
        }
    }
}

/// A condition; the name of a tool stands for a successful call of it.
fn condition(value: Value) -> Value {
    if value.is_string() { json!({"ok": value}) } else { value }
}

fn value(text: &str) -> Result<Value, String> {
    let mut findings = Vec::new();
    let node = read(&Text::whole(text), &mut findings).filter(|_| findings.is_empty());
    node.map(|node| node.to_value()).ok_or_else(|| format!("`{text}` is no YAML that can be read"))
}
