//! The drive of Claude Code.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::drive::{Deed, Drive, Stage};

/// The drive.
pub(super) struct ClaudeCode;

impl Drive for ClaudeCode {
    fn id(&self) -> &'static str {
        "claude-code"
    }

    fn program(&self) -> &'static str {
        "claude"
    }

    fn home(&self) -> &'static [&'static str] {
        &[
            ".claude/settings.json",
            ".claude/skills",
            ".claude/plugins",
            ".claude/agents",
            ".claude/commands",
            ".claude/hooks",
        ]
    }

    fn moves(&self) -> &'static [(&'static str, &'static str)] {
        &[("CLAUDE_CONFIG_DIR", ".claude")]
    }

    fn cleared(&self) -> &'static [&'static str] {
        &[
            "ANTHROPIC_AUTH_TOKEN",
            "ANTHROPIC_MODEL",
            "CLAUDECODE",
            "CLAUDE_CODE_ENTRYPOINT",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_SESSION_ID",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_FOUNDRY",
            "CLAUDE_CODE_USE_VERTEX",
            "CLAUDE_PROJECT_DIR",
        ]
    }

    /// The copy is trusted, as the project is once a person works in it: then the client loads what the project brings.
    fn files(&self, stage: &Stage<'_>) -> Vec<(PathBuf, String)> {
        let project = stage.project.display().to_string();
        let text = json!({"hasCompletedOnboarding": true, "projects": {project: {"hasTrustDialogAccepted": true}}});
        [".claude.json", ".claude/.claude.json"].map(|file| (stage.home.join(file), text.to_string())).into()
    }

    /// Variables in a person's settings go before the environment, and settings on the command line before them. These would
    /// also go before others on the command line, so they are given only where a person's settings name such a variable.
    fn start(&self, stage: &Stage<'_>, command: &mut Command) {
        let model = format!("http://127.0.0.1:{}", stage.port);
        let settings = json!({"env": {
            "ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": "none", "CLAUDE_CODE_USE_BEDROCK": "",
            "CLAUDE_CODE_USE_VERTEX": "", "CLAUDE_CODE_USE_FOUNDRY": "",
        }});
        command.args(["--model", "claude-sonnet-4-5", "--permission-mode", "bypassPermissions", "--strict-mcp-config"]);
        command.args(["--output-format", "stream-json", "--verbose"]);
        if names_model(stage) {
            command.args(["--settings", &settings.to_string()]);
        }
        command.args(["-p", stage.prompt]);
        command.env("ANTHROPIC_BASE_URL", model).env("ANTHROPIC_API_KEY", "none");
        for name in
            ["IS_SANDBOX", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER"]
        {
            command.env(name, "1");
        }
    }

    fn call(&self, deed: &Deed, project: &Path) -> (String, Value) {
        match deed {
            Deed::Write(path, text) => ("Write".into(), json!({"file_path": project.join(path), "content": text})),
            Deed::Shell(line) => ("Bash".into(), json!({"command": line, "description": "a line"})),
            Deed::Edit { path, old, new } => {
                ("Edit".into(), json!({"file_path": project.join(path), "old_string": old, "new_string": new}))
            }
            Deed::Read(path) => ("Read".into(), json!({"file_path": project.join(path)})),
        }
    }

    fn runs_when_hung(&self, version: &str) -> Option<&'static str> {
        let old = version == "2.1.197";
        old.then_some("this version lets calls run when a hook takes too long; update the client")
    }

    fn switch(&self) -> Option<(&'static str, &'static str)> {
        Some((".claude/settings.local.json", "disableAllHooks"))
    }
}

/// Whether settings name a variable that says where the model is.
fn names_model(stage: &Stage<'_>) -> bool {
    let places = [(stage.home, ".claude/settings.json"), (stage.project, ".claude/settings.json")];
    let local = (stage.project, ".claude/settings.local.json");
    let texts =
        places.into_iter().chain([local]).filter_map(|(folder, file)| fs::read_to_string(folder.join(file)).ok());
    texts.into_iter().any(|text| ["ANTHROPIC_", "CLAUDE_CODE_USE_"].iter().any(|name| text.contains(name)))
}
