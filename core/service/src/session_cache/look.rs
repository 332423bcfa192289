//! Looks at a loaded session between two batches: nothing is decided and nothing recorded.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Duration;

use phasegate_core::Event;
use phasegate_core::state::open_call::OpenCall;
use serde_json::Value;

use super::{Open, SessionCache};
use phasegate_runtime::deadline::Deadline;
use phasegate_runtime::sessions::redact::shorten_event;
use phasegate_store::file_store::FileStore;
use phasegate_store::scan::last_event;

/// How long a look at a session waits for locks, twice over.
const LOOK_LOCK_WAIT: Duration = Duration::from_millis(200);
/// How far back a call is looked for in a session's journal, in bytes.
const CALL_SEARCH_WINDOW_BYTES: u64 = 256 * 1024;

impl SessionCache {
    /// Whether another guard has let this call through already, which is open in the session under one of these ids.
    pub(crate) fn decided(&mut self, session: &str, call: &Event, ids: &[String]) -> bool {
        let path = self.project.session_journal(session);
        let found = self.look(session, |open| {
            let open_now: BTreeSet<String> =
                open.own.snapshot.session.calls.iter().filter_map(|call| call.id.clone()).collect();
            let id = ids.iter().find(|id| open_now.contains(*id)).cloned();
            (open_now, id.filter(|id| same_call(&path, id, call, &open.own.snapshot.settings.redact)))
        });
        let Some((open_now, found)) = found else { return false };
        let reported = self.reported.entry(session.to_string()).or_default();
        reported.retain(|id| open_now.contains(id));
        let new = found.is_some_and(|id| reported.insert(id));
        self.reported.retain(|_, ids| !ids.is_empty());
        new
    }

    /// Whether a call of this tool with these arguments is open in the session, by its main agent.
    pub(crate) fn has_call(&mut self, session: &str, tool: &str, input: &Value) -> bool {
        let is_it = |call: &OpenCall| call.tool == tool && call.agent.is_none() && call.has_input(input);
        let has = |open: &Open| open.own.snapshot.session.calls.iter().any(|call| is_it(call));
        self.look(session, has) == Some(true)
    }

    /// Looks at a session as it is now; nothing is recorded.
    fn look<T>(&mut self, session: &str, work: impl FnOnce(&Open) -> T) -> Option<T> {
        if !self.project.session_journal(session).exists() {
            return None;
        }
        self.finish(None);
        let entered = self.enter(session, &Deadline::new(LOOK_LOCK_WAIT));
        let batch = self.batch.as_ref().filter(|_| matches!(entered, Ok(Some(_))));
        let found = batch.and_then(|batch| Some(work(batch.sessions.get(session)?)));
        self.finish(None);
        found
    }
}

/// Whether the record of the call with this id says the same tool, server and arguments. `names` are not kept in records.
fn same_call(journal: &Path, id: &str, call: &Event, names: &BTreeSet<String>) -> bool {
    let mut wanted = call.to_value();
    shorten_event(&mut wanted, names);
    let recorded = last_event(&FileStore, journal, CALL_SEARCH_WINDOW_BYTES, |event| {
        event.get("event") == wanted.get("event") && event.get("id").and_then(Value::as_str) == Some(id)
    });
    let parts = ["tool", "server", "input"];
    recorded
        .is_ok_and(|found| found.is_some_and(|found| parts.iter().all(|part| found.get(*part) == wanted.get(*part))))
}
