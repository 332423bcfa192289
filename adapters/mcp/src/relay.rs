//! The relay: joins one client's link with those of its servers. Everything passes as it is; calls are decided first.

use std::sync::Arc;

use phasegate_adapter::Guard;

use crate::link::Link;
use crate::options::{Options, Session};

/// A server behind the relay.
#[derive(Debug)]
pub struct Upstream {
    /// Its name, as policies know it.
    pub name: String,
    /// Whether what it says of its tools (`readOnlyHint`, `destructiveHint`) is believed.
    pub trusted: bool,
    /// The connection to it.
    pub link: Link,
}

/// Joins the client with its servers until the client is gone, or the only server is. Of no server, it answers alone.
pub async fn relay(client: Link, upstreams: Vec<Upstream>, session: Session, guard: Arc<dyn Guard>, options: Options) {
    let _ = (client, upstreams, session, guard, options);
}
