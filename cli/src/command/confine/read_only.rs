//! `phasegate confine read-only`: a command that keeps no change.

use std::path::{Path, PathBuf};

use clap::builder::PossibleValuesParser;
use phasegate_confine::{Change, Level, Report, Request, probe, run as run_confined};
use phasegate_core::canonical::Sorted;
use serde_json::json;

use super::request::{Line, not_run, request};
use crate::context::Context;
use crate::exit::NOT_KEPT;
use crate::output::Failure;

/// The most changes that are told as text.
const MOST: usize = 20;

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
        None => best(&request)?,
    };
    match run_confined(&Request { level, command: args.line.command.clone(), ..request }) {
        Ok(report) => Ok(ended(&report, context)),
        Err(error) => Ok(not_run(&error, level, context)),
    }
}

fn open(folder: &Path) -> Result<PathBuf, Failure> {
    folder.canonicalize().map_err(|error| Failure::new(format!("`{}` cannot be opened: {error}", folder.display())))
}

/// The best level that works here.
fn best(request: &Request) -> Result<Level, Failure> {
    let mut causes = Vec::new();
    for level in Level::READ_ONLY {
        let Some(probed) = probe(&[level], request).pop() else { continue };
        match probed.refused {
            None => return Ok(level),
            Some(cause) => causes.push(format!("{level}: {cause}")),
        }
    }
    Err(Failure::new(format!("no level holds a command here ({})", causes.join("; ")))
        .with_help("run the command without `phasegate confine`, or on a system that has user namespaces or Landlock"))
}

/// Tells what is not kept. Gives the exit status.
fn ended(report: &Report, context: &Context) -> u8 {
    if context.out.json {
        let told = json!(report);
        context.out.note(Sorted(&told));
    } else {
        let folder = std::env::current_dir().unwrap_or_default();
        for change in report.changes.iter().take(MOST) {
            context.out.note(format_args!("not kept: {}", line(change, &folder)));
        }
        let more = report.changes.len().saturating_sub(MOST) + report.more;
        if more > 0 {
            context.out.note(format_args!("not kept: {more} more"));
        }
    }
    let lost = !report.changes.is_empty();
    if lost && report.status == 0 { NOT_KEPT } else { report.status }
}

/// One letter and the path, as git would write them.
fn line(change: &Change, folder: &Path) -> String {
    let path = Path::new(&change.path);
    format!("{} {}", change.kind.letter(), path.strip_prefix(folder).unwrap_or(path).display())
}
