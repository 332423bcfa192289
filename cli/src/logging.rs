//! Logs: to standard error or to `PHASEGATE_LOG_FILE`, filtered by `PHASEGATE_LOG`. Never to standard output.
//!
//! A filter is a level, or a list of modules with their levels: `warn,phasegate_runtime=debug`.

use std::fs::OpenOptions;
use std::sync::Mutex;

use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

/// Whether the program logs only if the environment asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quiet {
    /// Warnings are logged without being asked for.
    No,
    /// Nothing is: a hook's standard error may be shown to an agent.
    Yes,
}

/// Starts logging. What cannot be opened is not logged to.
pub fn start(quiet: Quiet) {
    let filter = std::env::var("PHASEGATE_LOG").ok().filter(|filter| !filter.is_empty());
    let file = std::env::var_os("PHASEGATE_LOG_FILE").filter(|path| !path.is_empty());
    let level = match (&filter, quiet) {
        (Some(filter), _) => filter.as_str(),
        (None, Quiet::Yes) if file.is_none() => return,
        (None, Quiet::Yes) => "phasegate=debug,phasegate_runtime=debug",
        (None, Quiet::No) => "warn",
    };
    let Ok(filter) = level.parse::<Targets>() else { return };
    let lines = fmt::layer().with_ansi(false);
    let subscriber = tracing_subscriber::registry().with(filter);
    let _ = match file.map(|path| OpenOptions::new().append(true).create(true).open(path)) {
        Some(Ok(file)) => subscriber.with(lines.with_writer(Mutex::new(file))).try_init(),
        Some(Err(_)) => return,
        None => subscriber.with(lines.with_writer(std::io::stderr)).try_init(),
    };
}
