//! The guard as the client sees it while a session is recorded: passes everything on and writes it down.

mod log;
mod bridge;

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output, Stdio};

use phasegate::exit::CONFIRMED;

use super::frame::{Frame, Reply};
use log::{environment, keep, own_files, record};

/// A call of the recorded binary.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The binary that answers.
    binary: PathBuf,
    /// Where the line goes.
    log: PathBuf,
    /// The binary's arguments.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    rest: Vec<String>,
}

/// Runs the binary on this process's input and ends as it ends. Hooks of concurrent calls wait for each other, so
/// that the order of the lines is the order in which they were answered. What cannot be recorded is refused.
pub(crate) fn run(args: &Args) -> ExitCode {
    match recorded(args) {
        Ok(output) => ExitCode::from(output.status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(2)),
        Err(problem) => {
            anstream::eprintln!("the hook could not be recorded: {problem}");
            ExitCode::from(2)
        }
    }
}

fn recorded(args: &Args) -> std::io::Result<Output> {
    if args.rest.first().is_some_and(|word| word == "serve") {
        return bridge::pass(&args.binary, &args.log, &args.rest);
    }
    let mut input = Vec::new();
    std::io::stdin().read_to_end(&mut input)?;
    let mut log = OpenOptions::new().create(true).append(true).open(&args.log)?;
    log.lock()?;
    let output = answer(&args.binary, &args.rest, &input)?;
    note(&mut log, &args.rest, &input, &output)?;
    std::io::stdout().write_all(&output.stdout)?;
    std::io::stderr().write_all(&output.stderr)?;
    Ok(output)
}

fn answer(binary: &Path, rest: &[String], input: &[u8]) -> std::io::Result<Output> {
    let mut command = Command::new(binary);
    let piped = command.args(rest).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A hook that does not read all of its input closes the pipe; its answer still counts.
        drop(stdin.write_all(input));
    }
    child.wait_with_output()
}

fn note(log: &mut File, rest: &[String], input: &[u8], output: &Output) -> std::io::Result<()> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    // To the client, a confirmed answer is one with status 0: the shell between them sees to that.
    let status = output.status.code().map(|code| if code == i32::from(CONFIRMED) { 0 } else { code });
    let reply = Reply { stdout: text(&output.stdout), stderr: text(&output.stderr), status };
    keep(
        log,
        &Frame {
            args: rest.to_vec(),
            environment: environment(rest),
            files: own_files(rest),
            record: record(rest, input),
            input: text(input),
            reply,
        },
    )
}
