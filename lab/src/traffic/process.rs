//! Processes of a client, and the program between it and its server.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::record::scratch::Scratch;
use xtask::failure::{Failure, Result};
use xtask::process::shown;

/// What stands before the server's command, so that its messages are kept.
pub(super) fn tee_words(server: &str, log: &Path, session: &str) -> Result<Vec<String>> {
    let own = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
    let words = [&own.display().to_string(), "mcp-tee", &log.display().to_string(), server, session, "--"];
    Ok(words.map(str::to_string).to_vec())
}

/// Runs a client with a home of its own. It ends as it likes: what it did is in the recording.
pub(super) fn done(command: &mut Command, scratch: &Scratch) -> Result {
    let bin = std::env::var("PATH").unwrap_or_default();
    command.env_clear().env("PATH", bin).env("HOME", scratch.path("home")).env("LANG", "C.UTF-8");
    command.env("PHASEGATE_STATE_DIR", scratch.path("state")).env("PHASEGATE_MACHINE_DIR", scratch.path("machine"));
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| Failure::new(format!("`{}`: {error}", shown(command))))?;
    if !scratch.path("frames.jsonl").exists() {
        return Err(Failure::new(format!("nothing was said\n{}", String::from_utf8_lossy(&output.stderr))));
    }
    Ok(())
}
