//! `phasegate confine protect`: a command that cannot change certain folders.

use std::path::PathBuf;

use phasegate_confine::{Level, Request, run as run_confined};

use super::request::{Line, not_run, request};
use crate::context::Context;
use crate::output::Failure;

/// The arguments of `phasegate confine protect`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A folder that the command cannot change; default: the project's `.phasegate` and the guard's own state
    #[arg(long, value_name = "DIR")]
    pub folder: Vec<PathBuf>,
    /// What to run.
    #[command(flatten)]
    pub line: Line,
}

/// Becomes the command.
pub(super) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let protected = if args.folder.is_empty() { own(context)? } else { args.folder.clone() };
    if protected.is_empty() {
        return Err(Failure::new("neither the project's `.phasegate` nor the guard's state exists")
            .with_help("name a folder with `--folder`"));
    }
    let request = request(Level::Protect, context)?;
    let request = Request { protected, command: args.line.command.clone(), ..request };
    match run_confined(&request) {
        Ok(report) => Ok(report.status),
        Err(error) => Ok(not_run(&error, Level::Protect, context)),
    }
}

/// The guard's own folders.
fn own(context: &Context) -> Result<Vec<PathBuf>, Failure> {
    let runtime = context.runtime()?;
    let root = context.find_project(&runtime)?.root;
    let mut folders = vec![root.join(".phasegate"), runtime.locations.state, runtime.locations.user];
    folders.retain(|folder| folder.is_dir());
    Ok(folders)
}
