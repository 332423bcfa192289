//! Calls that ran though the guard never judged them: for a time, something else answered in its place. And which program
//! answers now.

use std::path::Path;

use phasegate_core::{Event, EventKind};
use phasegate_store::scan::Scan;
use serde_json::Value;

use super::Driver;
use crate::guard_file;
use crate::snapshot::{ProjectChange, SessionSnapshot, UnjudgedCall};

/// How many such calls a project keeps; the oldest go first.
const MAX_CALLS: usize = 16;

impl Driver<'_> {
    /// Notes and tells that a call has ended which no message before asked about, in a session whose start was seen.
    /// Its result proves nothing in any case, because no such call is open.
    pub(crate) fn note_unjudged(&mut self, event: &Event) {
        let Some(call) = self.unjudged(event) else { return };
        self.notice = Some(notice(&call));
        let mut calls = self.loaded.shared.snapshot.unjudged.clone();
        if calls.contains(&call) {
            return;
        }
        calls.push(call);
        let surplus = calls.len().saturating_sub(MAX_CALLS);
        calls.drain(..surplus);
        self.loaded.shared.change(ProjectChange::Unjudged(calls));
    }

    /// Notes which program answers, and tells that another one did before.
    pub(crate) fn note_program(&mut self) {
        let known = &self.loaded.shared.snapshot.programs;
        let Some((programs, told)) = guard_file::noted(&self.runtime.locations, known) else { return };
        self.loaded.shared.change(ProjectChange::Programs(programs));
        if told.is_some() {
            self.notice = told;
        }
    }

    /// The call that a result is of, if no session of the client ever asked about it.
    fn unjudged(&self, event: &Event) -> Option<UnjudgedCall> {
        let EventKind::ToolResult { id: Some(id), tool: Some(tool), .. } = &event.kind else { return None };
        let session = &self.state.session;
        if session.source.is_none() || session.calls.iter().any(|call| call.id.as_ref() == Some(id)) {
            return None;
        }
        let own = self.project.session_journal(&self.session);
        // A conversation that is cleared goes on under another name, and calls of its subagents end there.
        let others = match &self.loaded.shared.snapshot.index {
            Some(index) => index.awake.iter().map(|key| self.project.session_file(key)).collect(),
            None => self.project.session_journals(),
        };
        if std::iter::once(own).chain(others).any(|journal| self.asked(&journal, id)) {
            return None;
        }
        Some(UnjudgedCall { session: self.session.clone(), id: id.clone(), tool: tool.clone() })
    }

    /// Whether a record of the journal is of a call with this id.
    fn asked(&self, journal: &Path, id: &str) -> bool {
        let Ok(scan) = Scan::<SessionSnapshot>::open(self.store, journal) else { return false };
        scan.map_while(Result::ok).any(|record| {
            let part = |name: &str| record.entry.event.get(name).and_then(Value::as_str);
            part("event") == Some("tool_call") && part("id") == Some(id)
        })
    }
}

/// What is told of such a call.
fn notice(call: &UnjudgedCall) -> String {
    let UnjudgedCall { id, tool, .. } = call;
    format!(
        "phasegate: the call `{id}` of {tool} ran, and the guard was never asked about it: something else answered in \
         its place. The result is no evidence. Look which program `phasegate` is on the client's PATH, and at what was \
         changed; a person accepts it with `phasegate reload`."
    )
}
