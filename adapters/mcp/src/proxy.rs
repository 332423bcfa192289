//! The relay as a program: servers by their descriptions, a client at standard input and output.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use phasegate_adapter::Guard;
use tokio::signal::unix::{SignalKind, signal};

use crate::options::{Options, Session};
use crate::relay::{Ended, Upstream, relay};
use crate::wire::link::{Link, link};
use crate::wire::stdio::{self, Child, Command};

/// A server, as the user describes it.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Its name.
    pub name: String,
    /// Whether its annotations are believed.
    pub trusted: bool,
    /// How it is reached.
    pub origin: Origin,
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum Origin {
    /// It is started as a child.
    Command(Command),
    /// It is reached by an address.
    #[cfg(feature = "http")]
    Url(crate::http::Remote),
}

/// How long answers may wait to be read after the end.
const FLUSH_TIMEOUT: Duration = Duration::from_secs(2);

/// Connects to each server, connects the client with them, and ends those that it started. One client, one session.
pub async fn join(specs: &[Spec], client: Link, session: Session, guard: Arc<dyn Guard>, options: Options) -> Ended {
    let mut children: Vec<Child> = Vec::new();
    let mut upstreams = Vec::new();
    for spec in specs {
        let (link, trouble) = match reach(spec, &mut children) {
            Ok(link) => (link, None),
            Err(error) => {
                tracing::error!("the server `{}` cannot be started: {error}", spec.name);
                (link().0, Some(format!("it cannot be started: {error}")))
            }
        };
        upstreams.push(Upstream { name: spec.name.clone(), trusted: spec.trusted, link, trouble });
    }
    let none_started = !upstreams.is_empty() && upstreams.iter().all(|upstream| upstream.trouble.is_some());
    let ended = relay(client, upstreams, session, guard, options).await;
    futures_util::future::join_all(children.into_iter().map(Child::end)).await;
    if none_started && ended == Ended::ClientClosed { Ended::ServerGone } else { ended }
}

fn reach(spec: &Spec, children: &mut Vec<Child>) -> io::Result<Link> {
    match &spec.origin {
        Origin::Command(command) => {
            let named = |error: io::Error| io::Error::new(error.kind(), format!("`{}`: {error}", command.program));
            let (link, child) = command.start().map_err(named)?;
            children.push(child);
            Ok(link)
        }
        #[cfg(feature = "http")]
        Origin::Url(remote) => Ok(crate::http::connect(remote.clone())),
    }
}

/// Serves the client that started this process until it is gone, the only server is, or a signal ends it.
///
/// # Errors
///
/// Standard input or output cannot be used, or no runtime can be made.
pub fn over_stdio(specs: &[Spec], session: Session, guard: Arc<dyn Guard>, options: Options) -> io::Result<Ended> {
    block_on(async {
        let (client, carried) = stdio::client()?;
        let stop = stopped()?;
        let joined = join(specs, client, session, guard, options);
        tokio::pin!(joined);
        let ended = tokio::select! {
            ended = &mut joined => ended,
            () = stop => {
                // As if the client had closed its end, but that the session has not ended.
                stdio::tell_all_to_end();
                carried.reading.abort();
                joined.await;
                Ended::Stopped
            }
        };
        let _ = tokio::time::timeout(FLUSH_TIMEOUT, carried.writing).await;
        Ok(ended)
    })
}

/// Runs a future on this thread.
///
/// # Errors
///
/// No runtime can be made; else as the future.
pub fn block_on<T>(future: impl Future<Output = io::Result<T>>) -> io::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let result = runtime.block_on(future);
    // A thread that waits for standard input is not waited for.
    runtime.shutdown_background();
    result
}

/// Ready when the process is told to end.
///
/// # Errors
///
/// Signals cannot be waited for.
pub fn stopped() -> io::Result<impl Future<Output = ()>> {
    let mut term = signal(SignalKind::terminate())?;
    let mut int = signal(SignalKind::interrupt())?;
    let mut hup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = term.recv() => {}
            _ = int.recv() => {}
            _ = hup.recv() => {}
        }
    })
}
