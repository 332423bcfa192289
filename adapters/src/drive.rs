//! Drives: how a real client is started so that a scripted model answers it, and what that model calls the client's tools.
//! `phasegate drill` uses them; what an adapter decides depends on none of it.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The drive of one client.
pub trait Drive: Sync {
    /// The client's id.
    fn id(&self) -> &'static str;

    /// The id of its adapter.
    fn adapter(&self) -> &'static str {
        self.id()
    }

    /// The client's name as a program.
    fn program(&self) -> &'static str;

    /// The files and folders below the user's home that the client obeys, and that hold no account.
    fn home(&self) -> &'static [&'static str];

    /// The variables that name another folder in place of one below the home.
    fn moves(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// The variables of a person's that would have it ask another model, or take it for the child of a session.
    fn cleared(&self) -> &'static [&'static str];

    /// Its settings for the scripted model, each a file with its text.
    fn files(&self, _stage: &Stage<'_>) -> Vec<(PathBuf, String)> {
        Vec::new()
    }

    /// Adds arguments and variables: the model, what the user types, and that nobody is asked about a call.
    fn start(&self, stage: &Stage<'_>, command: &mut Command);

    /// The name and the arguments of a call, as its model makes it.
    fn call(&self, deed: &Deed, project: &Path) -> (String, Value);

    /// Why calls run in this version when the guard hangs, whatever is set up; `None` where they are denied.
    fn runs_when_hung(&self, _version: &str) -> Option<&'static str> {
        None
    }

    /// The file below the project in which one key switches the guard off while a session runs, with the key.
    fn switch(&self) -> Option<(&'static str, &'static str)> {
        None
    }
}

/// What a client is started with.
#[derive(Clone, Copy, Debug)]
pub struct Stage<'a> {
    /// The project.
    pub project: &'a Path,
    /// The home folder.
    pub home: &'a Path,
    /// The scripted model's port on loopback.
    pub port: u16,
    /// What the user types.
    pub prompt: &'a str,
}

/// What a call does, in words that no client owns. Paths are relative to the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// Writes a new file with this text.
    Write(String, String),
    /// Runs a line of the shell.
    Shell(String),
    /// Reads a file.
    Read(String),
    /// Replaces a text of one line that a file holds once.
    Edit {
        /// The file.
        path: String,
        /// The text.
        old: String,
        /// What takes its place.
        new: String,
    },
}
