//! The relay: joins one client's link with those of its servers. Everything passes as it is; calls are decided first.
//!
//! Two directions run side by side, so that neither waits for the other to be read. Within each, messages leave in the
//! order in which they came: while one is being decided, those behind it are handed to the guard, and wait.

mod listed_tools;
mod server;
mod pending;
mod act;
mod shared;
mod initialize;
mod tool_list;
mod local;
mod fan_out;
mod ending;
mod multiplexed;
mod call;
mod client_to_server;
mod server_to_client;

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use phasegate_adapter::Guard;
use tokio::sync::mpsc::Receiver;

use crate::link::{Arrived, Link};
use crate::options::{Options, Session};
use crate::stdio;
use server::Server;
use shared::Shared;

/// A server behind the relay.
#[derive(Debug)]
pub struct Upstream {
    /// Its name, as policies know it.
    pub name: String,
    /// Whether what it says of its tools (`readOnlyHint`, `destructiveHint`) is believed.
    pub trusted: bool,
    /// The connection to it.
    pub link: Link,
    /// Why there is no connection, as a sentence without a full stop, where there is none.
    pub trouble: Option<String>,
}

/// Why a relay is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client closed its end.
    ClientClosed,
    /// The only server is gone.
    ServerGone,
    /// It was told to stop.
    Stopped,
}

/// Joins the client with its servers until the client is gone, or the only server is. With no server, it answers alone.
///
/// After the client has closed, what the servers still send is passed on for as long as [`Options::grace`] says.
pub async fn relay(
    client: Link,
    upstreams: Vec<Upstream>,
    session: Session,
    guard: Arc<dyn Guard>,
    options: Options,
) -> Ended {
    let grace = options.grace;
    let (mut servers, mut inboxes) = (Vec::new(), Vec::new());
    for upstream in upstreams {
        servers.push(Server::new(upstream.name, upstream.trusted, upstream.link.to, upstream.trouble));
        inboxes.push(upstream.link.from);
    }
    let shared = Shared::new(servers, client.to, session, guard, options);
    let answers = from_servers(&shared, inboxes);
    tokio::pin!(answers);
    let ended = tokio::select! {
        () = client_to_server::run(&shared, client.from) => {
            shared.close_servers();
            // A server that ends when its input does still gets to say what it has to say.
            let _ = tokio::time::timeout(grace, answers).await;
            Ended::ClientClosed
        }
        () = &mut answers => Ended::ServerGone,
    };
    // Who has made a server end, or this process, has not begun anew: what starts next goes on where this one stood.
    shared.end(ended == Ended::ClientClosed && !stdio::ending()).await;
    ended
}

/// Passes on what servers send. Over when the only server is gone that was there, or when the client is and all servers
/// are: until then, a server that never was is what the client must be told of.
async fn from_servers(shared: &Shared, inboxes: Vec<Receiver<Arrived>>) {
    let single = inboxes.len() == 1;
    let mut pumps: FuturesUnordered<_> = inboxes
        .into_iter()
        .enumerate()
        .map(|(server, inbox)| Box::pin(server_to_client::run(shared, server, inbox)))
        .collect();
    while pumps.next().await.is_some() {}
    if !(shared.closing() || single && shared.spoke()) {
        std::future::pending::<()>().await;
    }
}
