//! The sessions that invocations name, and the calls that are open in them.

use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;

use phasegate_adapter::guarded::{GuardedCall, GuardedCalls, GuardedSession};
use phasegate_core::event::SessionSource;

use crate::sync::lock;

/// How many calls of one operation are remembered. More come only from invocations that never report a result.
const MAX_OPEN_CALLS: usize = 1024;

/// The sessions that invocations named, and their open calls.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    named: Mutex<BTreeMap<String, GuardedSession>>,
    open: Mutex<HashMap<Operation, Vec<GuardedCall>>>,
}

/// A session, and what the invoker calls the operation in both phases.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Operation {
    session: String,
    trace: String,
}

impl Operation {
    fn new(session: &str, trace: Option<&str>) -> Self {
        Self { session: session.to_owned(), trace: trace.unwrap_or_default().to_owned() }
    }
}

impl Sessions {
    /// The session that an invocation means. A session that it names belongs to this connection: no other connection
    /// reaches it by its name.
    pub(super) fn named(&self, connection: &GuardedSession, named: Option<&str>) -> GuardedSession {
        let Some(name) = named else { return connection.clone() };
        let id = format!("{}/{name}", connection.id);
        let begins = Some(SessionSource::Startup);
        let session = GuardedSession { id: id.clone(), principal: connection.principal.clone(), begins };
        lock(&self.named).entry(id).or_insert(session).clone()
    }

    /// Notes a call that runs.
    pub(super) fn opened(&self, session: &str, trace: Option<&str>, call: GuardedCall) {
        let mut open = lock(&self.open);
        let calls = open.entry(Operation::new(session, trace)).or_default();
        if calls.len() < MAX_OPEN_CALLS {
            calls.push(call);
        }
    }

    /// The calls that a result may end. They are open no more.
    pub(super) fn ended(&self, session: &str, trace: Option<&str>) -> Vec<GuardedCall> {
        lock(&self.open).remove(&Operation::new(session, trace)).unwrap_or_default()
    }

    /// Ends the sessions that began here.
    pub(super) async fn end(&self, calls: &GuardedCalls) {
        let named = std::mem::take(&mut *lock(&self.named));
        for session in named.values() {
            calls.end(session).await;
        }
    }
}
