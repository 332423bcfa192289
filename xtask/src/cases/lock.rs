//! Cases of the tool lock: the stage, its reasons, its rules and their versions.
//!
//! `phasegate rules import` reads the rules of the cases, which are in the original's own language, and gives rules of
//! Cedar; a project with these decides the calls. Where a case is about the stage itself, its rules are constant
//! (`true -> admit`), and an evaluator with constant rules stands for the original's: the example `cases` of the crate
//! that servers use.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Map, Value, json};
use xtask::failure::{Failure, Result};
use xtask::process::cargo;

use super::case::Case;
use super::outcome::Outcome;
use super::player::Player;

/// What is not there.
const UNKNOWN: &str = "the case asks for something of rules that no user of phasegate can see";

/// Plays a case.
pub(super) fn play(case: &Case) -> Result<Outcome> {
    match case.calls.first().map(|call| call.tool.as_str()) {
        Some("rules.version_hash") => versions(case),
        Some("rules.load") => loads(case),
        Some(operation) if operation.starts_with("rules.") => Ok(Outcome::not_supported(UNKNOWN)),
        Some(_) if is_about_rules(case) => admits(case),
        _ => match of_stage(case)? {
            Value::Null => Ok(Outcome::not_supported(UNKNOWN)),
            got => Ok(Outcome::of(&case.expect, &got)),
        },
    }
}

/// Whether a case asks how its rules decide a call.
fn is_about_rules(case: &Case) -> bool {
    let asks = |key: &String| matches!(key.as_str(), "admitted" | "reason");
    let of_stage = ["policies", "mode", "options"].iter().any(|key| case.setup.get(key).is_some());
    !of_stage && case.setup.get("rules").is_some() && case.expect.as_object().is_some_and(|all| all.keys().all(asks))
}

/// What the program makes of rules, with what stands for their variables.
fn imported(player: &Player, rules: &str, variables: Option<&Value>) -> Result<Value> {
    player.write("case.kappa", rules)?;
    let mut arguments: Vec<String> = ["rules", "import", "case.kappa"].map(str::to_owned).to_vec();
    for (name, value) in variables.map(flat).unwrap_or_default() {
        arguments.extend(["--variable".to_owned(), format!("{name}={value}")]);
    }
    player.json(&arguments)
}

/// The values of nested objects, by their names with dots between.
fn flat(variables: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for (name, value) in variables.as_object().into_iter().flatten() {
        match value {
            Value::Object(_) => {
                found.extend(flat(value).into_iter().map(|(end, value)| (format!("{name}.{end}"), value)))
            }
            _ => found.push((name.clone(), value.clone())),
        }
    }
    found
}

fn project() -> Result<Player> {
    Player::with_settings("mode: block\nrules: {default: deny}\n")
}

/// The part of an object that a case asks for.
fn asked(case: &Case, got: &Value) -> Value {
    let keys = case.expect.as_object().into_iter().flat_map(Map::keys);
    keys.map(|key| (key.clone(), got.get(key).cloned().unwrap_or_default())).collect()
}

/// Whether rules load, and if not, when that is found and by which code.
fn loads(case: &Case) -> Result<Outcome> {
    let Some(rules) = case.setup.get("rules").and_then(Value::as_str) else {
        return Ok(Outcome::not_supported(UNKNOWN));
    };
    let made = imported(&project()?, rules, case.setup.get("variables"))?;
    let errors = made.pointer("/files/0/errors").and_then(Value::as_array).cloned().unwrap_or_default();
    // Each check runs, so that a set may have several errors.
    let expected = errors.iter().find(|error| error.get("code") == case.expect.get("code")).or_else(|| errors.first());
    let mut got = expected.cloned().unwrap_or_else(|| json!({}));
    if let Some(fields) = got.as_object_mut() {
        fields.insert("loads".to_owned(), made.get("loads").cloned().unwrap_or_default());
    }
    Ok(Outcome::of(&case.expect, &asked(case, &got)))
}

/// Whether a project with the rules of a case, as rules of Cedar, admits its last call.
fn admits(case: &Case) -> Result<Outcome> {
    let rules = case.setup.get("rules").and_then(Value::as_str).unwrap_or_default();
    let player = project()?;
    let made = imported(&player, rules, case.setup.get("variables"))?;
    if made.get("loads") != Some(&Value::Bool(true)) {
        return Ok(Outcome::of(&case.expect, &asked(case, &json!({"admitted": false}))));
    }
    player.write(".phasegate/rules/imported.cedar", made.get("text").and_then(Value::as_str).unwrap_or_default())?;
    let mut lines = vec![json!({"event": "session_start", "source": "startup"})];
    for (number, call) in case.calls.iter().enumerate() {
        let input = call.args.get("args").cloned().unwrap_or_else(|| json!({}));
        let id = format!("c{number}");
        lines.push(json!({"event": "tool_call", "id": id, "tool": call.tool, "server": "s", "input": input}));
    }
    let answers = player.answers(&lines)?;
    let last = answers.last().cloned().unwrap_or_default();
    let admitted = last.get("decision").and_then(Value::as_str) == Some("allow");
    let got = json!({"admitted": admitted, "reason": last.get("admission")});
    let outcome = Outcome::of(&case.expect, &asked(case, &got));
    let rules = made.pointer("/files/0/rules").and_then(Value::as_array).cloned().unwrap_or_default();
    let why = rules.iter().find_map(|rule| rule.pointer("/why_not/why").and_then(Value::as_str));
    Ok(match (&outcome, why) {
        (Outcome::Differs { .. }, Some(why)) => Outcome::not_supported(why),
        _ => outcome,
    })
}

/// What the stage does in a case; `null` where the case asks for something else.
fn of_stage(case: &Case) -> Result<Value> {
    let calls: Vec<Value> = case.calls.iter().map(|call| json!({"tool": call.tool, "args": call.args})).collect();
    let text = json!({"setup": case.setup, "calls": calls, "expect": case.expect}).to_string();
    let failed = |error: std::io::Error| Failure::new(format!("the example `cases`: {error}"));
    let mut command = cargo(&["run", "--quiet", "--package", "phasegate-tower", "--example", "cases"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(text.as_bytes()).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    serde_json::from_slice(&output.stdout).map_err(|error| Failure::new(format!("the example `cases`: {error}")))
}

/// Whether two sets of rules have the same version, and whether it is one.
fn versions(case: &Case) -> Result<Outcome> {
    let player = project()?;
    let mut found = Vec::new();
    for key in ["rules_a", "rules_b"] {
        let Some(rules) = case.setup.get(key).and_then(Value::as_str) else {
            return Ok(Outcome::not_supported(UNKNOWN));
        };
        let made = imported(&player, rules, case.setup.get("variables"))?;
        let version = made.pointer("/files/0/version").and_then(Value::as_str);
        found.push(version.unwrap_or_default().to_owned());
    }
    let is_version = |version: &String| {
        let hex = version.strip_prefix("sha256:").unwrap_or_default();
        hex.len() == 64 && hex.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
    };
    let format = case.expect.get("format").filter(|_| found.iter().all(is_version)).cloned();
    let got = json!({"same": found.first() == found.last(), "format": format});
    Ok(Outcome::of(&case.expect, &asked(case, &got)))
}
