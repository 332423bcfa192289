//! Absurd sizes: each is answered in time, and none counts as harmless.

use std::time::{Duration, Instant};

use phasegate_core::Code;
use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

/// How long an answer may take, in a build without optimisation on a busy machine: a path of 100 kB took 5 s.
const LIMIT: Duration = Duration::from_secs(3);

#[test]
fn an_absurd_call_is_denied_in_time() {
    let world = World::guarded("block");
    world.start("s");
    let long = "a/".repeat(50_000);
    let bash = |line: String| ("Bash", json!({"command": line}));
    let keys: Value =
        (0..30_000).map(|number| (format!("k{number}"), json!(number))).collect::<serde_json::Map<_, _>>().into();
    for (tool, input) in [
        ("Read", json!({"file_path": long})),
        ("Write", json!({"file_path": "a/../".repeat(20_000), "content": ""})),
        ("mcp__x__y", json!({"paths": vec!["src/a"; 30_000]})),
        ("mcp__x__y", keys),
        bash(format!("cat > x <<E\n{}E", "x y z\n".repeat(100_000))),
    ] {
        let begun = Instant::now();
        denied(&world.call("s", "t", tool, input), Code::InputTooLarge.id());
        assert!(begun.elapsed() < LIMIT, "{tool}: {:?}", begun.elapsed());
    }
    for line in [
        format!("rm {}", "*/".repeat(5_000)),
        format!("echo {}{}", "${a:-".repeat(3_000), "}".repeat(3_000)),
        format!("rm {}", "a/".repeat(7_000)),
    ] {
        let begun = Instant::now();
        let Reply::Denied(text) = reply(&world.call("s", "t", "Bash", json!({"command": line}))) else {
            panic!("{}", &line[..20]);
        };
        assert!(!text.contains("[deadline]") && begun.elapsed() < LIMIT, "{text}");
    }
    for line in ["find . -name \"*`*\" -exec rm {} ;", "find . -name '*`*' -exec echo {} \\;"] {
        let begun = Instant::now();
        world.call("s", "t", "Bash", json!({"command": line}));
        assert!(begun.elapsed() < LIMIT, "{line}: {:?}", begun.elapsed());
    }
}

/// No system knows a path of this length, and many a program gets a script or a message as one word.
#[test]
fn a_long_text_that_is_no_path_is_not_in_the_way() {
    let world = World::guarded("block");
    world.start("s");
    let text = "total = total + values.length\n".repeat(150);
    for line in [
        format!("node -e '{text}'"),
        format!("node -e \"{text} $x {text}\""),
        format!("node -e '{text}' \"$x\""),
        format!("git commit -m '{text}'"),
        format!("echo '{text}' > notes.txt"),
    ] {
        assert_eq!(reply(&world.call("s", "t", "Bash", json!({"command": line}))), Reply::Silent, "{}", &line[..20]);
    }
    for line in [
        format!("node -e '{text} fs.rmSync(\".phasegate/config.yaml\")'"),
        format!("node -e \"{text} $x {text} fs.rmSync('.phasegate/config.yaml')\""),
        format!("echo x > {}.phasegate/config.yaml", "a/../".repeat(1_000)),
        format!("rm {}$x/config.yaml", "a/../".repeat(1_000)),
    ] {
        denied(&world.call("s", "t", "Bash", json!({"command": line})), "protect");
    }
}

#[test]
fn an_absurd_message_does_not_become_a_session() {
    let world = World::guarded("block");
    let call = |fields: Value| {
        let mut frame = json!({"session_id": "s", "cwd": world.root(), "hook_event_name": "PreToolUse",
            "tool_name": "Read", "tool_input": {"file_path": "a"}, "tool_use_id": "t"});
        frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        world.hook(frame.to_string())
    };
    world.start("s");
    denied(&call(json!({"session_id": "s".repeat(1_000_000)})), Code::InputTooLarge.id());
    denied(&call(json!({"cwd": "/a".repeat(50_000)})), Code::InputTooLarge.id());
    assert_eq!(reply(&call(json!({}))), Reply::Silent);
    // A folder whose configs would have names that are too long has none.
    let unguarded = World::unguarded();
    let deep = "/a".repeat(2_040);
    let frame = json!({"session_id": "s", "cwd": deep, "hook_event_name": "PreToolUse", "tool_name": "Read",
        "tool_input": {"file_path": "a"}, "tool_use_id": "t"});
    assert_eq!(reply(&unguarded.hook(frame.to_string())), Reply::Silent);
}
