//! The relay as a program that listens.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use phasegate_adapter::Guard;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::net::TcpListener;

use super::server::listen;
use super::sessions::Join;
use super::settings::{Listen, PATH};
use crate::options::Options;
use crate::proxy::{Spec, join, stopped};

/// What clients reach: the servers, and what decides their calls.
pub struct Behind {
    /// The servers. Each session has connections, and children, of its own.
    pub specs: Vec<Spec>,
    /// What decides.
    pub guard: Arc<dyn Guard>,
    /// How the relays work.
    pub options: Options,
}

/// How many threads serve clients at most: a decision that waits for the disk holds one up.
const MAX_THREADS: usize = 4;

/// Serves clients at an address until a signal ends it; each session has servers of its own. `ready` is told the address
/// at which messages are taken.
///
/// # Errors
///
/// The address cannot be listened at, or no runtime can be made.
pub fn over_http(address: SocketAddr, settings: Listen, behind: Behind, ready: impl FnOnce(&str)) -> io::Result<()> {
    let Behind { specs, guard, options } = behind;
    many_files();
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(threads).enable_all().build()?;
    let result = runtime.block_on(async {
        let listener = TcpListener::bind(address).await?;
        let stop = stopped()?;
        ready(&format!("http://{}{PATH}", listener.local_addr()?));
        let (specs, relayed) = (Arc::new(specs), Arc::clone(&guard));
        let joined: Join = Arc::new(move |client, session| {
            let (specs, guard, options) = (Arc::clone(&specs), Arc::clone(&relayed), options.clone());
            Box::pin(async move {
                join(&specs, client, session, guard, options).await;
            })
        });
        listen(listener, settings, guard, joined, stop).await;
        Ok(())
    });
    runtime.shutdown_background();
    result
}

/// Lets this process open as many files as the system lets it: a session can have three connections.
fn many_files() {
    let limit = getrlimit(Resource::Nofile);
    let most = Rlimit { current: limit.maximum, ..limit };
    if setrlimit(Resource::Nofile, most).is_err() {
        tracing::debug!("the number of open files could not be raised");
    }
}
