//! Linux: namespaces, mounts, Landlock and seccomp.
//!
//! `outside` is the process that the caller is. It enters new namespaces and starts `inside`, the first process of a PID
//! namespace, which lays the mounts, gives up its rights and starts the command. At the level of Landlock there are no
//! namespaces, and `inside` becomes the command. At the level of protection, `protect` makes the caller itself the command.

mod stages;
mod limits;
mod signals;
mod terminal;
pub(crate) mod work;
mod layers;
mod sockets;
mod cache_variables;
mod handshake;
mod inside;
mod noise;
mod changes;
mod returned;
mod orphans;
mod protect;
mod outside;

use std::process::{ExitCode, Stdio};

use stages::{INSIDE, TRIAL, this_program};

use crate::error::{Error, Result, Step as _};
use crate::level::Level;
use crate::mechanism::Mechanism;
use crate::report::Report;
use crate::request::Request;

/// The mechanism of Linux.
pub(crate) struct Linux;

impl Mechanism for Linux {
    fn try_level(&self, request: &Request) -> Result<()> {
        let mut trial = this_program(TRIAL);
        trial.args(request.to_args()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let output = trial.output().step("start a process")?;
        if output.status.success() {
            return Ok(());
        }
        let text = String::from_utf8_lossy(&output.stderr);
        let (step, cause) = text.trim_end().split_once(": ").unwrap_or(("try it", text.trim_end()));
        Err(Error::refused(step, cause))
    }

    fn run(&self, request: &Request) -> Result<Report> {
        match request.level {
            Level::Overlay | Level::Binds => outside::run_in_namespaces(request),
            Level::Landlock => outside::run_restricted(request),
            Level::Protect => Err(protect::become_command(request)),
            Level::None => Err(Error::Unsupported("the level `none` confines nothing".into())),
        }
    }

    fn profile(&self, _: &Request) -> Option<String> {
        None
    }

    fn stage(&self) -> Option<ExitCode> {
        let mut args = std::env::args_os();
        let stage = args.next()?;
        if stage == INSIDE {
            return Some(inside::run(args));
        }
        (stage == TRIAL).then(|| trial(args))
    }
}

/// Enters a level, runs nothing, and tells the process that asked what was refused.
fn trial(args: std::env::ArgsOs) -> ExitCode {
    let request = Request::from_args(args).ok_or_else(|| Error::Unsupported("no request".into()));
    let tried = request.and_then(|request| match request.level {
        Level::Protect => protect::enter(&request),
        _ => Linux.run(&request).map(|_| ()),
    });
    match tried {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            use std::io::Write as _;
            let _ = writeln!(std::io::stderr(), "{error}");
            ExitCode::FAILURE
        }
    }
}
