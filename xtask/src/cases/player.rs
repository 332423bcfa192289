//! A project in which transcripts are played, through `phasegate replay`.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::Value;
use xtask::failure::{Failure, Result};
use xtask::process::program;
use xtask::root::target;

/// A project with a shipped skill, in which transcripts are played.
pub(crate) struct Player {
    project: PathBuf,
}

impl Player {
    /// A project with the skill in a form: `strict` or `compat`.
    pub(super) fn new(skill: &str, form: &str) -> Result<Self> {
        let project = target().join("cases").join(format!("{skill}-{form}"));
        let config = project.join(".phasegate");
        let written = fs::create_dir_all(&config).and_then(|()| {
            fs::write(config.join("config.yaml"), format!("mode: block\nuse: [{{skill: {skill}, form: {form}}}]\n"))
        });
        written.map_err(|error| Failure::new(format!("{}: {error}", config.display())))?;
        Ok(Self { project })
    }

    /// A project of this name with these settings.
    pub(super) fn with_settings(name: &str, settings: &str) -> Result<Self> {
        let project = target().join("cases").join(name);
        let config = project.join(".phasegate");
        let written = fs::create_dir_all(&config).and_then(|()| fs::write(config.join("config.yaml"), settings));
        written.map_err(|error| Failure::new(format!("{}: {error}", config.display())))?;
        Ok(Self { project })
    }

    /// A project of this name with these settings and a skill of its own.
    pub(super) fn with_skill(name: &str, settings: &str, skill: &str, text: &str) -> Result<Self> {
        let project = target().join("cases").join(name);
        let config = project.join(".phasegate");
        let written = fs::create_dir_all(config.join("skills"))
            .and_then(|()| fs::write(config.join("config.yaml"), settings))
            .and_then(|()| fs::write(config.join("skills").join(format!("{skill}.yaml")), text));
        written.map_err(|error| Failure::new(format!("{}: {error}", config.display())))?;
        Ok(Self { project })
    }

    /// What the program says to each line.
    pub(crate) fn answers(&self, lines: &[Value]) -> Result<Vec<Value>> {
        let failed = |error: std::io::Error| Failure::new(format!("phasegate replay: {error}"));
        let mut command = program("phasegate");
        command.args(["replay", "--json", "--project"]).arg(&self.project).arg("-");
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = piped.spawn().map_err(failed)?;
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        if let Some(mut input) = child.stdin.take() {
            input.write_all(text.as_bytes()).map_err(failed)?;
        }
        let output = child.wait_with_output().map_err(failed)?;
        if !output.status.success() {
            return Err(Failure::new(format!("phasegate replay: {}", String::from_utf8_lossy(&output.stderr))));
        }
        let text = String::from_utf8_lossy(&output.stdout);
        let read = |line| serde_json::from_str(line).map_err(|error| Failure::new(format!("{line}: {error}")));
        text.lines().map(read).collect()
    }
}
