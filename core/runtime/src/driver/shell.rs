//! The client's shell: whether it can hold a line, what it is told of the lines that were let through, and what came of them.

use phasegate_adapter::Problem;
use phasegate_config::Confine;
use phasegate_core::event::Outcome as End;
use phasegate_core::tool::{BASH, SHELL};
use phasegate_core::{Code, Decision, Effect, Event, EventKind};
use serde_json::Value;

use super::Driver;
use crate::alarm::{Alarm, Past};
use crate::client_shell::{LineEnd, Mark, Meeting, Ticket};
use crate::snapshot::{NotKept, SessionChange};

impl Driver<'_> {
    /// Notes whether the client of this frame says that this program is its shell.
    pub(crate) fn note_shell(&mut self, shell: Option<&String>) {
        self.is_shell = shell.is_some_and(|shell| Meeting::is_own(shell));
    }

    /// Where the guard meets the shell of this client, if that can be.
    fn meeting(&self) -> Option<(Meeting, Mark)> {
        if self.loaded.own.snapshot.settings.confine == Confine::Off || !self.store.is_on_disk() {
            return None;
        }
        let locations = &self.runtime.locations;
        if let Some(known) = Meeting::of_client_above(&locations.state) {
            return Some(known);
        }
        let client = self.loaded.own.snapshot.clients.last().copied().filter(|_| self.is_shell)?;
        let (meeting, mark) =
            (Meeting::of(&locations.state, client), self.runtime.shell_probe?(locations, &self.project.root));
        match meeting.write_mark(&mark) {
            Ok(()) => Some((meeting, mark)),
            Err(error) => {
                tracing::warn!("what the client's shell can do cannot be noted: {error}");
                None
            }
        }
    }

    /// Notes in a shell call whether its line can be held.
    pub(super) fn mark_confinable(&mut self, event: &mut Event) {
        if !self.store.is_on_disk() {
            return;
        }
        let holds = is_shell_line(event) && self.meeting().is_some_and(|(_, mark)| mark.level.is_some());
        if let EventKind::ToolCall { analysis, .. } = &mut event.kind {
            analysis.confinable = holds;
        }
    }

    /// Leaves for the shell what was decided of its line, once the call is let through.
    ///
    /// # Errors
    ///
    /// The line must be held, and the shell cannot be told so.
    pub(super) fn tell_shell(&mut self, event: &Event, decision: Option<&Decision>) -> Result<(), Problem> {
        // A call that is asked about may run, once a person says so.
        let runs = decision.is_none_or(|decision| decision.effect != Effect::Deny);
        let EventKind::ToolCall { id, input, .. } = &event.kind else { return Ok(()) };
        if !runs || !is_shell_line(event) {
            return Ok(());
        }
        let Some((meeting, mark)) = self.meeting() else { return Ok(()) };
        let ticket = Ticket {
            line: input.get("command").and_then(Value::as_str).unwrap_or_default().to_owned(),
            session: self.session.clone(),
            call: id.clone(),
            root: self.project.root.clone(),
            level: mark.level.unwrap_or_default(),
            confined: decision.and_then(|decision| decision.confined.as_deref().cloned()),
        };
        let Err(error) = meeting.leave(&ticket) else { return Ok(()) };
        if ticket.confined.is_none() {
            tracing::warn!("the client's shell cannot be told of a line: {error}");
            return Ok(());
        }
        Err(self.note_problem(
            event.to_value(),
            Problem::new(
                Code::StateUnreadable,
                format!("the client's shell cannot be told to keep no change: {error}"),
            ),
        ))
    }

    /// Takes up what came of a line; and takes back what did not run.
    pub(super) fn hear_of_shell(&mut self, event: &Event) {
        let (id, launched) = match &event.kind {
            EventKind::ToolResult { id: Some(id), outcome, .. } => (Some(id), *outcome == Some(End::Launched)),
            EventKind::Prompt { .. } | EventKind::SessionEnd {} if event.subagent().is_none() => (None, false),
            _ => return,
        };
        let Some((meeting, _)) = self.meeting().filter(|_| !launched) else { return };
        let Some(id) = id else {
            meeting.withdraw(&self.session, None);
            return;
        };
        if let Some(end) = meeting.take_report::<LineEnd>(id).filter(|end| !end.changes.is_empty()) {
            self.loaded.own.change(SessionChange::NotKept(NotKept { call: id.clone(), end }));
        }
        let ran = matches!(&event.kind, EventKind::ToolResult { outcome: Some(End::Ok | End::Failed), exit_code, .. }
            if exit_code.is_some());
        let held = meeting.withdraw(&self.session, Some(id));
        if held && ran {
            self.keep(vec![Alarm::new(&self.session, Past::NotHeld, id)]);
        }
    }
}

/// Whether the call runs a line in the client's own shell.
fn is_shell_line(event: &Event) -> bool {
    let of_client = matches!(&event.kind, EventKind::ToolCall { tool, server: None, .. } if tool == BASH);
    of_client && event.labels().is_some_and(|labels| labels.contains(SHELL))
}
