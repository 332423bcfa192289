//! The drive of OpenCode.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::drive::{Deed, Drive, Stage};

/// The drive.
pub(super) struct OpenCode;

impl Drive for OpenCode {
    fn id(&self) -> &'static str {
        "opencode"
    }

    fn program(&self) -> &'static str {
        "opencode"
    }

    fn home(&self) -> &'static [&'static str] {
        &[".config/opencode", ".opencode"]
    }

    fn moves(&self) -> &'static [(&'static str, &'static str)] {
        &[("OPENCODE_CONFIG_DIR", ".config/opencode")]
    }

    fn cleared(&self) -> &'static [&'static str] {
        &["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "OPENCODE"]
    }

    /// It installs a package into its folders when it starts, and waits for that where there is no network.
    fn files(&self, stage: &Stage<'_>) -> Vec<(PathBuf, String)> {
        vec![(stage.home.join(".npmrc"), "offline=true\nfetch-retries=0\n".into())]
    }

    /// Settings in the environment go before those in files.
    fn start(&self, stage: &Stage<'_>, command: &mut Command) {
        let model = json!({"name": "Scripted", "tool_call": true, "limit": {"context": 200_000, "output": 8000}});
        let provider = json!({
            "npm": "@ai-sdk/anthropic", "name": "Scripted", "models": {"claude-scripted": model},
            "options": {"baseURL": format!("http://127.0.0.1:{}/v1", stage.port), "apiKey": "none"},
        });
        let settings = json!({
            "model": "scripted/claude-scripted", "small_model": "scripted/claude-scripted", "share": "disabled",
            "autoupdate": false, "snapshot": false, "enabled_providers": ["scripted"],
            "provider": {"scripted": provider},
        });
        command.args(["run", "--format", "json", "--", stage.prompt]);
        command.env("OPENCODE_CONFIG_CONTENT", settings.to_string());
        for name in ["OPENCODE_DISABLE_AUTOUPDATE", "OPENCODE_DISABLE_MODELS_FETCH", "OPENCODE_DISABLE_LSP_DOWNLOAD"] {
            command.env(name, "1");
        }
    }

    fn call(&self, deed: &Deed, project: &Path) -> (String, Value) {
        match deed {
            Deed::Write(path, text) => ("write".into(), json!({"filePath": project.join(path), "content": text})),
            Deed::Shell(line) => ("bash".into(), json!({"command": line, "description": "a line"})),
            Deed::Edit { path, old, new } => {
                ("edit".into(), json!({"filePath": project.join(path), "oldString": old, "newString": new}))
            }
            Deed::Read(path) => ("read".into(), json!({"filePath": project.join(path)})),
        }
    }
}
