//! `phasegate mcp proxy`: stands between a client and its servers.

use std::path::{Path, PathBuf};

use phasegate_mcp::config;
use phasegate_mcp::proxy::{Origin, Spec};
use phasegate_mcp::stdio::Command;

use super::{Setting, serve_here};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate mcp proxy`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A file that lists the servers, in the clients' own form: `{"mcpServers": {NAME: {"command": ...}}}`
    #[arg(long, value_name = "FILE", conflicts_with = "command")]
    pub config: Option<PathBuf>,
    /// The server's name, as policies know it (default: the command's file name); with `--config`, the only one that is used
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,
    /// The command that starts the server, and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

/// Stands there until the client is gone, or its only server is.
///
/// # Errors
///
/// No server is named, or the file that names them cannot be used.
pub fn run(args: Args, context: &Context) -> Result<Exit, Failure> {
    let mut specs = specs(args)?;
    let setting = Setting::of(context, &mut specs)?;
    serve_here(&specs, setting)
}

/// The servers that the arguments name.
fn specs(args: Args) -> Result<Vec<Spec>, Failure> {
    if let Some(path) = &args.config {
        return listed(path, args.server.as_deref());
    }
    let mut words = args.command.into_iter();
    let program = words.next().ok_or_else(|| {
        Failure::new("no server is named")
            .with_help("give the command that starts it after `--`, or a list with `--config`")
    })?;
    let file_name = || Path::new(&program).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = args.server.or_else(file_name).unwrap_or_else(|| program.clone());
    let command = Command { program, args: words.collect(), ..Command::default() };
    Ok(vec![Spec { name, trusted: false, origin: Origin::Command(command) }])
}

fn listed(path: &Path, only: Option<&str>) -> Result<Vec<Spec>, Failure> {
    let failed = |what: String| Failure::new(format!("`{}`: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let help = "`{\"mcpServers\": {NAME: {\"command\": PROGRAM, \"args\": [...]}}}` is the form that is read";
    config::servers(&text, only, |name| std::env::var(name).ok()).map_err(|what| failed(what).with_help(help))
}
