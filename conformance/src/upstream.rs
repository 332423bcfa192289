//! Samples of the original system's behaviour, run from data: each becomes a transcript in the compat form.

mod sample;

use std::collections::BTreeMap;

use phasegate_adapter::text;
use phasegate_config::Kind;
use serde_json::{Map, Value, json};

pub use sample::{Fixture, Sample};

use crate::compare::subset;
use crate::play::driver::{Driver, Stage, open};
use crate::texts::wording;
use crate::trial::Mismatch;
use sample::{CallExpect, Violation};

/// The calls that are commands of ours.
const COMMANDS: [&str; 3] = ["activate_skill", "deactivate_skill", "get_skill_phase"];

/// Plays one sample.
#[must_use]
pub fn play(sample: &Sample, fixtures: &BTreeMap<String, Fixture>) -> Vec<Mismatch> {
    let stage = match stage(sample, fixtures) {
        Ok(stage) => stage,
        Err(problem) => return vec![Mismatch::broken("setup", problem)],
    };
    match open(&stage) {
        Err(problem) => vec![Mismatch::broken("configs", problem)],
        Ok(mut driver) => calls(sample, driver.as_mut()),
    }
}

/// The sample's skills as `SKILL.md` files, which mean exactly the original.
fn stage(sample: &Sample, fixtures: &BTreeMap<String, Fixture>) -> Result<Stage, String> {
    let mut stage = Stage::default();
    for name in &sample.setup.configs {
        let fixture = fixtures.get(name).ok_or_else(|| format!("no fixture `{name}`"))?;
        stage.file(format!("skills/{name}/SKILL.md"), Kind::SkillMd, fixture.skill_md());
    }
    if !sample.setup.patterns.is_empty() {
        let fixture = Fixture::of_patterns(&sample.setup.patterns);
        stage.file("skills/patterns/SKILL.md", Kind::SkillMd, fixture.skill_md());
        stage.skill = Some(fixture.skill_name);
        stage.mode = Some("block".into());
    }
    Ok(stage)
}

fn calls(sample: &Sample, driver: &mut dyn Driver) -> Vec<Mismatch> {
    let mut mismatches = Vec::new();
    let mut events = Vec::new();
    for (at, call) in sample.calls.iter().enumerate() {
        let place = format!("call {} ({})", at + 1, call.tool);
        let output = match driver.line(&line(&call.tool, &call.args)) {
            Ok(output) => output,
            Err(problem) => return vec![Mismatch::broken(&place, problem)],
        };
        mismatches.extend(wording::of_output(&place, &json!(call.tool), &output));
        events.extend(output.get("records").and_then(Value::as_array).into_iter().flatten().cloned());
        if let Some(matches) = sample.expect.matches {
            let forbidden = output.get("code") == Some(&json!("phase-forbidden"));
            mismatches.extend(subset(&place, "matches", &json!(matches), &json!(forbidden)));
        }
        if let Some(expect) = sample.expect.results.get(at) {
            let is_command = COMMANDS.contains(&call.tool.as_str());
            mismatches.extend(if is_command { told(&place, expect, &output) } else { judged(&place, expect, &output) });
        }
    }
    if let Some(wanted) = &sample.expect.status_after {
        let status = driver.line(&line("get_skill_phase", &json!({})));
        let mut result = status.ok().and_then(|output| output.get("result").cloned()).unwrap_or_default();
        // The list of skills is the tool's answer, not part of the status that the samples hold.
        if let Some(fields) = result.as_object_mut() {
            fields.remove("available_skills");
        }
        mismatches.extend(exactly("at the end", "status", wanted, &result));
    }
    if let Some(wanted) = &sample.expect.audit_events {
        let wanted: Vec<Value> = wanted.iter().map(sample::AuditEvent::told).collect();
        let got: Vec<Value> = events.iter().filter_map(audit).collect();
        mismatches.extend(subset("at the end", "audit", &json!(wanted), &json!(got)));
    }
    mismatches
}

fn line(tool: &str, args: &Value) -> String {
    if COMMANDS.contains(&tool) {
        return json!({"event": "command", "by": "agent", "name": tool, "args": args}).to_string();
    }
    json!({"event": "tool_call", "tool": tool, "input": args}).to_string()
}

/// The answer of a command.
fn told(place: &str, expect: &CallExpect, output: &Value) -> Vec<Mismatch> {
    let result = output.get("result").cloned().unwrap_or_default();
    let text = result.get("text").and_then(Value::as_str).unwrap_or_default().to_string();
    let is_error = result.get("is_error") == Some(&json!(true));
    let mut mismatches = Vec::new();
    if let Some(wanted) = expect.is_error {
        mismatches.extend(subset(place, "is_error", &json!(wanted), &json!(is_error)));
    }
    if let Some(wanted) = &expect.json {
        mismatches.extend(exactly(place, "json", wanted, &result));
    }
    if let Some(wanted) = &expect.text {
        mismatches.extend(subset(place, "text", &json!(wanted), &json!(text)));
    }
    if let Some(prefix) = expect.text_prefix.as_ref().filter(|prefix| !text.starts_with(prefix.as_str())) {
        mismatches.push(Mismatch::new(place, "text_prefix", json!(prefix), json!(text)));
    }
    for part in expect.text_contains.iter().filter(|part| !text.contains(part.as_str())) {
        mismatches.push(Mismatch::new(place, "text_contains", json!(part), json!(text)));
    }
    mismatches
}

