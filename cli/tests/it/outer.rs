//! What a session may do to other projects than its own, and what one may do that an agent of another project started.

use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

const SESSION: &str = "CLAUDE_CODE_SESSION_ID";

/// A project beside that of the world, with this config; without one nothing guards it.
fn beside(world: &World, name: &str, config: Option<&str>) -> PathBuf {
    let root = world.root().parent().unwrap().join(name);
    std::fs::create_dir_all(root.join(".git")).unwrap();
    if let Some(config) = config {
        std::fs::create_dir(root.join(".phasegate")).unwrap();
        std::fs::write(root.join(".phasegate/config.yaml"), config).unwrap();
    }
    root
}

/// A frame of a session in this project.
pub(crate) fn frame_in(world: &World, root: &Path, session: &str, event: &str, fields: &Value) -> assert_cmd::Command {
    let mut frame = json!({"session_id": session, "cwd": root, "hook_event_name": event});
    frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let mut hook = world.phasegate(&["hook", "claude-code"]);
    hook.env("CLAUDE_PROJECT_DIR", root).current_dir(root).write_stdin(frame.to_string());
    hook
}

pub(crate) fn call_in(world: &World, root: &Path, session: &str, tool: &str, input: &Value) -> Output {
    let fields = json!({"tool_name": tool, "tool_input": input, "tool_use_id": "t"});
    frame_in(world, root, session, "PreToolUse", &fields).output().unwrap()
}

#[test]
fn a_project_in_warn_mode_is_strict_about_what_others_depend_on() {
    let world = World::guarded("block");
    world.run(&["init", "claude-code", "--mode", "block"], 0);
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    let warns = beside(&world, "warns", Some("mode: warn\n"));
    frame_in(&world, &warns, "w", "SessionStart", &json!({"source": "startup"})).output().unwrap();
    let write = |path: PathBuf| call_in(&world, &warns, "w", "Write", &json!({"file_path": path, "content": ""}));
    for path in [
        world.root().join(".phasegate/config.yaml"),
        world.root().join(".claude/settings.json"),
        world.home().join(".claude/settings.json"),
        world.state().join("x"),
        PathBuf::from(env!("CARGO_BIN_EXE_phasegate")),
    ] {
        denied(&write(path), "self-protection");
    }
    for line in [
        format!("sed -i s/block/warn/ {}", world.root().join(".phasegate/config.yaml").display()),
        "sed -i s/block/warn/ ../project/.phasegate/*.yaml".to_owned(),
        format!("rm -rf {}", world.state().display()),
        "phasegate hook claude-code < frame".to_owned(),
    ] {
        denied(&call_in(&world, &warns, "w", "Bash", &json!({"command": line})), "self-protection");
    }
    for path in [warns.join(".phasegate/config.yaml"), warns.join(".claude/settings.json")] {
        assert!(matches!(reply(&write(path)), Reply::Told(_)), "its own files are a warning");
    }
    assert_eq!(reply(&write(warns.join("notes.md"))), Reply::Silent);
    // Without a project in block mode nothing is denied.
    let alone = World::guarded("warn");
    alone.frame("s", "SessionStart", json!({"source": "startup"}));
    let input = json!({"file_path": alone.home().join(".claude/settings.json"), "content": ""});
    assert!(matches!(reply(&alone.call("s", "t", "Write", input)), Reply::Told(_)));
}

#[test]
fn no_line_starts_a_client_where_the_text_alone_decides() {
    let world = World::guarded("block");
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    let line = |line: &str| world.call("s", "t", "Bash", json!({"command": line}));
    for client in
        ["claude -p x", "opencode run x", "pi -p x", "npx -y opencode-ai run x", "codex exec x", "codex mcp add x -- y"]
    {
        denied(&line(client), "Use a subagent of this session");
    }
    for asks in ["claude --version", "claude mcp --help", "npm ls @anthropic-ai/claude-code", "gemini -p x"] {
        assert_eq!(reply(&line(asks)), Reply::Silent, "{asks}");
    }
}

/// A client that a program of session `one` started, as a shell that starts the hook; `named`: with that session's variable.
#[cfg(target_os = "linux")]
fn below(world: &World, root: &Path, event: &str, fields: &Value, named: bool) -> Output {
    let session = root.file_name().unwrap().to_str().unwrap();
    let hook = format!("{SESSION}={session} '{}' hook claude-code; exit $?", env!("CARGO_BIN_EXE_phasegate"));
    let mut frame = json!({"session_id": session, "cwd": root, "hook_event_name": event});
    frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let mut shell = std::process::Command::new("/bin/sh");
    shell.args(["-c", &hook]).current_dir(root).env_clear().envs(world.variables()).env("CLAUDE_PROJECT_DIR", root);
    shell.envs(named.then_some((SESSION, "one")));
    assert_cmd::Command::from(shell).write_stdin(frame.to_string()).output().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn a_client_below_one_of_another_project_only_reads_while_a_run_in_block_mode_is_live() {
    for mode in ["block", "warn"] {
        let world = World::guarded(mode);
        world.frame("one", "SessionStart", json!({"source": "startup"}));
        world.call("one", "t0", "Skill", json!({"skill": "careful"}));
        world.ok("one", "t0", "Skill", json!({"skill": "careful"}));
        // From here on this test is the client of session `one`.
        let prompt = json!({"prompt": "go"});
        frame_in(&world, &world.root(), "one", "UserPromptSubmit", &prompt).env(SESSION, "one").output().unwrap();
        let write = ("Write", json!({"file_path": world.root().join("new.rs"), "content": ""}));
        let echo = ("Bash", json!({"command": "echo x > new.rs"}));
        let reads = [("Bash", json!({"command": "ls"})), ("Read", json!({"file_path": "a.rs"}))];
        for (name, config, named) in
            [("warns", Some("mode: warn\n"), false), ("blocks", Some("mode: block\n"), true), ("free", None, true)]
        {
            let root = beside(&world, name, config);
            below(&world, &root, "SessionStart", &json!({"source": "startup"}), named);
            let call = |(tool, input): &(&str, Value)| {
                let fields = json!({"tool_name": tool, "tool_input": input, "tool_use_id": "t"});
                below(&world, &root, "PreToolUse", &fields, named)
            };
            for changes in [&write, &echo] {
                if mode == "block" {
                    denied(&call(changes), "it is below session `one`");
                } else {
                    assert_eq!(reply(&call(changes)), Reply::Silent, "{name}");
                }
            }
            reads.iter().for_each(|reads| assert_eq!(reply(&call(reads)), Reply::Silent, "{name}"));
            // Another session there is free.
            frame_in(&world, &root, "free", "SessionStart", &json!({"source": "startup"})).output().unwrap();
            assert_eq!(reply(&call_in(&world, &root, "free", echo.0, &echo.1)), Reply::Silent, "{name}");
        }
    }
}
