//! The bridge: lines in, lines out, each frame decided as by the hook.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::support::World;

/// A bridge and its plugin's end of it.
pub(crate) struct Bridge {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Bridge {
    fn start(world: &World, variables: &[(&str, &str)]) -> Self {
        Self::of(world, "claude-code", variables)
    }

    pub(crate) fn of(world: &World, platform: &str, variables: &[(&str, &str)]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_phasegate"));
        command.args(["serve", "--platform", platform]).current_dir(world.root()).env_clear();
        command.envs(world.variables()).env_remove("CLAUDE_PROJECT_DIR").envs(variables.iter().copied());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let (input, output) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        Self { child, input, output }
    }

    /// A bridge that was greeted.
    fn greeted(world: &World) -> Self {
        let mut bridge = Self::start(world, &[]);
        bridge.say(&hello(world));
        let hello = bridge.read()["hello"].clone();
        assert_eq!((&hello["protocol"], &hello["platform"]), (&json!(1), &json!("claude-code")));
        assert!(hello["deadline_ms"].as_u64().unwrap() > 0 && hello["largest"].as_u64().unwrap() > 0);
        bridge
    }

    pub(crate) fn say(&mut self, line: &Value) {
        self.write(&line.to_string());
    }

    fn write(&mut self, line: &str) {
        let input = self.input.as_mut().unwrap();
        input.write_all(format!("{line}\n").as_bytes()).unwrap();
        input.flush().unwrap();
    }

    pub(crate) fn read(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: `{line}`"))
    }

    /// The replies to these frames, sent without waiting, by their place.
    fn replies(&mut self, frames: &[Value]) -> Vec<Value> {
        for (at, frame) in frames.iter().enumerate() {
            self.say(&json!({"id": at, "event": frame}));
        }
        let answers: BTreeMap<_, _> = frames
            .iter()
            .map(|_| {
                let answer = self.read();
                (answer["id"].as_u64().unwrap(), answer["reply"].clone())
            })
            .collect();
        assert_eq!(answers.len(), frames.len());
        answers.into_values().collect()
    }

    /// Closes its input; its exit status, and what it says last.
    fn end(mut self) -> (Option<i32>, Vec<String>) {
        drop(self.input.take());
        let last = self.output.by_ref().lines().map(Result::unwrap).collect();
        (self.child.wait().unwrap().code(), last)
    }
}

impl Drop for Bridge {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hello(world: &World) -> Value {
    json!({"hello": {"protocol": 1, "platform": "claude-code", "client": "9.9.9", "directory": world.root()}})
}

fn frame(world: &World, session: &str, event: &str, fields: Value) -> Value {
    let mut frame = json!({"session_id": session, "cwd": world.root(), "hook_event_name": event});
    frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    frame
}

fn call(world: &World, session: &str, id: &str, tool: &str, input: Value) -> Value {
    frame(world, session, "PreToolUse", json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}))
}

