//! The drive of Pi.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::drive::{Deed, Drive, Stage};

/// The drive.
pub(super) struct Pi;

impl Drive for Pi {
    fn id(&self) -> &'static str {
        "pi"
    }

    fn program(&self) -> &'static str {
        "pi"
    }

    fn home(&self) -> &'static [&'static str] {
        &[".pi/agent/settings.json", ".pi/agent/extensions", ".pi/agent/skills", ".agents/skills"]
    }

    fn moves(&self) -> &'static [(&'static str, &'static str)] {
        &[("PI_CODING_AGENT_DIR", ".pi/agent")]
    }

    fn cleared(&self) -> &'static [&'static str] {
        &["ANTHROPIC_API_KEY"]
    }

    fn files(&self, stage: &Stage<'_>) -> Vec<(PathBuf, String)> {
        let cost = json!({"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0});
        let model = json!({
            "id": "claude-scripted", "name": "Scripted", "reasoning": false, "input": ["text"], "cost": cost,
            "contextWindow": 200_000, "maxTokens": 8000,
        });
        let provider = json!({
            "baseUrl": format!("http://127.0.0.1:{}", stage.port), "api": "anthropic-messages", "apiKey": "none",
            "models": [model],
        });
        let models = json!({"providers": {"scripted": provider}}).to_string();
        vec![(stage.home.join(".pi/agent/models.json"), models)]
    }

    /// The copy is trusted, as the project is once a person works in it.
    fn start(&self, stage: &Stage<'_>, command: &mut Command) {
        command.args(["-p", "--mode", "json", "--offline", "--approve", "--model", "scripted/claude-scripted"]);
        command.arg(stage.prompt);
        for (name, value) in [("PI_OFFLINE", "1"), ("PI_SKIP_VERSION_CHECK", "1"), ("PI_TELEMETRY", "0")] {
            command.env(name, value);
        }
    }

    fn call(&self, deed: &Deed, project: &Path) -> (String, Value) {
        match deed {
            Deed::Write(path, text) => ("write".into(), json!({"path": project.join(path), "content": text})),
            Deed::Shell(line) => ("bash".into(), json!({"command": line})),
            Deed::Edit { path, old, new } => {
                ("edit".into(), json!({"path": project.join(path), "edits": [{"oldText": old, "newText": new}]}))
            }
            Deed::Read(path) => ("read".into(), json!({"path": project.join(path)})),
        }
    }
}
