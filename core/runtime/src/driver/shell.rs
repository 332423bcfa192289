//! The client's shell: whether it can hold a line, what it is told of the lines that were let through, and what came of them.

use std::io;

use phasegate_adapter::Problem;
use phasegate_config::Confine;
use phasegate_core::event::Outcome as End;
use phasegate_core::tool::{BASH, SHELL};
use phasegate_core::{Code, Effect, Event, EventKind, Outcome, holding};
use serde_json::Value;

use super::Driver;
use crate::alarm::{Alarm, Past};
use crate::ancestors::own_process;
use crate::bounds::{self, MAX_SETTINGS_BYTES};
use crate::client_shell::{LineEnd, Mark, Meeting, Standing, Ticket, is_own};
use crate::snapshot::{NotKept, SessionChange};

impl Driver<'_> {
    /// Notes whether the client of this frame says that this program is its shell.
    pub(crate) fn note_shell(&mut self, shell: Option<&String>) {
        self.is_shell = shell.is_some_and(|shell| is_own(shell, &self.runtime.platforms.shell_variables()));
    }

    /// Where the guard meets the shell of this client, if that can be.
    fn meeting(&self) -> Option<(Meeting, Mark)> {
        if !self.store.is_on_disk() {
            return None;
        }
        // Below another client's process its mark may be found too, and its shell be another.
        let client = self.loaded.own.snapshot.clients.last().copied()?;
        let locations = &self.runtime.locations;
        let meeting = Meeting::of(&locations.state, client);
        let mark = meeting.mark();
        if self.loaded.own.snapshot.settings.confine == Confine::Off {
            return mark.map(|mark| (meeting, Mark { level: None, ..mark }));
        }
        if mark.is_some() || !self.is_shell {
            return Some((meeting, mark?));
        }
        let found = if self.is_sandboxed() {
            Mark { level: None, refused: "the client runs lines in a sandbox of its own".to_owned() }
        } else {
            // One that never ends is not tried again.
            let trying = Mark { level: None, refused: "it was tried, and that did not end".to_owned() };
            noted(meeting.write_mark(&trying))?;
            self.runtime.shell_probe?(locations, &self.project.root)
        };
        noted(meeting.write_mark(&found))?;
        Some((meeting, found))
    }

    /// Whether the client's settings have it run lines in a sandbox of its own.
    fn is_sandboxed(&self) -> bool {
        let clients = &self.runtime.platforms.places().clients;
        let client = clients.iter().find(|client| Some(client.adapter.id()) == self.client.as_deref());
        let Some((adapter, shell)) = client.and_then(|client| Some((client.adapter, client.adapter.shell()?))) else {
            return false;
        };
        let files = adapter.installer().places().settings_files(&self.project.root, &self.runtime.locations.home);
        files
            .iter()
            .filter_map(|file| bounds::read(file, MAX_SETTINGS_BYTES).ok())
            .any(|text| shell.is_sandboxed(&text))
    }

    /// Hears of the shell what came of a line, and whether the line of a call can be held.
    pub(super) fn meet_shell(&mut self, event: &mut Event) {
        self.hear_of_shell(event);
        self.mark_confinable(event);
    }

    /// Notes in a shell call whether its line can be held.
    fn mark_confinable(&mut self, event: &mut Event) {
        if !self.store.is_on_disk() {
            return;
        }
        let holds = is_shell_line(event) && self.meeting().is_some_and(|(_, mark)| mark.level.is_some());
        if let EventKind::ToolCall { analysis, .. } = &mut event.kind {
            analysis.confinable = holds;
        }
    }

    /// Tells the shell where the session stands after an event, and what was decided of its line, if the call is let through.
    ///
    /// # Errors
    ///
    /// Lines must be held, and the shell cannot be told so.
    pub(super) fn tell_shell(&mut self, event: &Event, outcome: &Outcome) -> Result<(), Problem> {
        let Some((meeting, mark)) = self.meeting() else { return Ok(()) };
        let mut after = self.state.clone();
        outcome.apply_to(&mut after);
        let holds = mark.level.is_some() && !matches!(event.kind, EventKind::SessionEnd {});
        let confined = if holds { holding(&self.loaded.own.policy, &after) } else { None };
        let namespace = own_process().map_or(0, |own| own.2);
        let standing = confined.map(|confined| Standing { root: self.project.root.clone(), namespace, confined });
        let told =
            meeting.stand(&self.session, standing.as_ref()).and_then(|()| self.leave_ticket(&meeting, event, outcome));
        let Err(error) = told else { return Ok(()) };
        let why = format!("the client's shell cannot be told which lines keep no change: {error}");
        Err(self.note_problem(event.to_value(), Problem::new(Code::StateUnreadable, why)))
    }

    fn leave_ticket(&self, meeting: &Meeting, event: &Event, outcome: &Outcome) -> io::Result<()> {
        let decision = outcome.decision.as_ref();
        let EventKind::ToolCall { id, input, .. } = &event.kind else { return Ok(()) };
        let confined = decision.and_then(|decision| decision.confined.as_deref().cloned());
        // A call that is asked about may run, once a person says so.
        let denied = decision.is_some_and(|decision| decision.effect == Effect::Deny);
        if denied || !is_shell_line(event) || (confined.is_none() && meeting.standing().is_none()) {
            return Ok(());
        }
        let line = input.get("command").and_then(Value::as_str).unwrap_or_default().to_owned();
        let (session, root) = (self.session.clone(), self.project.root.clone());
        meeting.leave(&Ticket { line, session, call: id.clone(), root, confined })
    }

    /// Takes up what came of a line, and finds one that should have been held and ran elsewhere.
    fn hear_of_shell(&mut self, event: &Event) {
        let EventKind::ToolResult { id: Some(id), outcome, exit_code, .. } = &event.kind else { return };
        if *outcome == Some(End::Launched) {
            return;
        }
        let Some((meeting, _)) = self.meeting() else { return };
        if let Some(end) = meeting.take_report::<LineEnd>(id).filter(|end| !end.changes.is_empty()) {
            self.loaded.own.change(SessionChange::NotKept(NotKept { call: id.clone(), end }));
        }
        let ran = matches!(outcome, Some(End::Ok | End::Failed)) && exit_code.is_some();
        if meeting.withdraw(&self.session, id) && ran && !meeting.take_other() {
            self.keep(vec![Alarm::new(&self.session, Past::NotHeld, id)]);
        }
    }
}

/// What cannot be noted is logged: then no line is let through to be held.
fn noted(written: io::Result<()>) -> Option<()> {
    written.map_err(|error| tracing::warn!("what the client's shell can do cannot be noted: {error}")).ok()
}

/// Whether the call runs a line in the client's own shell.
fn is_shell_line(event: &Event) -> bool {
    let of_client = matches!(&event.kind, EventKind::ToolCall { tool, server: None, .. } if tool == BASH);
    of_client && event.labels().is_some_and(|labels| labels.contains(SHELL))
}
