//! `--listen`: clients that come over HTTP.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use phasegate_mcp::http::{Access, Behind, Clients, Ends, Listen, MIN_TOKEN_CHARS, Tokens, over_http};
use phasegate_mcp::options::Options;
use phasegate_mcp::proxy::Spec;
use phasegate_runtime::processes::ancestors::Process;
use phasegate_runtime::processes::connections::process_behind;

use super::setting::Setting;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The port where none is given.
const PORT: u16 = 8931;

/// Sees the processes of this machine.
#[derive(Clone, Copy, Debug)]
struct Peers;

impl Clients for Peers {
    fn behind(&self, connection: Ends) -> Vec<String> {
        let process = process_behind(connection.client, connection.own);
        let all = process.into_iter().flat_map(|process| std::iter::once(process).chain(process.ancestors()));
        all.map(Process::name).collect()
    }

    fn is_gone(&self, process: &str) -> bool {
        Process::named(process).is_some_and(|process| !process.alive())
    }
}

/// The arguments that say how clients come over HTTP.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Clients over HTTP")]
pub struct Listening {
    /// Serve clients over HTTP at this address instead of stdio; the path is `/mcp`
    #[arg(long, value_name = "ADDRESS[:PORT]", value_parser = address)]
    pub listen: Option<SocketAddr>,
    /// A file with the clients' tokens, one line `NAME TOKEN` each; required if other machines can reach the address
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub token_file: Option<PathBuf>,
    /// A host name that clients may use for the address, besides `localhost`
    #[arg(long, value_name = "NAME", requires = "listen")]
    pub allow_host: Vec<String>,
    /// The origin of a web page that may call the address: `https://example.org`
    #[arg(long, value_name = "ORIGIN", requires = "listen")]
    pub allow_origin: Vec<String>,
    /// Close the servers of a session after this many minutes without a request; the session goes on when its client does
    #[arg(long, value_name = "MINUTES", requires = "listen", default_value = "30", value_parser = idle)]
    pub idle: Duration,
    /// The most sessions that have servers running at once, each session its own; a request of one more gets status 503
    #[arg(long, value_name = "NUMBER", requires = "listen", default_value = "4096", value_parser = sessions)]
    pub max_sessions: usize,
    /// Let `activate_skill` give clients without a session a handle, which names a session of its own; a call without
    /// the handle is judged in the client's one session
    #[arg(long, requires = "listen")]
    pub handles: bool,
    /// The default: each client without a session has one session
    #[arg(long, requires = "listen", hide = true, conflicts_with = "handles")]
    pub no_handles: bool,
}

/// Where and how to listen.
#[derive(Debug)]
pub struct Listener {
    /// The address.
    pub address: SocketAddr,
    /// Who may come, and how long a session stays.
    pub settings: Listen,
}

impl Listening {
    /// How to listen, if that is wanted.
    ///
    /// # Errors
    ///
    /// The tokens cannot be used, or there are none and others than this machine could call.
    pub fn settings(&self) -> Result<Option<Listener>, Failure> {
        let Some(address) = self.listen else { return Ok(None) };
        let loopback = address.ip().is_loopback();
        let tokens = match &self.token_file {
            Some(path) => tokens(path)?,
            None if loopback => Tokens::default(),
            None => {
                let help = "name a file of tokens with `--token-file`, or listen at `127.0.0.1`";
                return Err(Failure::new(format!("other machines can reach `{address}`")).with_help(help));
            }
        };
        let access = Access { hosts: self.allow_host.clone(), origins: self.allow_origin.clone(), loopback };
        let settings = Listen {
            access,
            tokens,
            idle: self.idle,
            sessions: self.max_sessions,
            handles: self.handles,
            clients: Arc::new(Peers),
            ..Listen::default()
        };
        Ok(Some(Listener { address, settings }))
    }
}

/// Serves clients until a signal ends it. The first line on standard output is the address.
pub(super) fn serve(
    address: SocketAddr,
    settings: Listen,
    specs: Vec<Spec>,
    setting: Setting,
    context: &Context,
) -> Result<Exit, Failure> {
    let settings = Listen { handles: settings.handles && setting.options.own_tools, ..settings };
    let options = Options { handles: settings.handles, ..setting.options };
    let behind = Behind { specs, guard: setting.guard, options };
    over_http(address, settings, behind, |url| context.out.line(url))
        .map_err(|error| Failure::new(format!("`{address}` cannot be served: {error}")))?;
    Ok(Exit::Done)
}

fn tokens(path: &Path) -> Result<Tokens, Failure> {
    let failed = |what: String| Failure::new(format!("`{}`: {what}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| failed(error.to_string()))?;
    if exposed(path) {
        let help = format!("restrict access: `chmod 600 {}`", path.display());
        return Err(failed("other users than the owner can read or change the tokens".into()).with_help(help));
    }
    Tokens::parse(&text).map_err(|bad| {
        let place = if bad.line == 0 { String::new() } else { format!("line {}: ", bad.line) };
        failed(format!("{place}{}", bad.text)).with_help(format!(
            "a line holds a name and a token of at least {MIN_TOKEN_CHARS} characters, with a blank between"
        ))
    })
}

#[cfg(unix)]
fn exposed(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::metadata(path).is_ok_and(|found| found.permissions().mode() & 0o077 != 0)
}

#[cfg(not(unix))]
fn exposed(_: &Path) -> bool {
    false
}

/// A time in minutes, or in seconds (`90s`), of a day at most.
fn idle(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.strip_suffix('s').map_or((text, 60), |number| (number, 1));
    let seconds = number.parse::<u64>().ok().and_then(|number| number.checked_mul(unit));
    let seconds = seconds.filter(|seconds| (1..=24 * 60 * 60).contains(seconds));
    seconds.map(Duration::from_secs).ok_or_else(|| "not a number of minutes, or of seconds: `90s`".to_owned())
}

/// A number of sessions, one at least.
fn sessions(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|number| *number > 0).ok_or_else(|| "not a number from 1 on".to_owned())
}

/// An address with or without a port.
fn address(text: &str) -> Result<SocketAddr, String> {
    let named = text.strip_prefix("localhost").map(|rest| format!("{}{rest}", Ipv4Addr::LOCALHOST));
    let text = named.as_deref().unwrap_or(text);
    let bare = text.trim_start_matches('[').trim_end_matches(']');
    text.parse()
        .or_else(|_| bare.parse::<IpAddr>().map(|address| SocketAddr::new(address, PORT)))
        .map_err(|_| "not an address, or an address and a port: `127.0.0.1:8931`".to_owned())
}

#[cfg(test)]
mod tests {
    use super::address;

    #[test]
    fn addresses_with_and_without_a_port() {
        for (text, meant) in [
            ("127.0.0.1", Some("127.0.0.1:8931")),
            ("127.0.0.1:0", Some("127.0.0.1:0")),
            ("localhost", Some("127.0.0.1:8931")),
            ("localhost:80", Some("127.0.0.1:80")),
            ("[::1]:80", Some("[::1]:80")),
            ("::1", Some("[::1]:8931")),
            ("[::1]", Some("[::1]:8931")),
            ("0.0.0.0", Some("0.0.0.0:8931")),
            ("localhost.example", None),
            ("example.org:80", None),
            (":80", None),
            ("127.0.0.1:99999", None),
        ] {
            assert_eq!(address(text).ok().map(|found| found.to_string()).as_deref(), meant, "{text}");
        }
    }
}
