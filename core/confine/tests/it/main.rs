//! Commands confined for real, as root and as an ordinary user where the tests can be both.
#![cfg_attr(not(target_os = "linux"), allow(unused, reason = "only Linux confines"))]
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a test says what is wrong by failing"
)]

mod scratch;
mod attacks;
mod behaviour;
mod lifetime;
mod lines;

use std::process::ExitCode;

use libtest_mimic::{Arguments, Trial};
use phasegate_confine::{Request, probe, run, stage};

/// The variable with which every row is tried.
const EVERY: &str = "PHASEGATE_EVERY_ROW";
/// Without it one of so many is.
const SOME: usize = 12;

fn main() -> ExitCode {
    if let Some(code) = stage() {
        return code;
    }
    let mut args = std::env::args_os().skip(1);
    match args.next() {
        Some(first) if first == "confine" => confine(args),
        Some(first) if first == "probe" => probe_one(args),
        _ => test(),
    }
}

/// This program as one that confines: it runs the request in its arguments, and says on standard error what was not kept.
fn confine(args: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    match run(&Request::from_args(args).unwrap()) {
        Ok(report) => {
            eprintln!("{}", serde_json::to_string(&report).unwrap());
            ExitCode::from(report.status)
        }
        Err(error) => {
            eprintln!("not confined: {error}");
            ExitCode::from(125)
        }
    }
}

fn probe_one(args: impl Iterator<Item = std::ffi::OsString>) -> ExitCode {
    let request = Request::from_args(args).unwrap();
    match probe(&[request.level], &request).remove(0).refused {
        None => ExitCode::SUCCESS,
        Some(cause) => {
            println!("{cause}");
            ExitCode::FAILURE
        }
    }
}

fn test() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut trials: Vec<Trial> = Vec::new();
    if cfg!(target_os = "linux") {
        trials.extend(attacks::trials());
        trials.extend(lifetime::trials());
        trials.extend(lines::trials());
        // All of them take minutes: `cargo xtask ci` runs them where this crate changed.
        if std::env::var_os(EVERY).is_none() {
            trials = trials.into_iter().step_by(SOME).collect();
        }
        trials.extend(behaviour::trials());
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    scratch::clean();
    conclusion.exit_code()
}
