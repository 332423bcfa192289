//! The scratch folder of one recording: a project, a home, a state folder, the guard as the client finds it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::frame::Frame;
use xtask::failure::{Failure, Result};
use xtask::root::read;

/// The folders of one recording.
pub(crate) struct Scratch {
    /// The folder above all others.
    pub(crate) base: PathBuf,
}

impl Scratch {
    /// Makes the folders.
    pub(crate) fn new(name: &str) -> Result<Self> {
        let name = name.replace('/', "-");
        let base = std::env::temp_dir().join(format!("phasegate-{}-{name}", std::process::id()));
        let scratch = Self { base };
        for folder in ["project", "home", "tmp", "state", "machine", "bin"] {
            let path = scratch.path(folder);
            fs::create_dir_all(&path).map_err(|error| Failure::file(&path, error))?;
        }
        Ok(scratch)
    }

    /// A path below the scratch folder.
    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.base.join(below)
    }

    /// A command with nothing of this process's environment but `PATH`, in the project, with the scratch home and state.
    pub(crate) fn command(&self, program: &Path) -> Command {
        let mut command = Command::new(program);
        command.env_clear().current_dir(self.path("project")).stdin(Stdio::null());
        let path = std::env::var("PATH").unwrap_or_default();
        command.env("PATH", format!("{}:{path}", self.path("bin").display()));
        command.env("HOME", self.path("home")).env("LANG", "C.UTF-8");
        command.env("PHASEGATE_STATE_DIR", self.path("state")).env("PHASEGATE_MACHINE_DIR", self.path("machine"));
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "t").env(format!("GIT_{who}_EMAIL"), "t@example.com");
        }
        command
    }

    /// Runs these shell commands in the scratch folder, unknown to the agent and the client.
    pub(crate) fn hand(&self, commands: &[String]) -> Result {
        for line in commands {
            let mut shell = self.command(Path::new("sh"));
            shell.current_dir(&self.base).args(["-ec", line]).stdout(Stdio::null());
            let status = shell.status().map_err(|error| Failure::new(format!("`sh`: {error}")))?;
            if !status.success() {
                return Err(Failure::new(format!("the outside hand's `{line}` failed")));
            }
        }
        Ok(())
    }

    /// What the hooks got and answered, in order.
    pub(crate) fn frames(&self) -> Result<Vec<Frame>> {
        let path = self.path("frames.jsonl");
        let text = read(&path)?;
        let line = |line| serde_json::from_str::<Frame>(line).map_err(|error| Failure::file(&path, error));
        let frames: Result<Vec<Frame>> = text.lines().map(line).collect();
        // An agent that calls the binary itself is not the client.
        Ok(frames?
            .into_iter()
            .filter(|frame| frame.args.first().is_some_and(|word| word == "hook" || word == "serve"))
            .collect())
    }

    /// Removes everything.
    pub(crate) fn remove(&self) -> Result {
        fs::remove_dir_all(&self.base).map_err(|error| Failure::file(&self.base, error))
    }
}
