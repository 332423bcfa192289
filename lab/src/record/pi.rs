//! The driver of the real Pi client.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use super::bridged;
use super::client::{Client, Stage, argument, renamed};
use super::frame::Frame;
use super::later::Which;
use super::played::Said;
use super::scratch::Scratch;
use super::story::{Call, Story};
use super::terminal;
use xtask::failure::{Failure, Result};
use xtask::root::write;

/// The client's id, also its adapter's.
pub(crate) const ID: &str = "pi";

/// The fake of the language server as tools of the client, which speaks with no server itself.
const FAKE: &str = include_str!("pi/lsp-fake.ts");

/// The agent that stories start, as the client's example of subagents knows it.
const AGENT: &str = "---\nname: helper\ndescription: Helps.\n---\n\nDo what you are asked.\n";

/// The driver.
pub(crate) struct Pi;

impl Client for Pi {
    fn id(&self) -> &'static str {
        ID
    }

    fn program(&self) -> &'static str {
        "pi"
    }

    fn skill_file(&self, name: &str) -> String {
        format!(".pi/skills/{name}/SKILL.md")
    }

    /// A subagent is a process of its own, and its arguments do not trust the project.
    fn installs(&self, story: &Story) -> &'static [&'static [&'static str]] {
        if story.agents.is_empty() { &[&[]] } else { &[&[], &["--user"]] }
    }

    /// By the node that lies beside the client, where its package came with one.
    fn start(&self, program: &Path, scratch: &Scratch) -> Command {
        let program = program.canonicalize().unwrap_or_else(|_| program.to_path_buf());
        let packages = program.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "node_modules"));
        match packages.map(|folder| folder.join("node/bin/node")).filter(|node| node.is_file()) {
            None => scratch.command(&program),
            Some(node) => {
                let mut command = scratch.command(&node);
                command.arg(program);
                command
            }
        }
    }

    fn native(&self, call: &Call, scratch: &Scratch) -> (String, Value) {
        let text = |name: &str| argument(call, name);
        match call.tool.as_str() {
            "Edit" => {
                let edits = json!([{"oldText": text("old_string"), "newText": text("new_string")}]);
                ("edit".into(), json!({"path": text("file_path"), "edits": edits}))
            }
            // Skills are read here, not called.
            "Skill" => {
                let path = scratch.path("project").join(self.skill_file(text("skill")));
                ("read".into(), json!({"path": path}))
            }
            "Agent" => ("subagent".into(), json!({"agent": "helper", "task": text("prompt")})),
            "Bash" => ("bash".into(), json!({"command": text("command")})),
            own if own.starts_with("mcp__") => (own.to_string(), Value::Object(call.input.clone())),
            own => (own.to_lowercase(), renamed(call, &[("file_path", "path")])),
        }
    }

    fn event(&self, required: &str) -> Option<String> {
        let own = match required {
            "SessionStart" => "session_start",
            "SessionEnd" => "session_shutdown",
            "UserPromptSubmit" | "UserPromptExpansion" => "input",
            "PreToolUse" => "tool_call",
            "PostToolUse" | "PostToolUseFailure" => "tool_result",
            "PostToolBatch" => "turn_end",
            "Stop" => "agent_end",
            _ => return None,
        };
        Some(own.to_string())
    }

    fn command(&self, stage: &Stage<'_>, port: u16) -> Result<Command> {
        let Stage { story, scratch, program } = *stage;
        let own = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
        let cost = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0});
        let model = json!({
            "id": "claude-scripted", "name": "Scripted", "reasoning": false, "input": ["text"], "cost": cost,
            "contextWindow": 200_000, "maxTokens": 8000,
        });
        let provider = json!({
            "baseUrl": format!("http://127.0.0.1:{port}"), "api": "anthropic-messages", "apiKey": "none", "models": [model],
        });
        let agent = scratch.path("home/.pi/agent");
        write(&agent.join("models.json"), &json!({"providers": {"scripted": provider}}).to_string())?;
        write(&agent.join("agents/helper.md"), AGENT)?;
        write(&agent.join("extensions/lsp-fake.ts"), FAKE)?;
        // Its subagents start the client by its name.
        let program = program.canonicalize().map_err(|error| Failure::file(program, error))?;
        let mut command = self.start(&program, scratch);
        command.args(["-p", "--mode", "json", "--offline", "--model", "scripted/claude-scripted"]);
        if self.asks_for_trust(&program, scratch)? {
            command.arg("--approve");
        }
        if !story.agents.is_empty() {
            command.arg("-e").arg(example(&program)?);
        }
        command.args(story.client_args.get(ID).into_iter().flatten());
        let line = words(&command);
        command.env("STORY_CLIENT", line);
        command.env("LSP_FAKE", own).env("TMPDIR", scratch.path("tmp"));
        for (name, value) in [("PI_OFFLINE", "1"), ("PI_SKIP_VERSION_CHECK", "1"), ("PI_TELEMETRY", "0")] {
            command.env(name, value);
        }
        Ok(command)
    }

    fn prompt(&self, command: &mut Command, stage: &Stage<'_>, prompt: &str, which: Option<Which>) {
        match which {
            None | Some(Which::New) => {}
            Some(Which::Continued) => drop(command.arg("--continue")),
            Some(Which::Forked) => drop(command.arg("--fork").args(newest(stage.scratch))),
        }
        command.arg(match prompt.strip_prefix('/') {
            Some(line) => format!("/skill:{line}"),
            None => prompt.to_string(),
        });
    }

    /// It shows its own interface where it is not told to print.
    fn terminal(&self, command: &Command, stage: &Stage<'_>) -> Result {
        let mut own = Command::new(command.get_program());
        let mut args = command.get_args();
        while let Some(arg) = args.next() {
            match arg.to_str() {
                Some("-p") => {}
                Some("--mode") => drop(args.next()),
                _ => drop(own.arg(arg)),
            }
        }
        for (name, value) in command.get_envs() {
            if let Some(value) = value {
                own.env(name, value);
            }
        }
        terminal::live(&own, &stage.story.terminal, stage.scratch)
    }

    /// A skill's text takes the place of the command.
    fn marker(&self, prompt: &str) -> String {
        if prompt.starts_with('/') { "Work through the phases in their order.".into() } else { prompt.to_string() }
    }

    /// Without a terminal, its messages for the user and the reason why it does not start go to its errors.
    fn shown(&self, _stream: &str, errors: &str) -> (Value, String) {
        (Value::Null, errors.to_string())
    }

    fn about(&self, input: &Value) -> (Option<String>, Option<String>) {
        let text = |pointer: &str| input.pointer(pointer).and_then(Value::as_str).map(str::to_string);
        let event = text("/event/type");
        let call = text("/event/toolCallId").filter(|_| event.as_deref() == Some("tool_call"));
        (event, call)
    }

    fn said(&self, frame: &Frame) -> Said {
        bridged::said(frame)
    }
}

