//! Cases of the tool lock: the stage, its reasons and versions.
//!
//! The rules of the cases are in the original's own language, which is not taken over. Where a case is about the stage, its
//! rules are constant (`true -> admit`), and an evaluator with constant rules stands for the original's: the example
//! `cases` of the crate that servers use.

use std::io::Write as _;
use std::process::Stdio;

use serde_json::{Map, Value, json};
use xtask::failure::{Failure, Result};
use xtask::process::cargo;

use super::case::Case;
use super::outcome::Outcome;
use super::player::Player;

/// What is not taken over.
const LANGUAGE: &str = "the rule language of the original is not taken over: rules are written in Cedar";

/// Plays a case.
pub(super) fn play(case: &Case) -> Result<Outcome> {
    match case.calls.first().map(|call| call.tool.as_str()) {
        Some("rules.version_hash") => versions(case),
        Some(operation) if operation.starts_with("rules.") => Ok(Outcome::not_supported(LANGUAGE)),
        _ => match of_stage(case)? {
            Value::Null => Ok(Outcome::not_supported(LANGUAGE)),
            got => Ok(Outcome::of(&case.expect, &got)),
        },
    }
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

/// The version of a policy, in which a budget stands for each rule: its name, and what the rule says.
fn versions(case: &Case) -> Result<Outcome> {
    let mut found = Vec::new();
    for key in ["rules_a", "rules_b"] {
        let Some(rules) = case.setup.get(key).and_then(Value::as_str) else {
            return Ok(Outcome::not_supported(LANGUAGE));
        };
        let mut budgets = Map::new();
        for rule in rules.split("rule ").filter_map(|rule| rule.split_once('{')) {
            let words: Vec<&str> = rule.1.split_whitespace().collect();
            let of = json!([{"tool": "create_task", "args": {"said": words.join(" ")}}]);
            budgets.insert(rule.0.trim().to_owned(), json!({"count": "calls", "limit": 1, "of": of}));
        }
        let player = Player::with_settings(&json!({"budgets": budgets}).to_string())?;
        let answers = player.answers(&[json!({"event": "session_start", "source": "startup"})])?;
        let version = answers.last().and_then(|last| last.get("policy_version")).and_then(Value::as_str);
        found.push(version.unwrap_or_default().to_owned());
    }
    let hex = |version: &String| version.len() == 64 && version.bytes().all(|byte| byte.is_ascii_hexdigit());
    let format = case.expect.get("format").filter(|_| found.iter().all(hex)).cloned();
    Ok(Outcome::of(&case.expect, &json!({"same": found.first() == found.last(), "format": format})))
}
