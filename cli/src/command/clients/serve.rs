//! `phasegate serve --platform PLATFORM`: the bridge that a platform's plugin starts and speaks with, line by line.

use std::io::{Write as _, stdin, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use phasegate_adapter::Problem;
use phasegate_core::Code;
use phasegate_runtime::deadline::limit_from_environment;
use phasegate_runtime::{Locations, Runtime};
use phasegate_service::bridge::{Bridge, refuse};

use super::hook::environment;
use crate::exit::Exit;
use crate::shell_probe::SHELL_PROBE;

/// The arguments of `phasegate serve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The platform, as `phasegate adapters` lists it
    #[arg(long)]
    pub platform: String,
    /// Also write audit events to this file, besides `audit_log` in a config; relative to the project
    #[arg(long, value_name = "PATH")]
    pub audit_log: Option<PathBuf>,
}

/// Answers the plugin until it closes standard input. Nothing but lines of the protocol goes to standard output.
pub fn run(args: Args) -> ExitCode {
    std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    let served = bridge(args)
        .inspect_err(|problem| refuse(stdout(), problem))
        .and_then(|bridge| bridge.serve(stdin().lock(), stdout()));
    match served {
        Ok(()) => end(Exit::Done),
        Err(problem) => {
            tracing::error!("{problem}");
            end(Exit::Failed)
        }
    }
}

fn bridge(args: Args) -> Result<Bridge, Problem> {
    let unknown = || {
        let known: Vec<_> = phasegate_adapters::all().iter().map(|adapter| adapter.id()).collect();
        let text = format!("phasegate knows no platform `{}`; this build has: {}", args.platform, known.join(", "));
        Problem::new(Code::BadInput, text)
    };
    let adapter = phasegate_adapters::find(&args.platform).ok_or_else(unknown)?;
    let mut runtime = Runtime::new(Locations::from_environment()?, phasegate_adapters::all());
    runtime.audit_log = args.audit_log;
    runtime.shell_probe = SHELL_PROBE;
    Ok(Bridge { runtime, adapter, environment: environment(), limit: limit_from_environment(), give_up })
}

/// Ends the process at once: a thread of it may be stuck.
fn end(exit: Exit) -> ! {
    let _ = stdout().flush();
    std::process::exit(if exit == Exit::Done { 0 } else { 2 })
}

fn give_up() {
    tracing::error!("an answer did not arrive: the bridge ends, and the plugin starts another one");
    end(Exit::Failed)
}
