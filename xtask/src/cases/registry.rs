//! Cases of the registry of command safety: plan mode is a skill that only reads, and what was registered is registered by
//! the agent, for programs that the settings name.

use serde_json::{Value, json};
use xtask::failure::Result;

use super::case::{Call, Case};
use super::outcome::Outcome;
use super::player::Player;

/// Plan mode, as far as calls are concerned: everything reads, or is denied.
const RESEARCH: &str = include_str!("../../cases/research.yaml");
/// What is about the plans themselves.
const PLANS: &str = "plans and their settings are cases of the plan skill";

/// Plays a case of the original.
pub(super) fn play(case: &Case) -> Result<Outcome> {
    let check = case.setup.get("check").and_then(Value::as_str);
    match (check, case.calls.first()) {
        (Some("dangerous_redirect"), Some(call)) => {
            let denied = deny(&Session::of(case, Vec::new()).answers(&[line(call)])?);
            Ok(Outcome::of(at(&case.expect, "/dangerous"), &denied))
        }
        (Some("glob"), Some(call)) => glob(case, call),
        (None, Some(call)) if is_known(&call.tool) => decisions(case),
        _ => Ok(Outcome::not_supported(PLANS)),
    }
}

/// Plays a line of the corpus: READ may run, WRITE must not, and with `none` the table of programs decides.
pub(super) fn play_line(case: &Case) -> Result<Outcome> {
    let patterns = at(&case.setup, "/patterns");
    let tool = at(&case.setup, "/tool").as_str().map(ToOwned::to_owned);
    let tool = tool.or_else(|| patterns.as_object()?.keys().next().and_then(|pattern| program(pattern)));
    let registered = tool.map(|tool| register(&tool, patterns, at(&case.setup, "/default")));
    let session = Session::of(case, registered.into_iter().collect());
    let calls: Vec<Value> = case.calls.iter().map(line).collect();
    let denied = deny(&session.answers(&calls)?);
    let without = deny(&Session { registered: Vec::new(), ..session }.answers(&calls)?);
    let mut got = vec![if denied { "WRITE" } else { "READ" }];
    if denied == without {
        got.push("none");
    }
    let wanted = at(&case.expect, "/expect").as_str().unwrap_or_default();
    let accepted: Vec<&str> =
        at(&case.expect, "/accept").as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    if got.iter().any(|word| *word == wanted || accepted.contains(word)) {
        return Ok(Outcome::Agrees);
    }
    Ok(Outcome::Differs { expected: wanted.to_owned(), got: got.join(" or "), why: None })
}

/// Whether a pattern selects a command: registered as WRITE, it is what the denial names.
fn glob(case: &Case, call: &Call) -> Result<Outcome> {
    let pattern = at(&case.setup, "/pattern").as_str().unwrap_or_default();
    let Some(tool) = program(pattern) else {
        // What is refused at registration selects nothing.
        return Ok(Outcome::of(at(&case.expect, "/matches"), &false));
    };
    let session = Session::of(case, vec![register(&tool, &json!({pattern: "WRITE"}), &Value::Null)]);
    let answers = session.answers(&[line(call)])?;
    let reason = answers.last().map(|answer| at(answer, "/reason").to_string()).unwrap_or_default();
    Ok(Outcome::of(at(&case.expect, "/matches"), &reason.contains("registered as WRITE")))
}

fn is_known(tool: &str) -> bool {
    matches!(tool, "bash" | "write" | "resolve" | "plan_skill_safety" | "plan_mode")
}

/// What comes of every call, beside what is to come of it.
fn decisions(case: &Case) -> Result<Outcome> {
    let entries = at(&case.setup, "/registry").as_array().cloned().unwrap_or_default();
    let registered = entries
        .iter()
        .map(|entry| register(at(entry, "/tool").as_str().unwrap_or_default(), at(entry, "/commands"), &Value::Null));
    let session = Session::of(case, registered.collect());
    let calls: Vec<Value> = case.calls.iter().map(line).collect();
    let answers = session.answers(&calls)?;
    if let Some(levels) = case.expect.get("registrations") {
        return registrations(case, levels, &session, &answers);
    }
    let wanted = at(&case.expect, "/results").as_array().cloned().unwrap_or_default();
    let truth = case.truth.as_deref().map(|truth| match truth {
        "read-only" => "allow",
        truth if truth.starts_with("debatable") => "either",
        _ => "deny",
    });
    let (mut expected, mut got) = (Vec::new(), Vec::new());
    for (wanted, answer) in wanted.iter().zip(&answers) {
        let decision = if deny(std::slice::from_ref(answer)) { "deny" } else { "allow" };
        let original = at(wanted, "/decision").as_str().unwrap_or_default();
        let word = truth.unwrap_or(original);
        expected.push(if word == "either" { decision } else { word });
        got.push(decision);
    }
    Ok(Outcome::of(&expected.join(", "), &got.join(", ")))
}

