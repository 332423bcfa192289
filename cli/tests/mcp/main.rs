//! `phasegate mcp` before servers that behave, and servers that do not: a file of `cases/` for each story.
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

mod case;
mod client;
mod matching;
mod server;

use std::path::Path;
use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};

fn main() -> ExitCode {
    if std::env::args().nth(1).as_deref() == Some(server::START) {
        server::run();
        return ExitCode::SUCCESS;
    }
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/mcp/cases");
    let mut files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "there are no cases");
    let trials = files.into_iter().map(|path| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        Trial::test(name, move || case::run(&path).map_err(Into::into))
    });
    libtest_mimic::run(&Arguments::from_args(), trials.collect()).exit_code()
}
