//! The gate of rules: what rules see of a call, and what their verdicts become.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use phasegate_core::{Code, Decision, Effect, Event, Facts, Policy, State, step};
use serde_json::{Value, json};

/// `context.A.B`.
fn get(path: &str) -> Value {
    path.split('.').fold(json!({"var": "context"}), |of, name| json!({"get": [of, name]}))
}

fn of(op: &str, path: &str, value: &Value) -> Value {
    json!({"of": [op, {"l": get(path), "r": value}]})
}

fn text(text: &str) -> Value {
    json!({"v": text})
}

fn is(path: &str, value: &str) -> Value {
    of("==", path, &text(value))
}

fn forbid(id: &str, when: &Value) -> Value {
    json!({"id": id, "forbids": "deny", "reason": "no.", "when": when})
}

fn policy(default: &str, rules: &Value) -> Policy {
    let level = json!({"rules": {"default": default, "rules": rules}});
    serde_json::from_value(json!({"version": "v", "skills": [], "rules": [level]})).unwrap()
}

fn word(word: &str) -> Value {
    if word == "$" { json!("unknown") } else { json!({"known": word}) }
}

/// A shell call of these commands, each with the number of its global options; `> FILE` and `< FILE` are paths.
fn shell(lines: &[(&str, u32)]) -> Value {
    let (mut commands, mut paths) = (vec![], vec![]);
    for (number, (line, options)) in lines.iter().enumerate() {
        let words: Vec<&str> = line.split(' ').filter(|word| !word.starts_with(['>', '<'])).collect();
        for path in line.split(' ').filter(|word| word.starts_with(['>', '<'])) {
            let access = if path.starts_with('>') { "write" } else { "read" };
            let path = path.get(1..).unwrap();
            paths.push(json!({"written": path, "resolved": path, "access": access, "command": number}));
        }
        let words: Vec<Value> = words.iter().map(|text| word(text)).collect();
        // Such an option may take the word after it.
        let unplaced = line.contains("--tag");
        commands.push(json!({
            "words": words, "span": [0, 0], "verdict": "send", "global_options": options, "unplaced": unplaced,
        }));
    }
    let labels = ["write", "execute", "network", "shell"];
    json!({"event": "tool_call", "tool": "Bash", "input": {"command": "a line"}, "labels": labels,
        "reading": {"commands": commands, "paths": paths}})
}

fn decided(policy: &Policy, event: Value) -> Decision {
    step(policy, &State::default(), &Event::from_value(event).unwrap(), &Facts::new()).decision.unwrap()
}

/// The answer in short: `-` where the call passes, `?` where the rule may be about it.
fn short(policy: &Policy, event: Value) -> String {
    let decision = decided(policy, event);
    let doubt = if decision.reason.contains("may be about") { "?" } else { "" };
    match (decision.effect, decision.code) {
        (Effect::Allow, None) => "-".into(),
        (effect, code) => format!("{} {}{doubt}", effect.word(), code.unwrap()),
    }
}

fn no_force() -> Policy {
    let all = ["-f", "--force"].map(text);
    let options = json!({"of": ["containsAny", {"l": get("command.options"), "r": {"set": all}}]});
    let when = json!({"and": [is("command.program", "git"), is("command.subcommand", "push"), options]});
    policy("permit", &json!([forbid("no-force", &when)]))
}

#[test]
fn words_of_a_command_are_seen_as_a_shell_takes_them() {
    let policy = no_force();
    for (line, options, wanted) in [
        ("git push origin", 0, "-"),
        ("git push --force", 0, "deny rule-rejected"),
        ("/usr/bin/git push -f", 0, "deny rule-rejected"),
        ("git --no-pager push -f", 1, "deny rule-rejected"),
        ("git push -fu origin", 0, "deny rule-rejected?"),
        ("git -C x push -f", 2, "deny rule-rejected?"),
        ("./git push -f", 0, "deny rule-rejected?"),
        ("git push $", 0, "deny rule-rejected?"),
        ("git -C x status -f", 2, "-"),
        ("git push -- -f", 0, "-"),
        ("git fetch -f", 0, "-"),
        ("git push --forc", 0, "deny rule-rejected?"),
        ("git push --force=no", 0, "deny rule-rejected?"),
        ("git push --force --no-force", 0, "deny rule-rejected?"),
        ("git push --repo --force", 0, "deny rule-rejected?"),
        ("git push -force", 0, "deny rule-rejected?"),
        ("git push --follow-tags", 0, "-"),
        ("$ push", 0, "-"),
        ("$ push -f", 0, "deny rule-rejected?"),
    ] {
        assert_eq!(short(&policy, shell(&[(line, options)])), wanted, "{line}");
    }
    assert_eq!(short(&policy, shell(&[("git push", 0), ("git push -f", 0)])), "deny rule-rejected");
    let unread = json!({"event": "tool_call", "tool": "Bash", "input": {"command": "git ((("}});
    assert_eq!(short(&policy, unread), "deny rule-rejected?", "a line that nobody reads may be any");
}

