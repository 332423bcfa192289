//! `phasegate mcp` before servers and clients that behave, and some that do not: a file of `cases/` for each story.
//!
//! The servers are this program itself, started with the name of a way to behave.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test says what is wrong by failing; a server speaks on standard output"
)]

mod matching;
mod over_http;
mod over_stdio;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    let word = std::env::args().nth(1);
    if over_stdio::played(word.as_deref()) || over_http::played(word.as_deref()) {
        return ExitCode::SUCCESS;
    }
    let trials = over_stdio::trials().into_iter().chain(over_http::trials()).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The cases of a folder: each one's name and file.
fn cases(folder: &str) -> Vec<(String, PathBuf)> {
    let all = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/cases");
    let mut files = walk(&all.join(folder));
    files.sort();
    assert!(!files.is_empty(), "there are no cases");
    let name = |path: &Path| path.strip_prefix(&all).unwrap().with_extension("").to_string_lossy().into_owned();
    files.into_iter().map(|path| (name(&path), path)).collect()
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