impl Pi {
    /// Whether this version asks for trust in a project, which a print has to be given.
    fn asks_for_trust(&self, program: &Path, scratch: &Scratch) -> Result<bool> {
        let output = self.start(program, scratch).arg("--help").env("PI_OFFLINE", "1").output();
        let output = output.map_err(|error| Failure::file(program, error))?;
        Ok([output.stdout, output.stderr].iter().any(|text| String::from_utf8_lossy(text).contains("--approve")))
    }
}

/// The client's own example of subagents, in its package.
fn example(program: &Path) -> Result<PathBuf> {
    let places = program.ancestors().map(|folder| folder.join("examples/extensions/subagent/index.ts"));
    let found = places.into_iter().find(|path| path.is_file());
    found.ok_or_else(|| Failure::file(program, "the package has no example of subagents"))
}

/// A command as words of a shell, for a story in which the agent starts the client.
fn words(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
}

/// The newest session that the client has kept.
fn newest(scratch: &Scratch) -> Option<PathBuf> {
    let all = walkdir::WalkDir::new(scratch.path("home/.pi/agent/sessions")).into_iter().flatten();
    let sessions = all.filter(|entry| entry.path().extension().is_some_and(|end| end == "jsonl"));
    let written = |entry: &walkdir::DirEntry| entry.metadata().ok().and_then(|data| data.modified().ok());
    sessions.max_by_key(written).map(walkdir::DirEntry::into_path)
}
