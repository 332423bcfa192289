//! `phasegate mcp` between clients and servers that speak HTTP: a file of `cases/` for each story.
//!
//! The servers are this program itself: as a child, or at an address of its own.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test says what is wrong by failing; a server speaks on standard output"
)]

mod address;
mod case;
mod clients;
mod http;
#[path = "../mcp/matching.rs"]
mod matching;
mod program;
mod server;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(server::START) {
        server::run();
        return ExitCode::SUCCESS;
    }
    if std::env::args().nth(1).is_some_and(|word| word == clients::START || word == clients::DETACHED) {
        clients::run();
        return ExitCode::SUCCESS;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp_http/cases");
    let mut files: Vec<_> = walk(&folder);
    files.sort();
    assert!(!files.is_empty(), "there are no cases");
    let trials = files.into_iter().map(|path| {
        let name = path.strip_prefix(&folder).unwrap().with_extension("").to_string_lossy().into_owned();
        Trial::test(name, move || case::run(&path).map_err(Into::into))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}

fn walk(folder: &Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { walk(&path) } else { vec![path] }).collect()
}
