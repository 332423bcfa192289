//! MCP servers that a client starts in another way than before: told, and no evidence until a person accepts it.

use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

const SKILL: &str = "
skill: careful
mode: block
phases:
  check: { allowed: [mcp__lsp__check], done_when: { ok: mcp__lsp__check } }
  write: { allowed: [Edit] }
";

fn world(servers: &Value) -> World {
    let world = World::guarded("block");
    world.write(".phasegate/skills/careful.yaml", SKILL);
    world.write(".mcp.json", &json!({ "mcpServers": servers }).to_string());
    world
}

fn server(command: &str) -> Value {
    json!({"lsp": {"command": command, "args": ["--stdio"]}})
}

/// What the client shows its user when the session starts.
fn told(world: &World, session: &str) -> String {
    let answer: Value = serde_json::from_slice(&world.start(session).stdout).unwrap_or_default();
    answer["systemMessage"].as_str().unwrap_or_default().to_owned()
}

/// What the guard says to an edit after the server's tool has succeeded in this session.
fn edit_after_check(world: &World, session: &str) -> std::process::Output {
    world.call(session, "s", "Skill", json!({"skill": "careful"}));
    world.call(session, "1", "mcp__lsp__check", json!({}));
    world.ok(session, "1", "mcp__lsp__check", json!({}));
    world.call(session, "2", "Edit", json!({"file_path": "a.md", "old_string": "x", "new_string": "y"}))
}

fn is_evidence(world: &World, session: &str) -> bool {
    let answer = edit_after_check(world, session);
    if !matches!(reply(&answer), Reply::Denied(_)) {
        return true;
    }
    denied(&answer, "not-done");
    false
}

#[test]
fn a_server_that_is_started_in_another_way_gives_no_evidence_until_a_person_accepts_it() {
    for (path, other, what) in [
        (".mcp.json", json!({"mcpServers": server("/tmp/forger")}), "`lsp` is started in another way"),
        (".mcp.json", json!({"mcpServers": {"lsp": {"url": "http://127.0.0.1:1"}}}), "`lsp` is started in another way"),
        ("../home/.claude.json", json!({"mcpServers": server("/tmp/forger")}), "`lsp` is started in another way"),
        (".pi/mcp.json", Value::from("["), "settings cannot be read"),
    ] {
        let world = world(&server("lsp-server"));
        assert_eq!(told(&world, "first"), "");
        assert!(is_evidence(&world, "first"));
        let text = other.as_str().map_or_else(|| other.to_string(), str::to_owned);
        world.write(path, &text);
        for session in ["second", "third"] {
            assert!(told(&world, session).contains(what), "{path}");
            assert!(!is_evidence(&world, session), "{path}");
        }
        let doctor = world.phasegate(&["doctor"]).output().unwrap();
        assert!(String::from_utf8(doctor.stdout).unwrap().contains(what), "{path}");
        let answer = world.run(&["reload"], 0);
        assert!(answer.contains(what), "{path}: {answer}");
        assert_eq!(told(&world, "fourth"), "", "{path}");
        assert!(is_evidence(&world, "fourth"), "{path}");
        // A session that had begun before counts again, too.
        world.call("third", "7", "mcp__lsp__check", json!({}));
        world.ok("third", "7", "mcp__lsp__check", json!({}));
        let edit = json!({"file_path": "a.md", "old_string": "x", "new_string": "y"});
        assert!(!matches!(reply(&world.call("third", "8", "Edit", edit)), Reply::Denied(_)), "{path}");
    }
}

#[test]
fn a_new_server_gives_no_evidence_and_others_still_do() {
    let world = world(&json!({"fs": {"command": "fs"}}));
    assert_eq!(told(&world, "first"), "");
    world.write(".mcp.json", &json!({"mcpServers": {"fs": {"command": "fs"}, "lsp": {"command": "l"}}}).to_string());
    assert!(told(&world, "second").contains("the MCP server `lsp` is new"));
    assert!(!is_evidence(&world, "second"));
}

#[test]
fn what_changes_nothing_of_how_a_server_is_started_is_not_told() {
    let world = world(&server("lsp-server"));
    assert_eq!(told(&world, "first"), "");
    let same = json!({"lsp": {"args": ["--stdio"], "command": "lsp-server", "disabled": false}});
    world.write(".mcp.json", &json!({ "mcpServers": same }).to_string());
    assert_eq!(told(&world, "second"), "");
    assert!(is_evidence(&world, "second"));
    world.write(".mcp.json", "{}");
    assert_eq!(told(&world, "third"), "");
}
