//! The driver of the real OpenCode client.

use std::process::Command;

use serde_json::{Value, json};

use super::bridged;
use super::client::{Client, Stage, argument, renamed};
use super::frame::Frame;
use super::later::Which;
use super::played::Said;
use super::scratch::Scratch;
use super::story::Call;
use super::terminal;
use xtask::failure::{Failure, Result};
use xtask::root::write;

/// The client's id, also its adapter's.
pub(crate) const ID: &str = "opencode";

/// The driver.
pub(crate) struct OpenCode;

impl Client for OpenCode {
    fn id(&self) -> &'static str {
        ID
    }

    fn program(&self) -> &'static str {
        "opencode"
    }

    fn skill_file(&self, name: &str) -> String {
        format!(".opencode/skill/{name}/SKILL.md")
    }

    fn native(&self, call: &Call, _scratch: &Scratch) -> (String, Value) {
        let names =
            [("file_path", "filePath"), ("old_string", "oldString"), ("new_string", "newString"), ("skill", "name")];
        let input = renamed(call, &names);
        let (name, input) = match call.tool.as_str() {
            "Agent" => {
                let kind = call.input.get("subagent_type").and_then(Value::as_str).unwrap_or("general");
                let mut agent = json!({
                    "description": argument(call, "description"), "prompt": argument(call, "prompt"),
                    "subagent_type": if kind == "general-purpose" { "general" } else { kind },
                });
                if let (Some(fields), Some(true)) =
                    (agent.as_object_mut(), call.input.get("run_in_background").and_then(Value::as_bool))
                {
                    fields.insert("background".into(), true.into());
                }
                ("task".to_string(), agent)
            }
            "Skill" => ("skill".to_string(), json!({"name": argument(call, "skill")})),
            own => match own.strip_prefix("mcp__lsp__") {
                Some(tool) => (format!("lsp_{tool}"), Value::Object(call.input.clone())),
                None => (own.to_lowercase(), input),
            },
        };
        (name, described(input, call))
    }

    /// What a line of the shell says, and its status, is a result like any other.
    fn tells_failure(&self, call: &Call) -> bool {
        call.tool != "Bash"
    }

    fn event(&self, required: &str) -> Option<String> {
        let own = match required {
            "SessionStart" => "event:session.created",
            "UserPromptSubmit" | "SubagentStart" => "chat.message",
            "UserPromptExpansion" => "command.execute.before",
            "PreToolUse" => "tool.execute.before",
            "PostToolUse" => "tool.execute.after",
            "PostToolUseFailure" => "event:message.part.updated",
            "Stop" | "SubagentStop" => "event:session.idle",
            _ => return None,
        };
        Some(own.to_string())
    }

    fn command(&self, stage: &Stage<'_>, port: u16) -> Result<Command> {
        let Stage { story, scratch, program } = *stage;
        let own = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
        let model = json!({"name": "Scripted", "tool_call": true, "limit": {"context": 200_000, "output": 8000}});
        let provider = json!({
            "npm": "@ai-sdk/anthropic", "name": "Scripted", "models": {"claude-scripted": model},
            "options": {"baseURL": format!("http://127.0.0.1:{port}/v1"), "apiKey": "none"},
        });
        let settings = json!({
            "model": "scripted/claude-scripted", "share": "disabled", "autoupdate": false, "snapshot": false,
            "enabled_providers": ["scripted"], "provider": {"scripted": provider},
            "mcp": {"lsp": {"type": "local", "command": [own, "lsp-fake"], "enabled": true}},
        });
        write(&scratch.path("home/.config/opencode/opencode.json"), &settings.to_string())?;
        // It installs a package into its folders when it starts, and waits for that where there is no network.
        write(&scratch.path("home/.npmrc"), "offline=true\nfetch-retries=0\n")?;
        searcher(scratch)?;
        let mut command = scratch.command(program);
        command.args(["run", "--format", "json", "--print-logs", "--log-level", "INFO"]);
        command.args(story.client_args.get(ID).into_iter().flatten());
        for name in ["OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD"] {
            command.env(name, "1");
        }
        command.env("TMPDIR", scratch.path("tmp"));
        command.env("OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS", "1");
        // What the agent of a story starts a child with.
        command.env("STORY_CLIENT", program);
        Ok(command)
    }

    fn prompt(&self, command: &mut Command, _stage: &Stage<'_>, prompt: &str, which: Option<Which>) {
        match which {
            None | Some(Which::New) => {}
            Some(Which::Continued) => drop(command.arg("--continue")),
            Some(Which::Forked) => drop(command.args(["--continue", "--fork"])),
        }
        match prompt.strip_prefix('/').map(|line| line.split_once(' ').unwrap_or((line, ""))) {
            Some((name, rest)) => command.args(["--command", name, "--", rest]),
            None => command.args(["--", prompt]),
        };
    }

    /// Without arguments it shows its own interface.
    fn terminal(&self, command: &Command, stage: &Stage<'_>) -> Result {
        let mut own = Command::new(command.get_program());
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                own.env(name, value);
            }
        }
        own.env_remove("CI");
        terminal::live(&own, &stage.story.terminal, stage.scratch)
    }

    /// A command's text is replaced by the file of its skill.
    fn marker(&self, prompt: &str) -> String {
        match prompt.strip_prefix('/').and_then(|line| line.split_whitespace().next()) {
            Some(_) => "Work through the phases in their order.".to_string(),
            None => prompt.to_string(),
        }
    }

    fn about(&self, input: &Value) -> (Option<String>, Option<String>) {
        let text = |pointer: &str| input.pointer(pointer).and_then(Value::as_str).map(str::to_string);
        let hook = text("/hook");
        let event = match (&hook, text("/input/event/type")) {
            (Some(hook), Some(kind)) if hook == "event" => Some(format!("event:{kind}")),
            _ => hook.clone(),
        };
        let call = text("/input/callID").filter(|_| hook.as_deref() == Some("tool.execute.before"));
        (event, call)
    }

    fn said(&self, frame: &Frame) -> Said {
        bridged::said(frame)
    }
}

/// The program that lists the files beside a skill. The client fetches it where it is missing, and there is no network.
fn searcher(scratch: &Scratch) -> Result {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    if std::env::split_paths(&folders).any(|folder| folder.join("rg").is_file()) {
        return Ok(());
    }
    let path = scratch.path("bin/rg");
    write(&path, "#!/bin/sh\nexec find . -type f\n")?;
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&path, executable).map_err(|error| Failure::file(&path, error))
}

/// The client's shell wants its lines described.
fn described(mut input: Value, call: &Call) -> Value {
    if let (Some(fields), "Bash") = (input.as_object_mut(), call.tool.as_str()) {
        fields.entry("description").or_insert_with(|| "a line".into());
    }
    input
}