#[test]
fn a_command_of_npm_is_known_by_the_beginning_of_its_name() {
    let when = json!({"and": [is("command.program", "npm"), is("command.subcommand", "publish")]});
    let policy = policy("permit", &json!([forbid("no-publish", &when)]));
    for (line, options, wanted) in [
        ("npm publish", 0, "deny rule-rejected"),
        ("npm publis", 0, "deny rule-rejected"),
        ("npm p", 0, "-"),
        ("npm run", 0, "-"),
        ("npm --tag latest publish", 1, "deny rule-rejected?"),
        ("npm --silent publish", 1, "deny rule-rejected"),
        ("npm pack", 0, "-"),
    ] {
        assert_eq!(short(&policy, shell(&[(line, options)])), wanted, "{line}");
    }
}

#[test]
fn names_are_the_parts_of_words_and_of_what_decides_before() {
    let names = json!({"of": ["containsAny", {"l": get("command.names"), "r": {"set": [text("prod")]}}]});
    let policy = policy("permit", &json!([forbid("no-prod", &names)]));
    let check = |lines: &[(&str, u32)], wanted: &str| assert_eq!(short(&policy, shell(lines)), wanted, "{lines:?}");
    for line in ["kubectl -nprod x", "ssh db-prod1.eu", "ssh me@PROD", "terraform -chdir=a/prod/b"] {
        check(&[(line, 0)], "deny rule-rejected");
    }
    check(&[("ls", 0), ("cd infra/prod", 0), ("terraform apply", 0)], "deny rule-rejected");
    check(&[("rsync products x", 0), ("docker build -t reproduction", 0)], "-");
    check(&[("ssh $", 0)], "-");
}

