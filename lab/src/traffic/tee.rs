//! Between an MCP client and its server: passes every line on and writes it down, with who sent it.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Read, Write};
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::Serialize;
use serde_json::value::RawValue;

/// How long a server may go on when its client is gone.
const PATIENCE: Duration = Duration::from_millis(500);

/// A server as its client starts it while it is recorded.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// Where the lines go.
    log: PathBuf,
    /// The server's name.
    server: String,
    /// The session's name.
    session: String,
    /// The server's command.
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, required = true)]
    command: Vec<String>,
}

/// One message, as the adapter is given it, or that the client is gone.
#[derive(Serialize)]
struct Frame<'a> {
    session: &'a str,
    server: &'a str,
    from: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<Box<RawValue>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    closed: bool,
}

/// Runs the server until it or its client is gone.
pub(crate) fn run(args: &Args) -> ExitCode {
    match between(args) {
        Ok(code) => code,
        Err(problem) => {
            anstream::eprintln!("the server could not be recorded: {problem}");
            ExitCode::FAILURE
        }
    }
}

fn between(args: &Args) -> std::io::Result<ExitCode> {
    let Some((program, rest)) = args.command.split_first() else { return Ok(ExitCode::FAILURE) };
    let log = OpenOptions::new().create(true).append(true).open(&args.log)?;
    let log = Arc::new(Mutex::new(log));
    let mut child = Command::new(program).args(rest).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let child = Arc::new(Mutex::new(child));
    let (server, session, written) = (args.server.clone(), args.session.clone(), Arc::clone(&log));
    if let Some(stdin) = stdin {
        let child = Arc::clone(&child);
        std::thread::spawn(move || {
            drop(pass(std::io::stdin().lock(), stdin, "client", &server, &session, &written));
            let gone = Frame { session: &session, server: &server, from: "client", message: None, closed: true };
            drop(keep(&gone, &written));
            // The client is gone, so the server has no reason to stay.
            std::thread::sleep(PATIENCE);
            drop(locked(&child).kill());
        });
    }
    if let Some(stdout) = stdout {
        drop(pass(stdout, std::io::stdout().lock(), "server", &args.server, &args.session, &log));
    }
    let status = locked(&child).wait()?;
    Ok(ExitCode::from(status.code().and_then(|code| u8::try_from(code).ok()).unwrap_or(1)))
}

fn locked<T>(one: &Mutex<T>) -> MutexGuard<'_, T> {
    one.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Passes lines on, each written down before it goes.
fn pass(
    input: impl Read,
    mut output: impl Write,
    from: &'static str,
    server: &str,
    session: &str,
    log: &Mutex<File>,
) -> std::io::Result<()> {
    for line in BufReader::new(input).lines() {
        let line = line?;
        if !line.trim().is_empty() {
            let message = Some(RawValue::from_string(line.trim().to_string())?);
            keep(&Frame { session, server, from, message, closed: false }, log)?;
        }
        output.write_all(format!("{line}\n").as_bytes())?;
        output.flush()?;
    }
    Ok(())
}

fn keep(frame: &Frame<'_>, log: &Mutex<File>) -> std::io::Result<()> {
    let line = format!("{}\n", serde_json::to_string(frame)?);
    locked(log).write_all(line.as_bytes())
}
