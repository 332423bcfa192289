//! The driver of the real Codex CLI.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Command;

use serde_json::{Value, json};

use super::client::{Client, Stage, argument};
use super::frame::Frame;
use super::later::Which;
use super::played::Said;
use super::scratch::Scratch;
use super::story::{Call, Story};
use xtask::failure::{Failure, Result};
use xtask::root::{read, write};

/// The client's id, also its adapter's.
pub(crate) const ID: &str = "codex";

/// The driver.
pub(crate) struct Codex;

impl Client for Codex {
    fn id(&self) -> &'static str {
        ID
    }

    fn program(&self) -> &'static str {
        "codex"
    }

    fn skill_file(&self, name: &str) -> String {
        format!(".agents/skills/{name}/SKILL.md")
    }

    /// It reads files and skills with its shell, and writes with patches of whole lines.
    fn native(&self, call: &Call, scratch: &Scratch) -> (String, Value) {
        let shell = |line: String| ("exec_command".to_owned(), json!({"cmd": line}));
        let patch = |text: String| {
            ("apply_patch".to_owned(), json!({"text": format!("*** Begin Patch\n{text}*** End Patch\n")}))
        };
        let project = format!("{}/", scratch.path("project").display());
        let path = argument(call, "file_path");
        let path = path.strip_prefix(&project).unwrap_or(path);
        match call.tool.as_str() {
            "Skill" => shell(format!("cat {}", self.skill_file(argument(call, "skill")))),
            "Read" => shell(format!("cat {path}")),
            "Bash" => shell(argument(call, "command").to_owned()),
            "Write" => patch(format!("*** Add File: {path}\n{}", marked('+', argument(call, "content")))),
            "Edit" => {
                let [before, after] = ["old_string", "new_string"].map(|name| argument(call, name));
                patch(format!("*** Update File: {path}\n@@\n{}{}", marked('-', before), marked('+', after)))
            }
            "Agent" => {
                let mut input = json!({"message": argument(call, "prompt")});
                if let (Some(fields), Some(kind)) = (input.as_object_mut(), kind(call)) {
                    fields.insert("agent_type".into(), kind.into());
                }
                ("multi_agent_v1::spawn_agent".to_owned(), input)
            }
            other => {
                let name = other.strip_prefix("mcp__lsp__").map(|tool| format!("mcp__lsp::{tool}"));
                (name.unwrap_or_else(|| other.to_owned()), Value::Object(call.input.clone()))
            }
        }
    }

    fn event(&self, required: &str) -> Option<String> {
        let has_none = ["UserPromptExpansion", "PostToolUseFailure", "PostToolBatch"].contains(&required);
        (!has_none).then(|| required.to_owned())
    }

    /// What the model reads is a text, whatever came of the call.
    fn tells_failure(&self, _call: &Call) -> bool {
        false
    }

    fn permissive(&self) -> &'static [&'static str] {
        &["--dangerously-bypass-approvals-and-sandbox"]
    }

    fn command(&self, stage: &Stage<'_>, port: u16) -> Result<Command> {
        let Stage { story, scratch, program } = *stage;
        settle_in(story, scratch, port)?;
        let mut command = scratch.command(program);
        command.current_dir(scratch.path("project").join(&story.start_in));
        command.arg("exec");
        match story.client_args.get(ID) {
            Some(args) => command.args(args),
            None => command.args(self.permissive()),
        };
        command.env("SCRIPTED_KEY", "none").env("TMPDIR", scratch.path("tmp")).env("TERM", "dumb");
        Ok(command)
    }

    fn prompt(&self, command: &mut Command, _stage: &Stage<'_>, prompt: &str, which: Option<Which>) {
        if !matches!(which, None | Some(Which::New)) {
            command.args(["resume", "--last"]);
        }
        command.args(["--json", "--skip-git-repo-check", prompt]);
    }

    fn shown(&self, stream: &str, _errors: &str) -> (Value, String) {
        let lines = stream.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        let said = lines.filter_map(|line| line.pointer("/item/text").and_then(Value::as_str).map(str::to_owned));
        (Value::Null, said.fold(String::new(), |_, text| text))
    }

    fn about(&self, input: &Value) -> (Option<String>, Option<String>) {
        let field = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
        let event = field("hook_event_name");
        let call = field("tool_use_id").filter(|_| event.as_deref() == Some("PreToolUse"));
        (event, call)
    }

    fn said(&self, frame: &Frame) -> Said {
        if frame.reply.status == Some(2) {
            return Said::Stop(frame.reply.stderr.clone());
        }
        let all: Value = serde_json::from_str(&frame.reply.stdout).unwrap_or_default();
        let context = all.pointer("/hookSpecificOutput/additionalContext").and_then(Value::as_str);
        Said::Go(context.unwrap_or_default().to_owned())
    }
}