#[test]
fn a_denial_names_the_rule_and_says_why() {
    let decision = decided(&no_force(), shell(&[("git push -f", 0), ("ls", 0)]));
    assert_eq!(decision.reason, "rule no-force forbids `git push -f`: no");
    assert_eq!(decision.gate.unwrap().word(), "rules");
    let reason = decision.admission.unwrap();
    assert_eq!(reason.canonical(), r#"{"kind":"rule_rejected","rule_name":"no-force","rule_reason":"no."}"#);
}

#[test]
fn a_denial_names_the_tool_of_a_server_and_not_its_arguments() {
    let call = |input: &Value| json!({"event": "tool_call", "tool": "draft", "server": "desk", "input": input});
    let rule = forbid("r", &of("==", "input.version", &text("1.0.0")));
    for input in [json!({"version": "1.0.0"}), json!({"version": "1.0.0", "notes": "first"})] {
        let denied = decided(&policy("permit", &json!([rule])), call(&input));
        assert_eq!(denied.reason, "rule r forbids draft: no");
        let reason = denied.admission.unwrap().canonical();
        assert_eq!(reason, r#"{"kind":"rule_rejected","rule_name":"r","rule_reason":"no."}"#);
        assert_eq!(decided(&policy("deny", &json!([])), call(&input)).reason, "no rule permits draft");
    }
    let paths = json!(["a.rs", ".env"].map(|path| json!({"written": path, "resolved": path, "access": "write"})));
    let patch = json!({"event": "tool_call", "tool": "apply_patch", "input": {}, "reading": {"paths": paths}});
    let denied = decided(&policy("permit", &json!([forbid("env", &is("path.name", ".env"))])), patch);
    assert_eq!(denied.reason, "rule env forbids apply_patch of `.env`: no");
}

#[test]
fn effects_and_ways_on_are_the_rules_own() {
    let rules = json!([
        {"id": "ask", "forbids": "ask", "reason": "it is dear", "recovery": "Make it cheap.", "action": {"is": "Edit"}},
        {"id": "warn", "forbids": "warn", "action": {"is": "Read"}},
    ]);
    let policy = policy("permit", &rules);
    let call = |tool| json!({"event": "tool_call", "tool": tool, "input": {}});
    let asked = decided(&policy, call("Edit"));
    assert_eq!((asked.effect, asked.code), (Effect::Ask, Some(Code::RuleRejected)));
    assert_eq!(asked.reason, "rule ask leaves Edit to the user: it is dear");
    assert!(asked.recovery.starts_with("Make it cheap. Or ask the user"), "{}", asked.recovery);
    let warned = decided(&policy, call("Read"));
    assert_eq!(
        (warned.effect, warned.reason.as_str()),
        (Effect::Warn, "rule warn advises against Read: it forbids such calls")
    );
    assert_eq!(short(&policy, call("Grep")), "-");
}

#[test]
fn where_the_default_is_to_deny_each_part_needs_a_permit() {
    let rules = json!([
        {"id": "cargo", "action": {"is": "Bash"}, "when": is("command.program", "cargo")},
        {"id": "look", "action": {"in": ["@read"]}},
    ]);
    let policy = policy("deny", &rules);
    assert_eq!(short(&policy, shell(&[("cargo test", 0)])), "-");
    assert_eq!(short(&policy, shell(&[("cargo test", 0), ("rm x", 0)])), "deny no-rule-matched");
    assert_eq!(short(&policy, shell(&[("cargo $", 0)])), "-");
    assert_eq!(short(&policy, shell(&[("./cargo test", 0)])), "deny no-rule-matched", "it may be another program");
    let call = |tool, server: Option<&str>| json!({"event": "tool_call", "tool": tool, "server": server, "input": {}});
    assert_eq!(short(&policy, call("Read", None)), "-");
    assert_eq!(short(&policy, call("Write", None)), "deny no-rule-matched");
    assert_eq!(short(&policy, call("Read", Some("other"))), "deny no-rule-matched");
}

#[test]
fn paths_are_seen_under_each_name_they_have() {
    let like = json!({"like": [get("path.file"), [".env", null]]});
    let when = json!({"and": [{"has": [{"var": "context"}, "path"]}, like, get("path.reads")]});
    let policy = policy("permit", &json!([forbid("env", &when)]));
    let read = |written: &str, resolved: Option<&str>| {
        json!({"event": "tool_call", "tool": "Read", "input": {"file_path": written},
            "reading": {"paths": [{"written": written, "resolved": resolved, "access": "read"}]}})
    };
    assert_eq!(short(&policy, read("a.rs", Some("a.rs"))), "-");
    assert_eq!(short(&policy, read(".env.local", Some(".env.local"))), "deny rule-rejected");
    assert_eq!(short(&policy, read("link", Some("x/.env"))), "deny rule-rejected");
    assert_eq!(short(&policy, read(".env", Some("x/real"))), "deny rule-rejected");
    assert_eq!(short(&policy, read("//", None)), "deny rule-rejected?");
    assert_eq!(short(&policy, shell(&[("cat <a", 0), ("cat <.env", 0)])), "deny rule-rejected");
    assert_eq!(short(&policy, shell(&[("tee >.env", 0)])), "-", "it reads nothing there");
    let of_server = |path: &str| json!({"event": "tool_call", "tool": "get", "server": "fs", "input": {"at": [path]}});
    assert_eq!(short(&policy, of_server("src/a.rs")), "-");
    assert_eq!(short(&policy, of_server("./src/.env")), "deny rule-rejected?");
}

#[test]
fn arguments_callers_and_times_are_seen() {
    let cases = [
        (of(">", "input.timeout", &json!({"v": 5})), "deny rule-rejected"),
        (of(">", "input.timeout", &json!({"v": 9})), "-"),
        (of("<", "time", &json!({"v": 9})), "deny rule-rejected?"),
        (is("access", "normal"), "deny rule-rejected"),
        (json!({"not": {"get": [{"var": "principal"}, "main"]}}), "-"),
    ];
    for (when, wanted) in cases {
        let policy = policy("permit", &json!([forbid("x", &when)]));
        let event = json!({"event": "tool_call", "tool": "Bash", "input": {"timeout": 7}, "labels": ["read"]});
        assert_eq!(short(&policy, event.clone()), wanted, "{when}");
        if wanted == "deny rule-rejected?" {
            let mut later = event;
            later["time"] = json!(10);
            assert_eq!(short(&policy, later), "-");
        }
    }
    let when = of(">", "input.timeout", &json!({"v": 5}));
    let policy = policy("permit", &json!([forbid("x", &when)]));
    let event = json!({"event": "tool_call", "tool": "Bash", "input": {"timeout": "7"}, "labels": ["read"]});
    assert_eq!(short(&policy, event), "deny rule-rejected?", "a tool may take the text for a number");
}

#[test]
fn rules_judge_commands_to_the_guard_and_the_end_of_a_turn() {
    let stop = json!({"id": "hold", "forbids": "deny", "reason": "not yet.", "action": {"is": "phasegate/stop"}});
    let own = json!({"id": "own", "forbids": "ask", "action": {"is": "phasegate/plan_skill_safety"}, "when": is("input.tool", "gh")});
    let calls = json!({"id": "calls", "forbids": "deny", "action": {"in": ["call"]}});
    let policy = policy("deny", &json!([stop, own, calls]));
    let command = |name: &str, args: Value| json!({"event": "command", "by": "agent", "name": name, "args": args});
    let register = command("plan_skill_safety", json!({"tool": "gh", "commands": {"gh a": "READ"}}));
    let denied = decided(&policy, register);
    assert_eq!(
        (denied.effect, denied.reason.as_str()),
        (Effect::Deny, "rule own leaves plan_skill_safety to the user: it forbids such calls")
    );
    // No rule is about it, and the default is about calls alone.
    let unknown = decided(&policy, command("activate_skill", json!({"skill_name": "x"})));
    assert_eq!(unknown.code, Some(Code::SkillUnknown));
    let (mut state, facts) = (State::default(), Facts::new());
    let mut stops = |can_hold: bool| {
        let event = json!({"event": "stop", "can_hold": can_hold, "interactive": false});
        let outcome = step(&policy, &state, &Event::from_value(event).unwrap(), &facts);
        outcome.apply_to(&mut state);
        let held = outcome.decision.map(|decision| decision.reason);
        (held, outcome.result.is_some())
    };
    assert_eq!(stops(false), (None, false), "the platform would do nothing with a text");
    for _ in 0..3 {
        assert_eq!(stops(true), (Some("rule hold forbids stop: not yet".to_string()), false));
    }
    assert_eq!(stops(true), (None, true), "it ends, and the person is told");
}

/// A policy of one rule and the skill `work`, which may have to be finished.
fn with_skill(rule: Value, finish: bool) -> Policy {
    let level = json!({"rules": {"default": "permit", "rules": [rule]}});
    let done = json!({"fact": {"fact": "file:notes.md", "is": {"exists": true}, "text": "file notes.md exists"}});
    let done_when = if finish { done } else { Value::Null };
    let phase = json!({"name": "one", "do": "", "allowed": [], "forbidden": [], "requires": null,
        "done_when": done_when, "optional": "no", "leave": "on_call", "next": [], "back": []});
    let skill = json!({"name": "work", "description": "", "version": "w", "seed": false, "mode": "block", "scope": "session",
        "finish_required": finish, "unlisted": "allow", "leave_skill": "agent", "servers": [], "tools": [], "global_forbidden": [],
        "phases": [phase]});
    serde_json::from_value(json!({"version": "v", "skills": [skill], "rules": [level]})).unwrap()
}

#[test]
fn a_rule_over_the_end_of_a_turn_holds_while_a_run_that_the_agent_halted_stands_still() {
    let policy = with_skill(
        json!({"id": "hold", "forbids": "deny", "reason": "not yet", "action": {"is": "phasegate/stop"}}),
        true,
    );
    let mut state = State::default();
    let mut play = |event: Value| {
        let outcome = step(&policy, &state, &Event::from_value(event).unwrap(), &Facts::new());
        outcome.apply_to(&mut state);
        outcome.decision.map(|decision| (decision.effect, decision.reason))
    };
    play(json!({"event": "command", "by": "agent", "name": "activate_skill", "args": {"skill_name": "work"}}));
    play(json!({"event": "command", "by": "agent", "name": "manage_skill", "args": {"action": "halt", "why": "x"}}));
    let stop = json!({"event": "stop", "can_hold": true, "interactive": false});
    assert_eq!(play(stop), Some((Effect::Deny, "rule hold forbids stop: not yet".to_string())));
}

#[test]
fn who_leaves_a_skill_without_its_name_is_judged_all_the_same() {
    let named = json!({"and": [{"has": [get("input"), "skill_name"]}, is("input.skill_name", "work")]});
    let rule = json!({"id": "stay", "forbids": "deny", "action": {"is": "phasegate/deactivate_skill"}, "when": named});
    let policy = with_skill(rule, false);
    let command = |name: &str, args: Value| {
        Event::from_value(json!({"event": "command", "by": "agent", "name": name, "args": args})).unwrap()
    };
    let begin = command("activate_skill", json!({"skill_name": "work"}));
    let state = step(&policy, &State::default(), &begin, &Facts::new()).state_after(&State::default());
    assert_eq!(state.live_runs().count(), 1);
    let leave = [
        ("deactivate_skill", json!({})),
        ("deactivate_skill", json!({"skill_name": "work"})),
        ("manage_skill", json!({"action": "complete"})),
    ];
    for (name, args) in leave {
        let outcome = step(&policy, &state, &command(name, args), &Facts::new());
        assert_eq!(outcome.decision.unwrap().code, Some(Code::RuleRejected), "{name}");
    }
}
