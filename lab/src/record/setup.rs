//! A project in a scratch folder, guarded by the real program.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::client::{self, Client};
use super::scratch::Scratch;
use super::story::Story;
use xtask::failure::{Failure, Result};
use xtask::process;
use xtask::root::write;

/// Where the files of a story have skills.
const SKILLS: &str = ".claude/skills/";

impl Scratch {
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

    /// Runs the real `phasegate init`, then puts the recording hook where the settings now point.
    pub(crate) fn guard(&self, built: &Path, story: &Story, client: &dyn Client) -> Result {
        self.install(built, story, client)?;
        let (named, real) = (self.path("bin/phasegate"), self.path("bin/answers"));
        fs::rename(&named, &real).map_err(|error| Failure::file(&real, error))?;
        let own = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
        let [own, real, log] = [&own, &real, &self.path("frames.jsonl")].map(|path| path.display().to_string());
        // As the client's shell it runs lines in which the guard is called again.
        let shell = format!("[ \"$1\" = client-shell ] && exec '{real}' \"$@\"");
        write(&named, &format!("#!/bin/sh\n{shell}\nexec '{own}' record-tee '{real}' '{log}' \"$@\"\n"))?;
        fs::set_permissions(&named, fs::Permissions::from_mode(0o755)).map_err(|error| Failure::file(&named, error))
    }

    /// Puts the guard into the scratch `PATH` and runs the real `phasegate init`.
    pub(crate) fn install(&self, built: &Path, story: &Story, client: &dyn Client) -> Result {
        let named = self.path("bin/phasegate");
        fs::copy(built, &named).map_err(|error| Failure::file(built, error))?;
        for more in client.installs(story) {
            let mut init = self.command(&named);
            init.args(["init", client.id(), "--mode", &story.mode]).args(*more).args(&story.init);
            process::output(init.args(story.skill.iter().flat_map(|skill| ["--skill", skill])))?;
        }
        Ok(())
    }
}