fn read_then_edit(world: &World, session: &str) -> Vec<Value> {
    let input = json!({"file_path": "a.rs"});
    let ended =
        json!({"tool_name": "Read", "tool_input": input, "tool_use_id": "r", "tool_response": {"type": "text"}});
    vec![
        frame(world, session, "SessionStart", json!({"source": "startup"})),
        call(world, session, "s", "Skill", json!({"skill": "careful"})),
        call(world, session, "e1", "Edit", json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"})),
        call(world, session, "r", "Read", input),
        frame(world, session, "PostToolUse", ended),
        call(world, session, "e2", "Edit", json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"})),
    ]
}

fn denies(reply: &Value) -> bool {
    reply["hookSpecificOutput"]["permissionDecision"] == "deny"
}

#[test]
fn frames_of_a_session_are_decided_in_the_order_of_their_lines_and_sessions_side_by_side() {
    let world = World::guarded("block");
    let mut bridge = Bridge::greeted(&world);
    let sessions: Vec<String> = (0..6).map(|number| format!("s{number}")).collect();
    let scripts: Vec<_> = sessions.iter().map(|session| read_then_edit(&world, session)).collect();
    let mixed: Vec<Value> = (0..6).flat_map(|step| scripts.iter().map(move |script| script[step].clone())).collect();
    let replies = bridge.replies(&mixed);
    for (at, reply) in replies.iter().enumerate() {
        assert_eq!(denies(reply), at / sessions.len() == 2, "{at}: {reply}");
    }
    assert_eq!(bridge.end(), (Some(0), Vec::new()));
    let verified = world.run(&["audit", "verify"], 0);
    assert!(verified.starts_with("7 journals, "), "{verified}");
}

#[test]
fn a_probe_says_what_calls_would_be_answered_and_moves_nothing() {
    let world = World::guarded("block");
    let mut bridge = Bridge::greeted(&world);
    let script = read_then_edit(&world, "s");
    bridge.replies(&script[..2]);
    let probe = json!({"id": 9, "probe": [script[2], script[3]]});
    for _ in 0..2 {
        bridge.say(&probe);
        let answer = bridge.read();
        assert_eq!((&answer["id"], &answer["probed"][1]), (&json!(9), &json!({"effect": "allow"})));
        let edit = &answer["probed"][0];
        assert_eq!((&edit["effect"], &edit["code"]), (&json!("deny"), &json!("not-done")), "{answer}");
    }
    assert!(denies(&bridge.replies(&script[2..])[0]));
    bridge.say(&probe);
    assert_eq!(bridge.read()["probed"][0]["effect"], "allow");
    bridge.say(&json!({"id": 10, "probe": [{"no": "call"}]}));
    assert_eq!(bridge.read()["error"]["code"], "host-unknown");
}

#[test]
fn a_line_that_is_not_understood_is_answered_with_an_error_and_the_next_one_goes_on() {
    let world = World::guarded("block");
    let mut bridge = Bridge::greeted(&world);
    let cases = [
        ("no json", Value::Null, "bad-input"),
        (r#"{"id": 7}"#, json!(7), "bad-input"),
        (r#"{"id": 8, "event": {}, "more": 1}"#, json!(8), "bad-input"),
        (r#"{"id": 9, "sing": "a song"}"#, json!(9), "bad-input"),
        ("[]", Value::Null, "bad-input"),
        ("\u{0}", Value::Null, "bad-input"),
    ];
    for (line, id, code) in cases {
        bridge.write(line);
        let answer = bridge.read();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&id, &json!(code)), "{line}");
        assert!(answer["error"]["text"].as_str().unwrap().starts_with("phasegate [bad-input]: "), "{answer}");
    }
    bridge.write(&"x".repeat(33 * 1024 * 1024));
    assert_eq!(bridge.read()["error"]["code"], "input-too-large");
    bridge.say(&json!({"ping": 3}));
    assert_eq!(bridge.read(), json!({"pong": 3}));
    // An event that the platform never sends is refused in the platform's own form.
    let replies = bridge.replies(&[json!({"some": "event"}), json!("text")]);
    assert!(replies.iter().all(|reply| reply.is_object()), "{replies:?}");
}

#[test]
fn another_protocol_platform_or_greeting_is_refused_and_ends_the_bridge() {
    let world = World::guarded("block");
    let other = |key: &str, value: Value| {
        let mut hello = hello(&world);
        hello["hello"][key] = value;
        hello
    };
    for line in [other("protocol", json!(2)), other("platform", json!("else")), json!({"id": 1, "event": {}})] {
        let mut bridge = Bridge::start(&world, &[]);
        bridge.say(&line);
        assert_eq!(bridge.read()["error"]["code"], "bad-input", "{line}");
        assert_eq!(bridge.end().0, Some(2));
    }
}

/// What is removed from a project while its bridge runs, in this order.
const REMOVED: [[&str; 2]; 2] = [["project/.phasegate", "state"], ["state", "project/.phasegate"]];

#[test]
fn a_bridge_keeps_a_project_guarded_whose_configs_and_state_are_both_removed() {
    for (mode, removed) in [("block", REMOVED[0]), ("block", REMOVED[1]), ("warn", REMOVED[0])] {
        let world = World::guarded(mode);
        let inner = world.root().join("inner/.git");
        std::fs::create_dir_all(&inner).unwrap();
        let mut bridge = Bridge::greeted(&world);
        let script = read_then_edit(&world, "s");
        bridge.replies(&script[..2]);
        for path in removed {
            std::fs::remove_dir_all(world.root().parent().unwrap().join(path)).unwrap();
        }
        let elsewhere = |session: &str, folder: Value| {
            let mut call =
                call(&world, session, "e", "Edit", json!({"file_path": "a", "old_string": "a", "new_string": "b"}));
            call["cwd"] = folder;
            call
        };
        let calls = [
            script[2].clone(),
            elsewhere("s", json!(world.home())),
            elsewhere("new", json!(world.root().join("inner"))),
            elsewhere("new", json!(world.root())),
        ];
        for reply in bridge.replies(&calls) {
            assert_eq!(denies(&reply), mode == "block", "{reply}");
            assert!(reply.to_string().contains("policy-missing"), "{reply}");
        }
        assert_eq!(bridge.replies(&[elsewhere("other", json!(world.home()))]), [Value::Null], "it was never guarded");
    }
}

#[test]
fn a_bridge_is_told_what_the_one_before_it_said_of_its_project() {
    let world = World::guarded("block");
    let mut bridge = Bridge::greeted(&world);
    let script = read_then_edit(&world, "s");
    bridge.say(&json!({"id": 1, "event": script[0]}));
    let guarded = bridge.read()["guarded"].clone();
    assert_eq!(guarded, json!({"root": world.root(), "mode": "closed"}));
    bridge.say(&json!({"id": 2, "event": script[1]}));
    assert!(bridge.read()["guarded"].is_null(), "once is enough");
    drop(bridge);
    std::fs::remove_dir_all(world.root().join(".phasegate")).unwrap();
    std::fs::remove_dir_all(world.state()).unwrap();
    let mut hello = hello(&world);
    hello["hello"]["guarded"] = json!([guarded]);
    let mut bridge = Bridge::start(&world, &[]);
    bridge.say(&hello);
    bridge.read();
    assert!(denies(&bridge.replies(&script[2..3])[0]));
}

#[test]
fn an_answer_that_is_not_there_in_time_is_a_denial() {
    let world = World::guarded("block");
    let mut bridge = Bridge::start(&world, &[("PHASEGATE_DEADLINE_MS", "0")]);
    bridge.say(&hello(&world));
    assert_eq!(bridge.read()["hello"]["deadline_ms"], 0);
    bridge.say(&json!({"id": 1, "event": call(&world, "s", "c", "Edit", json!({}))}));
    let answer = bridge.read();
    assert!(denies(&answer["reply"]) && answer.to_string().contains("deadline"), "{answer}");
}

#[test]
fn an_answer_that_is_asked_for_now_is_in_the_plugins_file_before_it_is_said() {
    let world = World::guarded("block");
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("answers");
    std::fs::write(&file, "").unwrap();
    let mut hello = hello(&world);
    hello["hello"]["answers"] = json!({"file": file, "key": "k"});
    let mut bridge = Bridge::start(&world, &[]);
    bridge.say(&hello);
    assert_eq!(bridge.read()["hello"]["answers"], true);
    for (id, now) in [(1, true), (2, false), (3, true)] {
        bridge.say(&json!({"id": id, "event": call(&world, "s", "c", "Edit", json!({})), "now": now}));
        let said = bridge.read();
        let text = std::fs::read_to_string(&file).unwrap();
        let (digest, answer) = text.lines().last().unwrap().split_once(' ').unwrap();
        assert_eq!(digest, phasegate_runtime::digest::sha256_hex(format!("k{answer}k").as_bytes()));
        assert_eq!(serde_json::from_str::<Value>(answer).unwrap() == said, now, "{answer}");
    }
    // Without a file that can be used, what is said is enough.
    for answers in [Value::Null, json!({"file": folder.path().join("none"), "key": "k"})] {
        hello["hello"]["answers"] = answers;
        let mut bridge = Bridge::start(&world, &[]);
        bridge.say(&hello);
        assert!(bridge.read()["hello"]["answers"].is_null());
        bridge.say(&json!({"id": 1, "event": call(&world, "s", "c", "Edit", json!({})), "now": true}));
        assert_eq!(bridge.read()["id"], 1);
    }
}

#[test]
fn the_heartbeat_says_which_bridge_was_started_last_and_is_kept_of_guarded_projects_only() {
    let world = World::unguarded();
    let mut bridge = Bridge::greeted(&world);
    assert_eq!(bridge.replies(&[call(&world, "s", "c", "Edit", json!({}))]), [Value::Null]);
    assert_eq!(bridge.end().0, Some(0));
    assert!(!world.state().exists());

    world.run(&["init", "claude-code", "--mode", "block"], 0);
    assert_eq!(Bridge::greeted(&world).end().0, Some(0));
    let beat: Value =
        serde_json::from_slice(&std::fs::read(world.state_file("bridge-claude-code.json")).unwrap()).unwrap();
    assert_eq!((&beat["client_version"], &beat["ended"]), (&json!("9.9.9"), &json!(true)));
}

/// What the doctor says of the plugin of the first platform that has one.
fn plugin_finding(world: &World, platform: &str) -> Value {
    let output = world.phasegate(&["--json", "doctor"]).output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of_platform = |section: &&Value| section["about"] == platform;
    let sections = said["sections"].as_array().or_else(|| said.as_array()).unwrap();
    let findings = sections.iter().find(of_platform).unwrap()["findings"].as_array().unwrap();
    let plugin = |finding: &&Value| finding["what"].as_str().unwrap().starts_with("the plugin");
    findings.iter().find(plugin).unwrap().clone()
}

#[test]
fn the_doctor_says_when_a_plugin_was_last_at_work() {
    for adapter in phasegate_adapters::all().into_iter().filter(|adapter| adapter.bridged()) {
        let world = World::unguarded();
        world.run(&["init", adapter.id(), "--mode", "block"], 0);
        let never = plugin_finding(&world, adapter.id());
        assert!(never["what"].as_str().unwrap().contains("has never run"), "{never}");
        assert_eq!(never["level"], "warning");

        let mut bridge = Bridge::of(&world, adapter.id(), &[]);
        let mut hello = hello(&world);
        hello["hello"]["platform"] = adapter.id().into();
        bridge.say(&hello);
        assert!(bridge.read()["hello"].is_object());
        bridge.say(&json!({"ping": 1}));
        bridge.read();
        let works = plugin_finding(&world, adapter.id());
        assert!(works["what"].as_str().unwrap().starts_with("the plugin runs in 9.9.9"), "{works}");
        assert_eq!(bridge.end().0, Some(0));
        let worked = plugin_finding(&world, adapter.id());
        assert!(worked["what"].as_str().unwrap().starts_with("the plugin last ran in 9.9.9"), "{worked}");
    }
}
