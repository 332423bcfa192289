//! `phasegate confine read-only`: a command that keeps no change.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use phasegate_confine::{Level, Report, Request, run as run_confined};
use phasegate_core::values::canonical::Sorted;
use serde_json::json;

use super::request::{Line, not_run, request};
use crate::confining::{best, not_kept};
use crate::context::Context;
use crate::exit::NOT_KEPT;
use crate::output::Failure;

/// The arguments of `phasegate confine read-only`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A folder in which changes stay
    #[arg(long, value_name = "DIR")]
    pub writes: Vec<PathBuf>,
    /// Leave the network as it is; default: only `localhost`, without its servers
    #[arg(long)]
    pub network: bool,
    /// Hold it at this level and at no other; default: the best that works here
    #[arg(long, value_name = "LEVEL", value_parser = PossibleValuesParser::new(Level::READ_ONLY.map(Level::name)))]
    pub level: Option<String>,
    /// End the command when the process ends that started `phasegate`
    #[arg(long)]
    pub with_parent: bool,
    /// What to run.
    #[command(flatten)]
    pub line: Line,
}

/// Runs the command, and tells what is not kept of it.
pub(super) fn run(args: &Args, context: &Context) -> Result<u8, Failure> {
    let request = Request {
        writable: args.writes.iter().map(|folder| open(folder)).collect::<Result<_, _>>()?,
        network: args.network,
        with_parent: args.with_parent,
        ..request(Level::Overlay, context)?
    };
    let level = match args.level.as_deref().and_then(Level::find) {
        Some(level) => level,
        None => best(&request).map_err(|causes| {
            let help =
                "run the command without `phasegate confine`, or on a system that has user namespaces or Landlock";
            Failure::new(format!("no level holds a command here ({causes})")).with_help(help)
        })?,
    };
    match run_confined(&Request { level, command: args.line.command.clone(), ..request }) {
        Ok(report) => Ok(ended(&report, context)),
        Err(error) => Ok(not_run(&error, level, context)),
    }
}

fn open(folder: &Path) -> Result<PathBuf, Failure> {
    folder.canonicalize().map_err(|error| Failure::new(format!("`{}` cannot be opened: {error}", folder.display())))
}

/// Tells what is not kept. Gives the exit status.
fn ended(report: &Report, context: &Context) -> u8 {
    if context.out.json {
        let told = json!(report);
        context.out.note(Sorted(&told));
    } else {
        not_kept(report).iter().for_each(|line| context.out.note(line));
    }
    let lost = !report.changes.is_empty();
    if lost && report.status == 0 { NOT_KEPT } else { report.status }
}
