//! The drive of Codex CLI.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::drive::{Deed, Drive, Stage};

/// The drive.
pub(super) struct Codex;

impl Drive for Codex {
    fn id(&self) -> &'static str {
        "codex"
    }

    fn program(&self) -> &'static str {
        "codex"
    }

    /// What a person trusts stands in the settings.
    fn home(&self) -> &'static [&'static str] {
        &[".codex/hooks.json", ".codex/config.toml", ".codex/rules", ".codex/skills", ".agents/skills"]
    }

    fn moves(&self) -> &'static [(&'static str, &'static str)] {
        &[("CODEX_HOME", ".codex")]
    }

    fn cleared(&self) -> &'static [&'static str] {
        &["CODEX_API_KEY", "CODEX_SESSION_ID", "OPENAI_API_KEY", "OPENAI_BASE_URL"]
    }

    fn start(&self, stage: &Stage<'_>, command: &mut Command) {
        let provider = format!(
            "model_providers.scripted={{name=\"Scripted\",base_url=\"http://127.0.0.1:{}/v1\",wire_api=\"responses\",\
             env_key=\"SCRIPTED_KEY\",request_max_retries=0,stream_max_retries=0}}",
            stage.port
        );
        command.arg("exec");
        for setting in [
            "model=\"gpt-5.5\"",
            "model_provider=\"scripted\"",
            &provider,
            "check_for_update_on_startup=false",
            "allow_login_shell=false",
            "analytics.enabled=false",
        ] {
            command.args(["-c", setting]);
        }
        command.args(["--dangerously-bypass-approvals-and-sandbox", "--json", "--skip-git-repo-check", stage.prompt]);
        command.env("SCRIPTED_KEY", "none");
    }

    fn runs_when_hung(&self, _version: &str) -> Option<&'static str> {
        Some("this client lets calls run when a hook takes too long; a guard that runs answers in half of that time")
    }

    /// It reads files with its shell, and writes with patches.
    fn call(&self, deed: &Deed, _project: &Path) -> (String, Value) {
        let shell = |line: &str| ("exec_command".to_owned(), json!({"cmd": line}));
        let patch = |file: &str| {
            ("apply_patch".to_owned(), json!({"text": format!("*** Begin Patch\n*** {file}*** End Patch\n")}))
        };
        match deed {
            Deed::Write(path, text) => {
                let lines: String = text.lines().map(|line| format!("+{line}\n")).collect();
                patch(&format!("Add File: {path}\n{lines}"))
            }
            Deed::Edit { path, old, new } => patch(&format!("Update File: {path}\n@@\n-{old}\n+{new}\n")),
            Deed::Shell(line) => shell(line),
            Deed::Read(path) => shell(&format!("cat {path}")),
        }
    }
}
