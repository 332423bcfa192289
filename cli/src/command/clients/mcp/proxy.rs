//! `phasegate mcp proxy`: stands between a client and its servers.

use std::path::{Path, PathBuf};

use phasegate_mcp::config;
use phasegate_mcp::http::Remote;
use phasegate_mcp::proxy::{Origin, Spec};
use phasegate_mcp::wire::stdio::Command;

use super::listen;
use super::setting::{InForce, Setting, serve_here};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate mcp proxy`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A file that lists the servers, in the clients' own form: `{"mcpServers": {NAME: {"command": ...}}}`
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "url"])]
    pub config: Option<PathBuf>,
    /// The address of a server that speaks HTTP
    #[arg(long, value_name = "ADDRESS", conflicts_with = "command")]
    pub url: Option<String>,
    /// A header for every request to that address; `${VARIABLE}` is replaced from the environment
    #[arg(long, value_name = "NAME: VALUE", requires = "url")]
    pub header: Vec<String>,
    /// The server's name in policies (default: the command's file name, or the address's host); with `--config`, the
    /// only server to use
    #[arg(long, value_name = "NAME")]
    pub server: Option<String>,
    /// The command that starts the server, and its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// What holds for clients that activate nothing.
    #[command(flatten)]
    pub in_force: InForce,
    /// How clients come over HTTP.
    #[command(flatten)]
    pub http: listen::Listening,
}

/// Stands there until the client is gone, or its only server is.
///
/// # Errors
///
/// No server is named, or the file that names them cannot be used.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let listening = args.http.settings()?;
    let mut specs = specs(args)?;
    let setting = Setting::of(context, &mut specs, &args.in_force)?;
    match listening {
        Some(listening) => listen::serve(listening.address, listening.settings, specs, setting, context),
        None => serve_here(&specs, setting),
    }
}

/// The servers that the arguments name.
fn specs(args: &Args) -> Result<Vec<Spec>, Failure> {
    if let Some(path) = &args.config {
        return listed(path, args.server.as_deref());
    }
    if let Some(url) = &args.url {
        return Ok(vec![reached(url, &args.header, args.server.clone())?]);
    }
    let mut words = args.command.iter().cloned();
    let program = words.next().ok_or_else(|| {
        Failure::new("no server is named").with_help(
            "give the command that starts it after `--`, its address with `--url`, or a list with `--config`",
        )
    })?;
    let file_name = || Path::new(&program).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let name = args.server.clone().or_else(file_name).unwrap_or_else(|| program.clone());
    let command = Command { program, args: words.collect(), ..Command::default() };
    Ok(vec![Spec { name, trusted: false, origin: Origin::Command(command) }])
}

fn reached(url: &str, headers: &[String], server: Option<String>) -> Result<Spec, Failure> {
    let mut pairs = Vec::new();
    for header in headers {
        let help = "`Authorization: Bearer ${TOKEN}` is the form that is read";
        let bad = |what: String| Failure::new(format!("a header {what}")).with_help(help);
        let (name, value) = header.split_once(':').ok_or_else(|| bad("has no `:`".into()))?;
        let value = config::filled(value.trim(), &|name| std::env::var(name).ok()).map_err(bad)?;
        pairs.push((name.trim(), value));
    }
    let headers = pairs.iter().map(|(name, value)| (*name, value.as_str()));
    let remote = Remote::new(url, headers).map_err(|bad| Failure::new(bad.to_string()))?;
    let name = server.unwrap_or_else(|| remote.host().to_owned());
    Ok(Spec { name, trusted: false, origin: Origin::Url(remote) })
}

fn listed(path: &Path, only: Option<&str>) -> Result<Vec<Spec>, Failure> {
    let failed = |what: String| Failure::new(format!("`{}`: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    let help = "`{\"mcpServers\": {NAME: {\"command\": PROGRAM, \"args\": [...]}}}` is the form that is read";
    config::servers(&text, only, |name| std::env::var(name).ok()).map_err(|what| failed(what).with_help(help))
}
