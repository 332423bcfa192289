//! The end of requests and calls.

use phasegate_adapter::guarded::CallEnd;
use phasegate_core::events::event::Outcome;

use super::fan_out;
use super::pending::{OpenCall, Pending};
use super::shared::{Shared, warn_of};
use crate::message::id::Id;

/// Answers a request that the server will not answer any more.
pub(super) async fn gone(shared: &Shared, server: usize, id: &Id) {
    let Some(pending) = shared.table().pending.remove(&(server, id.clone())) else { return };
    match pending {
        Pending::Call(call) => ended(shared, *call, Outcome::Unknown).await,
        Pending::Part(number) => return fan_out::part(shared, number, server, None).await,
        Pending::Plain | Pending::Tools(_) | Pending::Initialize | Pending::Task(_) => {}
    }
    // A client that cancelled the request or closed the connection does not wait for an answer.
    let given_up = shared.table().given_up.remove(id);
    let Some(server) = shared.servers.get(server).filter(|_| !given_up && !shared.closing()) else {
        shared.table().open.remove(id);
        return;
    };
    let why = server.trouble.as_deref().unwrap_or("its own output on standard error may say why");
    shared.fail(id, -32603, &format!("the server `{}` is gone: {why}", server.name), None).await;
}

/// Gives the guard the end of a call.
pub(super) async fn ended(shared: &Shared, call: OpenCall, end: impl Into<CallEnd>) {
    if let Some(call) = call.guarded {
        // The call has run: an outcome that could not be recorded proves nothing.
        match shared.calls.ended(call, end).await {
            Ok(step) => shared.observe(Some(&step)),
            Err(problem) => warn_of(&problem),
        }
    }
}
