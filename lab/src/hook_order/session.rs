//! The session that is played under a profiler: what hooks usually get.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use xtask::failure::{Failure, Result};
use xtask::process::{output, run as run_command};

/// Plays the session in a project in this folder. Returns the profile of each hook.
pub(super) fn play(guard: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let project = folder.join("project");
    std::fs::create_dir_all(&project).map_err(|error| Failure::file(&project, error))?;
    run_command(Command::new("git").args(["init", "--quiet"]).arg(&project))?;
    let set_up = ["init", "claude-code", "--skill", "lsp-refactor", "--mode", "block"];
    output(started(Command::new(guard).args(set_up), folder))?;
    let mut profiles = Vec::new();
    for (at, frame) in frames(&project).into_iter().enumerate() {
        let profile = folder.join(format!("profile-{at:02}"));
        let mut profiler = Command::new("valgrind");
        profiler.args(["--tool=callgrind", "--demangle=no"]);
        profiler.arg(format!("--callgrind-out-file={}", profile.display())).arg(guard).args(["hook", "claude-code"]);
        feed(started(&mut profiler, folder), &frame)?;
        profiles.push(profile);
    }
    Ok(profiles)
}

/// The program, in the project and with its own home.
fn started<'a>(command: &'a mut Command, folder: &Path) -> &'a mut Command {
    command.current_dir(folder.join("project")).env("HOME", folder.join("home"));
    command.env("PHASEGATE_STATE_DIR", folder.join("state")).env("PHASEGATE_MACHINE_DIR", folder.join("machine"))
}

fn feed(command: &mut Command, frame: &Value) -> Result {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let broken = |error: std::io::Error| Failure::new(format!("hook-order: valgrind: {error}"));
    let mut child = command.spawn().map_err(broken)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(frame.to_string().as_bytes()).map_err(broken)?;
    }
    child.wait().map(|_| ()).map_err(broken)
}

fn frames(project: &Path) -> Vec<Value> {
    let file = project.join("a.rs");
    let before = |tool: &str, input: Value, id: &str| json!({"hook_event_name": "PreToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": id});
    let after = |tool: &str, input: Value, id: &str, response: Value| {
        json!({"hook_event_name": "PostToolUse", "tool_name": tool, "tool_input": input, "tool_use_id": id,
            "tool_response": response})
    };
    let read = || json!({"file_path": file});
    let content = json!({"type": "text", "file": {"filePath": file, "content": "x", "numLines": 1}});
    let line = || json!({"command": "cargo test 2>&1 | tail -5; ls -la src", "description": "run the tests"});
    let printed = json!({"stdout": "", "stderr": "", "interrupted": false});
    let radius = "mcp__lsp__blast_radius";
    let mut frames = vec![
        json!({"hook_event_name": "SessionStart", "source": "startup"}),
        before("Skill", json!({"skill": "lsp-refactor"}), "1"),
        before("Read", read(), "2"),
        after("Read", read(), "2", content),
        before("Edit", json!({"file_path": file, "old_string": "a", "new_string": "b"}), "3"),
        before("Bash", line(), "4"),
        after("Bash", line(), "4", printed),
        json!({"hook_event_name": "UserPromptSubmit", "prompt": "go on"}),
        before(radius, json!({"changed_files": ["a.rs"]}), "5"),
        after(radius, json!({"changed_files": ["a.rs"]}), "5", json!([{"type": "text", "text": "ok"}])),
        json!({"hook_event_name": "Stop", "stop_hook_active": false}),
    ];
    for frame in &mut frames {
        if let Value::Object(fields) = frame {
            fields.insert("session_id".into(), json!("session"));
            fields.insert("transcript_path".into(), json!(project.join("transcript")));
            fields.insert("cwd".into(), json!(project));
            fields.insert("permission_mode".into(), json!("default"));
        }
    }
    frames
}
