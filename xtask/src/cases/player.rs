//! A project in which transcripts are played, through `phasegate replay`.

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use serde_json::Value;
use tempfile::TempDir;
use xtask::failure::{Failure, Result};
use xtask::process::{program, scratch};

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
        let failed = |error: std::io::Error| Failure::new(format!("phasegate replay: {error}"));
        let mut command = program("phasegate");
        command.args(["replay", "--json", "--project"]).arg(self.project.path()).arg("-");
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
