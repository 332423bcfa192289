//! A project in which transcripts are played, through `phasegate replay`.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde::Deserialize;
use serde_json::{Value, json};
use tempfile::TempDir;
use xtask::failure::{Failure, Result};
use xtask::process::{program, scratch};

/// What cases say of a client.
#[derive(Deserialize)]
pub(super) struct Client {
    /// The id of its platform.
    platform: String,
    /// Where the review of the task `T1` lies.
    pub(super) review: String,
}

impl Client {
    pub(super) fn read() -> Result<Self> {
        toml::from_str(include_str!("../../cases/client.toml"))
            .map_err(|error| Failure::new(format!("client.toml: {error}")))
    }
}

/// A project with a shipped skill, in which transcripts are played. It goes when this does.
pub(crate) struct Player {
    project: TempDir,
}

impl Player {
    /// A project with the skill in a form: `strict` or `compat`.
    pub(super) fn new(skill: &str, form: &str) -> Result<Self> {
        Self::with_settings(&format!("mode: block\nuse: [{{skill: {skill}, form: {form}}}]\n"))
    }

    /// A project with these settings.
    pub(super) fn with_settings(settings: &str) -> Result<Self> {
        Self::written(&[("config.yaml", settings)])
    }

    /// A project with these settings and a skill of its own.
    pub(super) fn with_skill(settings: &str, skill: &str, text: &str) -> Result<Self> {
        Self::written(&[("config.yaml", settings), (&format!("skills/{skill}.yaml"), text)])
    }

    /// A project with these files below the folder of its configs.
    fn written(files: &[(&str, &str)]) -> Result<Self> {
        let made = tempfile::tempdir_in(scratch()).and_then(|project| {
            for (name, text) in files {
                let path = project.path().join(".phasegate").join(name);
                fs::create_dir_all(path.parent().unwrap_or(&path))?;
                fs::write(path, text)?;
            }
            Ok(project)
        });
        made.map(|project| Self { project }).map_err(|error| Failure::new(format!("the project of a case: {error}")))
    }

    /// Writes a file of the project.
    pub(super) fn write(&self, path: &str, text: &str) -> Result {
        let path = self.project.path().join(path);
        let written = path.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&path, text));
        written.map_err(|error| Failure::file(&path, error))
    }

    /// What the program prints as JSON, in the project, whatever its exit status.
    pub(super) fn json(&self, arguments: &[String]) -> Result<Value> {
        let mut command = program("phasegate");
        let output = command.args(arguments).arg("--json").current_dir(self.project.path()).output();
        let output = output.map_err(|error| Failure::new(format!("phasegate {}: {error}", arguments.join(" "))))?;
        let read = serde_json::from_slice(&output.stdout);
        read.map_err(|_| Failure::new(format!("phasegate: {}", String::from_utf8_lossy(&output.stderr))))
    }

    /// What the program says to each line.
    pub(crate) fn answers(&self, lines: &[Value]) -> Result<Vec<Value>> {
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let text = self.said(&["replay", "--json", "-"], &text)?;
        let read = |line| serde_json::from_str(line).map_err(|error| Failure::new(format!("{line}: {error}")));
        text.lines().map(read).collect()
    }

    /// Has a person begin a skill in a session of a client.
    pub(crate) fn begin(&self, skill: &str) -> Result {
        self.said(&["start", skill], "").map(drop)
    }

    /// Has a client run a line of the shell that ends well and prints this.
    pub(crate) fn ran(&self, line: &str, printed: &str) -> Result {
        let frame = |event: &str| {
            json!({
                "session_id": "s", "cwd": self.project.path(), "hook_event_name": event, "tool_name": "Bash",
                "tool_use_id": "t1", "permission_mode": "default", "tool_input": {"command": line},
                "tool_response": {"stdout": printed, "stderr": "", "interrupted": false, "isImage": false},
            })
        };
        let platform = Client::read()?.platform;
        for event in ["PreToolUse", "PostToolUse"] {
            self.said(&["hook", &platform], &frame(event).to_string())?;
        }
        Ok(())
    }

    /// Whether the phase of the run that began last is done.
    pub(crate) fn is_done(&self) -> Result<bool> {
        let text = self.said(&["status", "--json"], "")?;
        let status: Value = serde_json::from_str(&text).map_err(|error| Failure::new(format!("{text}: {error}")))?;
        let mut open = vec![&status];
        while let Some(value) = open.pop() {
            match value {
                Value::Object(fields) if fields.get("done") == Some(&Value::Bool(true)) => return Ok(true),
                Value::Object(fields) => open.extend(fields.values()),
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
        Ok(false)
    }

    /// What the program prints in the project, with a home folder of its own, for this on its standard input.
    fn said(&self, args: &[&str], input: &str) -> Result<String> {
        let failed = |error: std::io::Error| Failure::new(format!("phasegate {}: {error}", args.join(" ")));
        let home = self.project.path().join("home");
        let mut command = program("phasegate");
        command.args(args).arg("--project").arg(self.project.path()).current_dir(self.project.path());
        command
            .env("HOME", &home)
            .env("XDG_STATE_HOME", home.join("state"))
            .env("XDG_CONFIG_HOME", home.join("config"));
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().map_err(failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes()).map_err(failed)?;
        }
        let output = child.wait_with_output().map_err(failed)?;
        if !output.status.success() {
            let told = String::from_utf8_lossy(&output.stderr);
            return Err(Failure::new(format!("phasegate {}: {told}", args.join(" "))));
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}
