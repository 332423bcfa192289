//! The relay: connects one client's link with those of its servers. It forwards everything unchanged and decides calls
//! first.
//!
//! Two directions run in parallel, so that neither waits for the other to be read. In each, messages leave in the order
//! in which they came: while one is being decided, later ones are submitted to the guard and wait.

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
mod elicitation;
mod call;
mod client_to_server;
mod server_to_client;

use std::sync::Arc;

use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;
use phasegate_adapter::Guard;
use tokio::sync::mpsc::Receiver;

use crate::options::{Options, Session};
use crate::wire::link::{Arrived, Link};
use crate::wire::stdio;
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

/// Why a relay ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The client closed its end.
    ClientClosed,
    /// The only server is gone, or no server could be started.
    ServerGone,
    /// It was told to stop.
    Stopped,
}

/// Connects the client with its servers until the client or the only server is gone. Without a server, the relay
/// answers by itself.
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
    Box::pin(shared.end(ended == Ended::ClientClosed && !stdio::ending())).await;
    ended
}

/// Forwards what servers send. It ends when the only server that started is gone, or when the client and all servers
/// are gone. Until then the client gets an error for a server that never started.
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
