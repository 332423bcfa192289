//! The driver of the real Claude Code client.

use std::process::Command;

use serde_json::{Value, json};

use super::client::{Client, Stage};
use super::frame::Frame;
use super::later::Which;
use super::played::Said;
use super::scratch::Scratch;
use super::story::Call;
use super::terminal;
use xtask::failure::{Failure, Result};
use xtask::root::write;

/// The client's id, also its adapter's.
pub(crate) const ID: &str = "claude-code";

/// The key that the client is given. The model asks for none.
const KEY: &str = "none";

/// The driver.
pub(crate) struct ClaudeCode;

impl Client for ClaudeCode {
    fn id(&self) -> &'static str {
        ID
    }

    fn program(&self) -> &'static str {
        "claude"
    }

    fn variables(&self) -> &'static [&'static str] {
        &["CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ATTENDED"]
    }

    fn skill_file(&self, name: &str) -> String {
        format!(".claude/skills/{name}/SKILL.md")
    }

    /// Stories speak as this client does.
    fn native(&self, call: &Call, _scratch: &Scratch) -> (String, Value) {
        (call.tool.clone(), Value::Object(call.input.clone()))
    }

    fn event(&self, required: &str) -> Option<String> {
        Some(required.to_string())
    }

    fn permissive(&self) -> &'static [&'static str] {
        &["--permission-mode", "bypassPermissions"]
    }

    fn command(&self, stage: &Stage<'_>, port: u16) -> Result<Command> {
        let Stage { story, scratch, program } = *stage;
        let own = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
        let servers = scratch.path("mcp.json");
        if !servers.exists() {
            let mut words = vec![own.display().to_string(), "lsp-fake".into()];
            if story.relay {
                let relay = scratch.path("bin/answers").display().to_string();
                let before = ["mcp", "proxy", "--server", "lsp", "--"].map(str::to_string);
                words = std::iter::once(relay).chain(before).chain(words).collect();
            }
            let (command, args) = words.split_first().ok_or_else(|| Failure::new("no server"))?;
            write(&servers, &json!({"mcpServers": {"lsp": {"command": command, "args": args}}}).to_string())?;
        }
        let mut command = scratch.command(program);
        command.current_dir(scratch.path("project").join(&story.start_in));
        command.args(["--model", "claude-sonnet-4-5"]);
        command.arg("--debug-file").arg(scratch.path("debug.log"));
        command.arg("--strict-mcp-config").arg("--mcp-config").arg(servers);
        match story.client_args.get(ID) {
            Some(args) => command.args(args),
            None => command.args(self.permissive()),
        };
        command.env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}")).env("ANTHROPIC_API_KEY", KEY);
        command.env("CLAUDE_CODE_TMPDIR", scratch.path("tmp")).env("SHELL", "/bin/sh").env("TERM", "dumb");
        for name in
            ["IS_SANDBOX", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER"]
        {
            command.env(name, "1");
        }
        Ok(command)
    }

    fn prompt(&self, command: &mut Command, _stage: &Stage<'_>, prompt: &str, which: Option<Which>) {
        command.args(["--output-format", "stream-json", "--verbose", "-p", prompt]);
        match which {
            None | Some(Which::New) => {}
            Some(Which::Continued) => drop(command.arg("--continue")),
            Some(Which::Forked) => drop(command.args(["--continue", "--fork-session"])),
        }
    }

    /// A command's text is replaced by its expansion, its name stays.
    fn marker(&self, prompt: &str) -> String {
        match prompt.split_whitespace().next() {
            Some(command) if command.starts_with('/') => format!("<command-name>{command}"),
            _ => prompt.to_string(),
        }
    }

    fn terminal(&self, command: &Command, stage: &Stage<'_>) -> Result {
        settle_in(stage.scratch)?;
        terminal::live(command, &stage.story.terminal, stage.scratch)
    }

    fn shown(&self, stream: &str, _errors: &str) -> (Value, String) {
        let lines: Vec<Value> = stream.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let messages = lines.iter().filter_map(|line| line.get("message").cloned()).collect();
        let last = lines.iter().rev().find_map(|line| line.get("result")?.as_str().map(str::to_string));
        (Value::Array(messages), last.unwrap_or_default())
    }

    fn about(&self, input: &Value) -> (Option<String>, Option<String>) {
        let event = field(input, "hook_event_name");
        let call = field(input, "tool_use_id").filter(|_| event.as_deref() == Some("PreToolUse"));
        (event, call)
    }

    fn said(&self, frame: &Frame) -> Said {
        let reply = &frame.reply;
        if reply.status == Some(2) {
            return Said::Stop(reply.stderr.clone());
        }
        let all: Value = serde_json::from_str(&reply.stdout).unwrap_or_default();
        let specific = all.get("hookSpecificOutput").cloned().unwrap_or_default();
        let reason = field(&specific, "permissionDecisionReason").unwrap_or_default();
        match field(&specific, "permissionDecision").as_deref() {
            Some("deny") => Said::Stop(reason),
            Some("ask") => Said::Ask(reason),
            _ => Said::Go(field(&specific, "additionalContext").unwrap_or_default()),
        }
    }
}

fn field(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_string)
}

/// What the client asks a new user is answered before: theme, key, trust in the folder.
fn settle_in(scratch: &Scratch) -> Result {
    let project = scratch.path("project").display().to_string();
    let settled = json!({
        "hasCompletedOnboarding": true, "theme": "dark",
        "customApiKeyResponses": {"approved": [KEY], "rejected": []},
        "projects": {project: {"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true, "allowedTools": []}},
    });
    write(&scratch.path("home/.claude.json"), &settled.to_string())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde_json::json;

    use super::*;
    use crate::record::frame::Reply;

    #[test]
    fn every_form_of_an_answer_is_understood() {
        let specific = |value: Value| json!({"hookSpecificOutput": value});
        let deny = json!({"permissionDecision": "deny", "permissionDecisionReason": "r"});
        let ask = json!({"permissionDecision": "ask", "permissionDecisionReason": "r"});
        let context = json!({"additionalContext": "c"});
        let told = |stdout: Value, status| {
            let reply = Reply { stdout: stdout.to_string(), stderr: "no".into(), status: Some(status) };
            ClaudeCode.said(&Frame {
                args: Vec::new(),
                environment: BTreeMap::default(),
                files: BTreeMap::default(),
                record: Vec::new(),
                input: String::new(),
                reply,
            })
        };
        assert_eq!(told(specific(deny), 0), Said::Stop("r".into()));
        assert_eq!(told(specific(ask), 0), Said::Ask("r".into()));
        assert_eq!(told(specific(context), 0), Said::Go("c".into()));
        assert_eq!(told(json!({}), 2), Said::Stop("no".into()));
        let about = |event: &str| ClaudeCode.about(&json!({"hook_event_name": event, "tool_use_id": "c1"}));
        assert_eq!(about("PreToolUse"), (Some("PreToolUse".into()), Some("c1".into())));
        assert_eq!(about("PostToolUse"), (Some("PostToolUse".into()), None));
    }
}