/// The kind of subagent that a call starts, where it is one that the story has of its own.
fn kind(call: &Call) -> Option<&str> {
    Some(argument(call, "subagent_type")).filter(|kind| !kind.is_empty() && *kind != "general-purpose")
}

/// The lines of a text with this mark before each.
fn marked(mark: char, text: &str) -> String {
    text.lines().fold(String::new(), |mut all, line| {
        // Writing to a string cannot fail.
        let _ = writeln!(all, "{mark}{line}");
        all
    })
}

/// The client's settings: the model, the server, and what a person answers yes to: the project and the guard's hooks.
fn settle_in(story: &Story, scratch: &Scratch, port: u16) -> Result {
    let file = scratch.path("home/.codex/config.toml");
    if file.exists() {
        // What a person said yes to before the first process stands.
        return Ok(());
    }
    let own = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
    let project = scratch.path("project");
    let hooks = project.join(".codex/hooks.json");
    let mut config = format!(
        "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\ncheck_for_update_on_startup = false\n\
         allow_login_shell = false\n\
         [analytics]\nenabled = false\n\
         [model_providers.scripted]\nname = \"Scripted\"\nbase_url = \"http://127.0.0.1:{port}/v1\"\n\
         wire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\nrequest_max_retries = 0\nstream_max_retries = 0\n\
         [mcp_servers.lsp]\ncommand = {own:?}\nargs = [\"lsp-fake\"]\n\
         [projects.{:?}]\ntrust_level = \"trusted\"\n",
        project.display().to_string(),
    );
    let kinds: BTreeSet<&str> = story.calls().into_iter().filter_map(|(_, call)| kind(call)).collect();
    for kind in kinds {
        // Writing to a string cannot fail.
        let _ = writeln!(config, "[agents.{kind}]\ndescription = {kind:?}");
    }
    if hooks.exists() {
        let settings: Value = serde_json::from_str(&read(&hooks)?).unwrap_or_default();
        let adapter = phasegate_adapters::find(ID).ok_or_else(|| Failure::new(format!("no adapter `{ID}`")))?;
        for (place, digest) in adapter.installer().digests(&hooks, &settings) {
            // Writing to a string cannot fail.
            let _ = writeln!(config, "[hooks.state.{place:?}]\ntrusted_hash = {digest:?}");
        }
    }
    write(&file, &config)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_story_is_told_in_the_words_of_the_client() {
        let scratch = Scratch { base: "/s".into() };
        let native = |tool: &str, input: Value| {
            let call = json!({"tool": tool, "input": input, "expect": "allowed"});
            Codex.native(&serde_json::from_value(call).unwrap(), &scratch)
        };
        let edit = json!({"file_path": "/s/project/a", "old_string": "x", "new_string": "y\nz"});
        let patch = "*** Begin Patch\n*** Update File: a\n@@\n-x\n+y\n+z\n*** End Patch\n";
        assert_eq!(native("Edit", edit), ("apply_patch".into(), json!({"text": patch})));
        assert_eq!(native("Skill", json!({"skill": "s"})).1, json!({"cmd": "cat .agents/skills/s/SKILL.md"}));
        assert_eq!(native("mcp__lsp__run", json!({})).0, "mcp__lsp::run");
    }
}
