//! The drive of Copilot CLI, which starts the hooks in Claude Code's settings.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::drive::{Deed, Drive, Stage};

/// The drive.
pub(super) struct CopilotCli;

impl Drive for CopilotCli {
    fn id(&self) -> &'static str {
        "copilot-cli"
    }

    fn adapter(&self) -> &'static str {
        "claude-code"
    }

    fn program(&self) -> &'static str {
        "copilot"
    }

    fn home(&self) -> &'static [&'static str] {
        &[".claude/settings.json", ".copilot/hooks", ".copilot/settings.json"]
    }

    fn moves(&self) -> &'static [(&'static str, &'static str)] {
        &[("COPILOT_HOME", ".copilot")]
    }

    fn cleared(&self) -> &'static [&'static str] {
        &["COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_CLI", "CLAUDE_PROJECT_DIR"]
    }

    fn start(&self, stage: &Stage<'_>, command: &mut Command) {
        command.args(["--allow-all-tools", "--trust-folder", "--output-format", "json", "-p", stage.prompt]);
        command.env("COPILOT_PROVIDER_BASE_URL", format!("http://127.0.0.1:{}/v1", stage.port));
        for (name, value) in [
            ("COPILOT_PROVIDER_TYPE", "openai"),
            ("COPILOT_PROVIDER_WIRE_API", "responses"),
            ("COPILOT_PROVIDER_API_KEY", "none"),
            ("COPILOT_MODEL", "scripted"),
            ("COPILOT_OFFLINE", "true"),
            ("COPILOT_AUTO_UPDATE", "false"),
        ] {
            command.env(name, value);
        }
    }

    fn call(&self, deed: &Deed, project: &Path) -> (String, Value) {
        match deed {
            Deed::Write(path, text) => ("create".into(), json!({"path": project.join(path), "file_text": text})),
            Deed::Shell(line) => ("bash".into(), json!({"command": line, "description": "a line", "mode": "sync"})),
            Deed::Edit { path, old, new } => {
                ("edit".into(), json!({"path": project.join(path), "old_str": old, "new_str": new}))
            }
            Deed::Read(path) => ("view".into(), json!({"path": project.join(path)})),
        }
    }

    fn runs_when_hung(&self, _version: &str) -> Option<&'static str> {
        Some("this client lets calls run when a hook takes too long; a guard that runs answers in half of that time")
    }

    fn switch(&self) -> Option<(&'static str, &'static str)> {
        Some((".claude/settings.local.json", "disableAllHooks"))
    }
}
