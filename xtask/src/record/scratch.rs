//! The scratch folder of one recording: a project, a home, a state folder, the guard as the client finds it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::client::{self, Client};
use super::frame::Frame;
use super::story::Story;
use crate::failure::{Failure, Result};
use crate::process;
use crate::root::{read, write};

/// Where the files of a story have skills.
const SKILLS: &str = ".claude/skills/";

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

    /// Makes the project: the story's files, the shipped skill as its client finds it, and a history. Skills among the
    /// story's files are put where the client looks for them.
    pub(crate) fn project(&self, story: &Story, client: &dyn Client, shipped: Option<&str>) -> Result {
        let placed = |path: &String| match path.strip_prefix(SKILLS).and_then(|rest| rest.strip_suffix("/SKILL.md")) {
            Some(name) => client.skill_file(name),
            None => path.clone(),
        };
        let own = story.files.iter().map(|(path, text)| (placed(path), text.clone()));
        for (path, text) in own.chain(shipped.map(|name| client::skill(client, name))) {
            write(&self.path("project").join(path), &text)?;
        }
        for args in [&["init", "-q", "-b", "main"][..], &["add", "-A"], &["commit", "-q", "-m", "start"]] {
            process::output(self.command(Path::new("git")).env("GIT_CONFIG_NOSYSTEM", "1").args(args))?;
        }
        Ok(())
    }

    /// Has an outside hand, which no agent and no client knows of, do these commands of a shell in the scratch folder.
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

    /// Runs the real `phasegate init`, then puts the recording hook where the settings now point.
    pub(crate) fn guard(&self, built: &Path, story: &Story, client: &dyn Client) -> Result {
        self.install(built, story, client)?;
        let (named, real) = (self.path("bin/phasegate"), self.path("bin/answers"));
        fs::rename(&named, &real).map_err(|error| Failure::file(&real, error))?;
        let own = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
        let [own, real, log] = [&own, &real, &self.path("frames.jsonl")].map(|path| path.display().to_string());
        write(&named, &format!("#!/bin/sh\nexec '{own}' record-tee '{real}' '{log}' \"$@\"\n"))?;
        fs::set_permissions(&named, fs::Permissions::from_mode(0o755)).map_err(|error| Failure::file(&named, error))
    }

    /// Puts the guard into the scratch `PATH` and runs the real `phasegate init`.
    pub(crate) fn install(&self, built: &Path, story: &Story, client: &dyn Client) -> Result {
        let named = self.path("bin/phasegate");
        fs::copy(built, &named).map_err(|error| Failure::file(built, error))?;
        for more in client.installs(story) {
            let mut init = self.command(&named);
            init.args(["init", client.id(), "--mode", &story.mode]).args(*more);
            process::output(init.args(story.skill.iter().flat_map(|skill| ["--skill", skill])))?;
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
