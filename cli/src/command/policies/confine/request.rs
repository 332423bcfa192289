//! The command of a person, what it may change, and what is said where it was not run.

use std::ffi::OsString;
use std::io::ErrorKind;

use phasegate_confine::{Error, Level, Probed, Request, work_base};
use serde_json::{Value, json};

use crate::confining::overlaid;
use crate::context::Context;
use crate::exit::{NO_PROGRAM, NO_PROGRAM_TO_START, NOT_CONFINED};
use crate::output::Failure;

/// The command of a person, behind `--`.
#[derive(Debug, clap::Args)]
pub struct Line {
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}

/// A request for the home and the project of the current folder, without a command.
pub(super) fn request(level: Level, context: &Context) -> Result<Request, Failure> {
    let runtime = context.runtime()?;
    let project = context.find_project(&runtime)?.root;
    let overlaid = overlaid(&runtime.locations, &project);
    let work = work_base(&overlaid).ok_or_else(|| {
        Failure::new("no folder for temporary layers can be used").with_help("make `/var/tmp` writable")
    })?;
    Ok(Request { overlaid, ..Request::new(level, Vec::new(), work) })
}

/// The exit status of a command that was not run, after saying why.
pub(super) fn not_run(error: &Error, level: Level, context: &Context) -> u8 {
    let help = match error {
        Error::Start { .. } => "give a program that exists, as a shell would find it".to_owned(),
        _ => {
            format!("the level `{level}` does not hold here; `phasegate confine probe` tries each, and nothing has run")
        }
    };
    context.out.failure(&Failure::new(error.to_string()).with_help(help));
    match error {
        Error::Start { cause, .. } if cause.kind() == ErrorKind::NotFound => NO_PROGRAM,
        Error::Start { .. } => NO_PROGRAM_TO_START,
        _ => NOT_CONFINED,
    }
}

/// A level that was tried, as JSON.
pub(super) fn as_json(probed: &Probed) -> Value {
    json!({"level": probed.level, "works": probed.refused.is_none(), "refused": probed.refused})
}