/// What registrations answer, what they make of commands, and what is registered then.
fn registrations(case: &Case, wanted: &Value, session: &Session, answers: &[Value]) -> Result<Outcome> {
    let mut got = Vec::new();
    let mut levels = Vec::new();
    let wanted_levels = at(&case.expect, "/levels").as_array().cloned().unwrap_or_default();
    for (call, answer) in case.calls.iter().zip(answers) {
        if call.tool == "plan_skill_safety" {
            let of = |key: &str| at(answer, &format!("/result/{key}")).clone();
            got.push(json!({"accepted": of("accepted"), "rejected": of("rejected"), "text": of("text")}));
            continue;
        }
        let denied = deny(std::slice::from_ref(answer));
        let bare = Session { registered: Vec::new(), settings: session.settings.clone() };
        let same = deny(&bare.answers(&[line(call)])?) == denied;
        let named = at(answer, "/reason").to_string().contains("registered as");
        // With no answer of the registry, the table of programs decides.
        let none = wanted_levels.get(levels.len()).is_some_and(Value::is_null) && same && !named;
        levels.push(if none { Value::Null } else { json!(if denied { "WRITE" } else { "READ" }) });
    }
    let listed = session.listed(case)?;
    let registry: Vec<Value> = listed
        .iter()
        .map(|entry| {
            let patterns = at(entry, "/commands").as_array().map_or(0, Vec::len);
            // Without a default the table of programs decides, and nothing that it does not know reads.
            let default = at(entry, "/default").as_str().unwrap_or("WRITE");
            json!({"tool": at(entry, "/tool"), "patterns": patterns, "default": default})
        })
        .collect();
    let wanted = json!({"registrations": wanted, "levels": at(&case.expect, "/levels"), "registry": at(&case.expect, "/registry")});
    Ok(Outcome::of(&wanted, &json!({"registrations": got, "levels": levels, "registry": registry})))
}

/// A session in plan mode, unless the case says otherwise.
struct Session {
    settings: Settings,
    /// What is registered before the calls.
    registered: Vec<Value>,
}

#[derive(Clone)]
struct Settings {
    text: String,
    plan_mode: bool,
}

impl Session {
    fn of(case: &Case, registered: Vec<Value>) -> Self {
        let of_calls = case.calls.iter().filter(|call| call.tool == "plan_skill_safety").map(line);
        let all: Vec<Value> = registered.iter().cloned().chain(of_calls).collect();
        let mut programs: Vec<&str> = all.iter().filter_map(|line| at(line, "/args/tool").as_str()).collect();
        programs.dedup();
        let plan_mode = at(&case.setup, "/plan_mode").as_bool().unwrap_or(true);
        let text = format!("mode: block\nsafety: {{programs: {}, prompt: false}}\n", json!(programs));
        Self { settings: Settings { text, plan_mode }, registered }
    }

    /// What the calls are answered.
    fn answers(&self, calls: &[Value]) -> Result<Vec<Value>> {
        let player = Player::with_skill(&self.settings.text, "research", RESEARCH)?;
        let mut lines = vec![json!({"event": "session_start", "source": "startup"})];
        if self.settings.plan_mode {
            lines.push(activate());
        }
        lines.extend(self.registered.iter().cloned());
        let before = lines.len();
        lines.extend(calls.iter().cloned());
        Ok(player.answers(&lines)?.split_off(before))
    }

    /// What is registered after the calls of a case.
    fn listed(&self, case: &Case) -> Result<Vec<Value>> {
        let mut calls: Vec<Value> = case.calls.iter().map(line).collect();
        calls.push(json!({"event": "command", "by": "agent", "name": "safety", "args": {}}));
        let answer = self.answers(&calls)?.pop().unwrap_or_default();
        Ok(at(&answer, "/result/registered").as_array().cloned().unwrap_or_default())
    }
}

fn activate() -> Value {
    json!({"event": "command", "by": "human", "name": "activate_skill", "args": {"skill_name": "research"}})
}

fn register(tool: &str, commands: &Value, default: &Value) -> Value {
    let args = json!({"tool": tool, "commands": commands, "default": default});
    json!({"event": "command", "by": "agent", "name": "plan_skill_safety", "args": args})
}

/// A call of the original's platform, as a line. Leaving plan mode is what the agent asks for.
fn line(call: &Call) -> Value {
    match call.tool.as_str() {
        "write" => json!({"event": "tool_call", "tool": "Write", "input": {"file_path": call.text("path")}}),
        "plan_skill_safety" => {
            let tool = call.text("tool").unwrap_or_default();
            register(tool, at(&call.args, "/commands_ordered"), at(&call.args, "/default"))
        }
        "plan_mode" if call.args.get("enable") == Some(&Value::Bool(true)) => activate(),
        "plan_mode" => json!({"event": "command", "by": "agent", "name": "deactivate_skill", "args": {}}),
        _ => json!({"event": "tool_call", "tool": "Bash", "input": {"command": call.text("command")}}),
    }
}

/// The program that a pattern names; nothing where it names none.
fn program(pattern: &str) -> Option<String> {
    let mut words = pattern.split_whitespace();
    let first = words.next()?;
    let named = if first == "npx" { words.next()? } else { first };
    (!named.contains('*')).then(|| named.to_owned())
}

/// Whether the last of some answers is a denial.
fn deny(answers: &[Value]) -> bool {
    answers.last().is_some_and(|answer| at(answer, "/decision") == "deny")
}

/// A part of a value; nothing where there is none.
fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}
