//! The sessions that invocations name, and the calls that are open in them.

use std::collections::{BTreeSet, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use phasegate_adapter::{Guard, Problem};
use phasegate_core::event::SessionSource;
use phasegate_core::{Event, EventKind, Step};

use super::Invoker;

/// How many calls of one operation are remembered: more can only be invocations that never come back.
const OPEN: usize = 1024;

/// A call: the id of its events, and the tool.
type Opened = (String, String);

/// What is known of sessions.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    begun: tokio::sync::Mutex<BTreeSet<String>>,
    /// By session and what the invoker calls the operation.
    open: Mutex<HashMap<(String, String), Vec<Opened>>>,
}

/// Numbers the calls of this process, whichever connection they come over.
static CALLS: AtomicU64 = AtomicU64::new(1);

impl Sessions {
    /// The id of the session that an invocation means. A session that it names is one of this connection: nobody reaches
    /// another's by its name.
    pub(super) fn named(&self, connection: &str, named: Option<&str>) -> String {
        named.map_or_else(|| connection.to_owned(), |name| format!("{connection}/{name}"))
    }

    pub(super) fn fresh(&self) -> String {
        format!("interceptor:{}:{}", std::process::id(), CALLS.fetch_add(1, Ordering::Relaxed))
    }

    /// Gives the guard an event; a named session begins with its first one.
    pub(super) async fn give(
        &self,
        guard: &dyn Guard,
        (session, invoker): (&str, Invoker<'_>),
        kind: EventKind,
    ) -> Result<Step, Problem> {
        let event = |kind| Event { principal: invoker.principal.map(ToOwned::to_owned), ..Event::new(session, kind) };
        if session != invoker.session {
            let mut begun = self.begun.lock().await;
            if !begun.contains(session) {
                let start = EventKind::SessionStart { source: SessionSource::Startup, parent: None };
                drop(guard.handle(session, event(start)).await?);
                begun.insert(session.to_owned());
            }
        }
        guard.handle(session, event(kind)).await
    }

    /// A call was let through.
    pub(super) fn opened(&self, session: &str, trace: Option<&str>, call: Opened) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = open.entry(key(session, trace)).or_default();
        if calls.len() < OPEN {
            calls.push(call);
        }
    }

    /// The calls that a result may end: they are not open any more.
    pub(super) fn ended(&self, session: &str, trace: Option<&str>) -> Vec<Opened> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(&key(session, trace)).unwrap_or_default()
    }

    /// Ends the sessions that were begun here.
    pub(super) async fn end(&self, guard: &dyn Guard) {
        for session in std::mem::take(&mut *self.begun.lock().await) {
            // A session that does not end is one that is silent.
            drop(guard.handle(&session, Event::new(&session, EventKind::SessionEnd {})).await);
        }
    }
}

fn key(session: &str, trace: Option<&str>) -> (String, String) {
    (session.to_owned(), trace.unwrap_or_default().to_owned())
}
