//! The clients that are driven.

use std::path::{Path, PathBuf};

use super::client::Client;
use super::{claude_code, codex, opencode, pi};
use xtask::failure::{Failure, Result};

/// The clients that have a driver.
const CLIENTS: [&dyn Client; 4] = [&claude_code::ClaudeCode, &codex::Codex, &opencode::OpenCode, &pi::Pi];
/// Their ids.
pub(crate) const IDS: [&str; 4] = [claude_code::ID, codex::ID, opencode::ID, pi::ID];
/// The client that is run where none is named.
pub(crate) const FIRST: &str = claude_code::ID;

/// The driver of the client with this id.
pub(crate) fn driver(id: &str) -> Result<&'static dyn Client> {
    let found = CLIENTS.into_iter().find(|client| client.id() == id);
    found.ok_or_else(|| Failure::new(format!("there is no driver for `{id}`")))
}

/// The program of a client: the one that is given, else the one that `PATH` has.
pub(crate) fn program(client: &dyn Client, given: Option<&Path>) -> Result<PathBuf> {
    let named = given.map_or_else(|| PathBuf::from(client.program()), Path::to_path_buf);
    if named.components().count() > 1 {
        return Ok(named);
    }
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(&named)).find(|path| path.is_file());
    found.ok_or_else(|| Failure::new(format!("`{}` is not there; name it with `--binary`", named.display())))
}