/// The decision on a call.
fn judged(place: &str, expect: &CallExpect, output: &Value) -> Vec<Mismatch> {
    let get = |key: &str| output.get(key).cloned().unwrap_or_default();
    let moved = get("phase") != get("phase_before");
    let advanced = if moved { json!({"from": get("phase_before"), "to": get("phase")}) } else { Value::Null };
    let mut mismatches = Vec::new();
    let mut held = |field: &str, wanted: Value, got: &Value| mismatches.extend(subset(place, field, &wanted, got));
    held("decision", json!(expect.decision), &get("decision"));
    held("rule", json!(expect.rule), &rule(&get("line")));
    held("phase_after", json!(expect.phase_after), &get("phase"));
    held("advanced", json!(expect.advanced), &advanced);
    if let Some(wanted) = &expect.violation {
        held("violation", violation(wanted), &violated(output));
        held("recovery", json!(wanted.recovery), &get("recovery"));
    }
    if let Some(wanted) = &expect.response {
        held("response", json!(wanted.text), &response(output));
    }
    mismatches
}

fn violation(wanted: &Violation) -> Value {
    let Violation { tool, skill, current_phase, reason, blocked, .. } = wanted;
    json!({"tool": tool, "skill": skill, "current_phase": current_phase, "reason": reason, "blocked": blocked})
}

/// The same fields of our answer; tool and blocking come from the audit record.
fn violated(output: &Value) -> Value {
    let mut records = output.get("records").and_then(Value::as_array).into_iter().flatten();
    let record = records.rfind(|record| record.get("record") == Some(&json!("phase_violation")));
    let of = |key: &str| record.and_then(|record| record.get(key)).cloned().unwrap_or_default();
    json!({
        "tool": of("tool"),
        "skill": of("skill"),
        "current_phase": of("phase"),
        "reason": output.get("reason"),
        "blocked": of("blocked"),
    })
}

/// The denial as an agent reads it, without our code, which the original does not have.
fn response(output: &Value) -> Value {
    let tool = violated(output).get("tool").cloned().unwrap_or_default();
    let Some(Ok(decision)) = wording::decided(&tool, output) else { return Value::Null };
    let code = decision.code.map(|code| format!("\"code\":\"{code}\",")).unwrap_or_default();
    Value::from(text::denial(&decision).replace(&code, ""))
}

/// The original's word for a line of the decision table.
fn rule(line: &Value) -> Value {
    match line.as_str() {
        Some("allowed") => json!("phase_allowed"),
        Some("entered") => json!("advance"),
        Some("unlisted") => json!("pass_through"),
        Some("forbidden") => json!("phase_forbidden"),
        Some("global_forbidden") => json!("global_forbidden"),
        _ => line.clone(),
    }
}

/// Our record as the original's audit event: name, text, success.
fn audit(record: &Value) -> Option<Value> {
    let of = |key: &str| record.get(key).and_then(Value::as_str).unwrap_or_default();
    let name = of("record");
    let base = format!("{name}: skill={}", of("skill"));
    let target = match name {
        "activate_skill" => format!("{base} phase={}", of("phase")),
        "deactivate_skill" => base,
        "phase_advance" => {
            format!("{base} phase={} from={} triggered_by={}", of("phase"), of("from"), of("triggered_by"))
        }
        "phase_violation" => {
            let list = if of("code") == "global-forbidden" { "global_forbidden" } else { "forbidden" };
            format!("{base} phase={} {list}: {}", of("phase"), of("tool"))
        }
        _ => return None,
    };
    Some(json!({"tool": name, "target": target, "success": name != "phase_violation"}))
}

/// Holds two objects against each other key by key, in both directions. `<key>_any_order` compares a list as a set.
fn exactly(place: &str, field: &str, wanted: &Map<String, Value>, got: &Value) -> Vec<Mismatch> {
    let empty = Map::new();
    let found = got.as_object().unwrap_or(&empty);
    let mut mismatches = Vec::new();
    for (key, value) in wanted {
        let (name, set) = key.strip_suffix("_any_order").map_or((key.as_str(), false), |name| (name, true));
        let got = found.get(name).cloned().unwrap_or_default();
        let (value, got) = if set { (sorted(value), sorted(&got)) } else { (value.clone(), got) };
        mismatches.extend(subset(place, &format!("{field}.{name}"), &value, &got));
    }
    let named = |key: &str| wanted.contains_key(key) || wanted.contains_key(&format!("{key}_any_order"));
    for (key, value) in found.iter().filter(|(key, _)| !named(key)) {
        mismatches.push(Mismatch::new(place, &format!("{field}.{key}"), Value::Null, value.clone()));
    }
    mismatches
}

fn sorted(list: &Value) -> Value {
    let mut texts: Vec<String> = list.as_array().into_iter().flatten().map(Value::to_string).collect();
    texts.sort();
    json!(texts)
}
