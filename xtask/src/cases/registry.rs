//! Cases of the registry of command safety: plan mode is a skill that only reads, and what was registered is registered by
//! the agent, for programs that the settings name.

use serde_json::{Value, json};
use xtask::failure::Result;

use super::case::{Call, Case};
use super::outcome::Outcome;
use super::player::Player;

/// Plan mode, as far as calls are concerned: everything reads, or is denied.
const RESEARCH: &str = include_str!("../../cases/research.yaml");
/// What no call and no command asks.
const NOTHING: &str = "nothing is called";
/// Programs that run the program which their next word names.
const RUNNERS: [&str; 4] = ["npx", "bunx", "pnpx", "uvx"];

/// Plays a case of the original.
pub(super) fn play(case: &Case) -> Result<Outcome> {
    let check = case.setup.get("check").and_then(Value::as_str);
    match (check, case.calls.first()) {
        (Some("dangerous_redirect"), Some(call)) => redirect(case, call),
        (Some("glob"), Some(call)) => glob(case, call),
        (None, Some(_)) => decisions(case),
        _ => Ok(Outcome::not_supported(NOTHING)),
    }
}

/// Whether it is the redirection that a line is denied for: behind a program that reads it is denied, too.
fn redirect(case: &Case, call: &Call) -> Result<Outcome> {
    let session = Session::of(case, Vec::new());
    let command = call.text("command").unwrap_or_default();
    let program =
        command.split('>').next().unwrap_or_default().trim_end_matches(|c: char| c.is_ascii_digit() || c == '&');
    let alone = format!("echo x {}", command.get(program.len()..).unwrap_or_default());
    let denied = deny(&session.answers(&[line(call)])?) && deny(&session.answers(&[shell(&alone)])?);
    Ok(Outcome::of(at(&case.expect, "/dangerous"), &denied))
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
        // Plan mode that is on already stays on.
        let stays = at(answer, "/code") == "skill-active";
        let decision = if deny(std::slice::from_ref(answer)) && !stays { "deny" } else { "allow" };
        let original = at(wanted, "/decision").as_str().unwrap_or_default();
        let word = truth.unwrap_or(original);
        expected.push(if word == "either" { decision } else { word });
        got.push(decision);
    }
    Ok(Outcome::of(&expected.join(", "), &got.join(", ")))
}

/// How many patterns registrations accept, what they make of commands, and what is registered then. What is refused as a whole
/// accepts none, and leaves nothing.
fn registrations(case: &Case, wanted: &Value, session: &Session, answers: &[Value]) -> Result<Outcome> {
    let count = |answer: &Value, key: &str| at(answer, key).as_u64().unwrap_or_default();
    let accepted = wanted.as_array().into_iter().flatten().map(|one| count(one, "/accepted")).collect::<Vec<_>>();
    let mut got = Vec::new();
    let mut levels = Vec::new();
    let wanted_levels = at(&case.expect, "/levels").as_array().cloned().unwrap_or_default();
    for (call, answer) in case.calls.iter().zip(answers) {
        if call.tool == "plan_skill_safety" {
            got.push(count(answer, "/result/accepted"));
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
    let entries = at(&case.expect, "/registry").as_array().cloned().unwrap_or_default();
    let left: Vec<Value> = entries.into_iter().filter(|entry| count(entry, "/patterns") > 0).collect();
    let wanted = json!({"accepted": accepted, "levels": wanted_levels, "registry": left});
    Ok(Outcome::of(&wanted, &json!({"accepted": got, "levels": levels, "registry": registry})))
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
        let tools = all.iter().filter_map(|line| at(line, "/args/tool").as_str());
        let mut programs: Vec<&str> = tools.filter_map(bare_name).collect();
        programs.dedup();
        let plan_mode = at(&case.setup, "/plan_mode").as_bool().unwrap_or(true);
        let text = format!("mode: block\nsafety: {{programs: {}, prompt: false, compat: true}}\n", json!(programs));
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
        "bash" | "resolve" => {
            json!({"event": "tool_call", "tool": "Bash", "input": {"command": call.args.get("command")}})
        }
        "plan_skill_safety" => {
            let tool = call.text("tool").unwrap_or_default();
            register(tool, at(&call.args, "/commands_ordered"), at(&call.args, "/default"))
        }
        "plan_mode" if call.args.get("enable") == Some(&Value::Bool(true)) => activate(),
        "plan_mode" => json!({"event": "command", "by": "agent", "name": "deactivate_skill", "args": {}}),
        tool => {
            let known = TOOLS.iter().find(|(own, _)| *own == tool).map_or(tool, |(_, name)| name);
            json!({"event": "tool_call", "tool": known, "input": {"file_path": call.text("path"), "pattern": call.text("pattern")}})
        }
    }
}

/// A line of the shell.
fn shell(command: &str) -> Value {
    json!({"event": "tool_call", "tool": "Bash", "input": {"command": command}})
}

/// The tools of the original's platform that are others', by their names. What is not here is a tool that nobody labelled.
const TOOLS: [(&str, &str); 6] =
    [("write", "Write"), ("edit", "Edit"), ("read", "Read"), ("grep", "Grep"), ("find", "Glob"), ("ls", "LS")];

/// The program that a pattern names; nothing where it names none.
fn program(pattern: &str) -> Option<String> {
    let mut words = pattern.split_whitespace();
    let first = words.next()?;
    let named = if RUNNERS.contains(&first) { words.next()? } else { first };
    (!named.contains('*')).then(|| named.to_owned())
}

/// The bare name of a program that settings may name: what a tool is called, without a runner.
fn bare_name(tool: &str) -> Option<&str> {
    let name = match *tool.split_whitespace().collect::<Vec<_>>().as_slice() {
        [name] => name,
        [runner, name] if RUNNERS.contains(&runner) => name,
        _ => return None,
    };
    let plain = !name.contains(|letter: char| "*'\";|&<>`$/=".contains(letter) || letter.is_control());
    (plain && !name.starts_with('-') && !RUNNERS.contains(&name)).then_some(name)
}

/// Whether the last of some answers is a denial.
fn deny(answers: &[Value]) -> bool {
    answers.last().is_some_and(|answer| at(answer, "/decision") == "deny")
}

/// A part of a value; nothing where there is none.
pub(super) fn at<'v>(value: &'v Value, pointer: &str) -> &'v Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}
