//! What happened past the guard: found where a client's own record, or an end that the guard is told of, is held against
//! what it decided. And which program answers now.

use std::path::PathBuf;

use phasegate_adapter::{Adapter, Message, Problem, Recorded, RecordedEnd};
use phasegate_core::calls::reported_numbers::Reported;
use phasegate_core::calls::tool::{BASH, only_reads};
use phasegate_core::events::event::Outcome as End;
use phasegate_core::{Code, Event, EventKind};
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::read_last;

use super::Driver;
use crate::clients::alarm::{Alarm, JudgedCall, Past, ToldEnd, add};
use crate::clients::call_comparison::Comparison;
use crate::clients::client_records::{LOOK_BYTES, Looked, ReadRecord, end_of};
use crate::clients::guard_file;
use crate::project::session_key;
use crate::sessions::is_strict;
use crate::sessions::snapshot::{ProjectChange, SessionChange, SessionSnapshot};

/// How many other sessions a start looks at, whose clients ended without a word.
const MAX_OTHERS: usize = 4;

impl Driver<'_> {
    /// Looks at what a frame shows of calls that are over, and keeps what is against the guard's decisions. Told as soon as
    /// it is found, and what is no evidence is made none.
    pub(crate) fn look(&mut self, adapter: &dyn Adapter, message: &Message, event: &mut Event) {
        // Of a session whose start was not seen, a call may have been made before the guard was there.
        let begun = self.state.session.source.is_some();
        take_end(adapter, message, event);
        let told: Vec<Recorded> = told_end(event).into_iter().collect();
        let looked = if looks(event) { self.read_on(adapter, message, event) } else { Looked::default() };
        let seen = looked.calls.into_iter().filter(|call| begun || call.tool.is_some());
        let mut found = self.compare_calls(&seen.collect::<Vec<_>>());
        found.extend(self.compare_calls(&told).into_iter().filter(|alarm| begun || alarm.what != Past::Unasked));
        found.extend(looked.lost.map(|_| Alarm::new(&self.session, Past::RecordLost, "")));
        if begun && matches!(event.kind, EventKind::BatchEnd {}) && !self.is_recorded() {
            found.extend(self.told_of_batch(adapter, message));
        }
        self.keep(found);
        self.begin_record(adapter, message, event);
        if matches!(event.kind, EventKind::SessionStart { .. }) {
            self.tell_standing();
        }
        if self.is_distrusted() {
            weaken(event);
        }
    }

    /// The ends of calls about which the client starts no hook, as events before those of the frame. How each ended is read
    /// when it is looked at.
    pub(crate) fn untold_ends(&self, adapter: &dyn Adapter, message: &Message, events: &[Event]) -> Vec<Event> {
        let file = adapter.client_record().and_then(|record| Some((record, record.ends(message)?)));
        let (Some((record, file)), Some(first)) = (file, events.first()) else { return Vec::new() };
        let told = |id: &str| {
            events.iter().any(|event| matches!(&event.kind, EventKind::ToolResult { id: Some(own), .. } if own == id))
        };
        let by = first.agent.as_ref().map(|agent| agent.id.as_str()).unwrap_or_default();
        let own = self.state.session.calls.iter().filter(|call| call.agent.as_deref().unwrap_or_default() == by);
        let ended = own.filter_map(|call| {
            let id = call.id.as_deref().filter(|id| !told(id))?;
            let ended = end_of(&file, id, record)?;
            let is_other = ended.tool.is_some_and(|tool| tool != call.tool);
            let (id, tool) = (Some(id.to_owned()), Some(call.tool.clone()));
            let kind = EventKind::ToolResult {
                id,
                outcome: Some(End::Unknown),
                ok: None,
                exit_code: None,
                output: None,
                tests: Vec::new(),
                reported: Reported::new(),
                tool,
                input: None,
            };
            (ended.end?.untold || is_other).then(|| Event { kind, ..first.clone() })
        });
        ended.collect()
    }

    /// Looks at what other sessions of the project left that nobody compared, as their clients ended without a word. To be
    /// called before they come to rest.
    pub(crate) fn look_at_others(&mut self, adapter: &dyn Adapter, events: &[Event]) {
        let starts = |event: &Event| matches!(event.kind, EventKind::SessionStart { .. });
        let Some(record) = adapter.client_record().filter(|_| events.iter().any(starts)) else { return };
        let own = session_key(&self.session);
        let Some(index) = &self.loaded.shared.snapshot.index else { return };
        let others: Vec<PathBuf> =
            index.awake.iter().filter(|key| **key != own).map(|key| self.project.session_file(key)).collect();
        let mut looked_at = 0;
        for path in others {
            let Ok(Some(last)) = read_last::<SessionSnapshot>(&FileStore, &path) else { continue };
            let SessionSnapshot { session, clients, record: kept, judged, .. } = last.state;
            let is_over = clients.iter().all(|client| client.gone());
            let Some(mut kept) = kept.filter(|kept| is_over && kept.client == adapter.id()) else { continue };
            if looked_at == MAX_OTHERS {
                return;
            }
            looked_at += 1;
            let looked = kept.look(record, LOOK_BYTES);
            let found = self.comparison(&session.id, &judged).compare(&looked.calls);
            self.keep(found);
        }
    }

    /// Notes which program answers, and tells that another one did before.
    pub(crate) fn note_program(&mut self) {
        let known = &self.loaded.shared.snapshot.programs;
        let Some((programs, told)) = guard_file::noted(&self.runtime.locations, known) else { return };
        self.loaded.shared.change(ProjectChange::Programs(programs));
        told.iter().for_each(|told| self.add_notice(told));
    }

    /// Notes that a call was denied, and what is told of the end of one, to hold it against later. A call that was let
    /// through is one that the engine knows.
    pub(super) fn note_judged(&mut self, event: &Event, denied: bool) {
        let call = match &event.kind {
            EventKind::ToolCall { id: Some(id), .. } if denied => JudgedCall { denied, ..JudgedCall::allowed(id) },
            EventKind::ToolResult {
                id: Some(id),
                tool: Some(tool),
                tests,
                outcome: Some(end @ (End::Ok | End::Failed)),
                ..
            } if tool == BASH => {
                let told = ToldEnd { passed: *end == End::Ok, tests: tests.clone() };
                JudgedCall { told: Some(told), ..JudgedCall::allowed(id) }
            }
            _ => return,
        };
        self.loaded.own.change(SessionChange::CallJudged(call));
    }

    /// Why a call that does more than read is refused while such an alarm stands: the runs in block mode do not go on.
    pub(super) fn held_by_alarm(&self, event: &Event) -> Option<Problem> {
        let reads = || event.labels().is_some_and(|labels| only_reads(&labels));
        if !matches!(event.kind, EventKind::ToolCall { .. }) || !is_strict(&self.state) || reads() {
            return None;
        }
        let alarm = self.standing().next()?;
        let text = format!(
            "stop, and ask the user to look: {}. Until they have, this session only reads, since nothing in it is evidence",
            alarm.text()
        );
        Some(Problem::new(Code::RanUnguarded, text))
    }

    /// The alarms that make evidence of this session worth nothing.
    fn standing(&self) -> impl Iterator<Item = &Alarm> {
        let session = &self.state.session;
        let own = move |id: &str| id == self.session || session.parent.as_deref() == Some(id);
        self.loaded.shared.snapshot.alarms.iter().filter(move |alarm| alarm.stands() && own(&alarm.session))
    }

    fn is_distrusted(&self) -> bool {
        self.standing().next().is_some()
    }

    /// What the client recorded since the last look.
    fn read_on(&mut self, adapter: &dyn Adapter, message: &Message, event: &Event) -> Looked {
        let Some(record) = adapter.client_record() else { return Looked::default() };
        let mut looked = Looked::default();
        let before = self.loaded.own.snapshot.record.clone().filter(|kept| kept.client == adapter.id());
        if let Some(mut kept) = before {
            // The end of a turn tells the agent's last message itself.
            if matches!(event.kind, EventKind::Stop { .. }) {
                kept.heard = (self.runtime.now)();
            }
            looked = kept.look(record, LOOK_BYTES);
            // The client may go on in another file, with all that it recorded: it is read from its beginning, and none is lost.
            let place = record.place(message).filter(|place| place.file != kept.file);
            self.loaded.own.change(match place {
                Some(place) => {
                    looked.lost = None;
                    let mut moved =
                        ReadRecord { heard: kept.heard, ..ReadRecord::begin(adapter.id(), place, kept.since).unread() };
                    looked.calls.extend(moved.look(record, LOOK_BYTES).calls);
                    SessionChange::Record(Some(Box::new(moved)))
                }
                None => SessionChange::RecordRead(kept.read_since(self.loaded.own.snapshot.record.as_ref())),
            });
        }
        looked
    }

    /// Whether the client keeps a record of the session.
    fn is_recorded(&self) -> bool {
        self.loaded.own.snapshot.record.as_ref().is_some_and(|record| {
            // A link or a folder in its place records nothing.
            record.file.symlink_metadata().is_ok_and(|data| data.is_file())
        })
    }

    /// What the message about the end of a batch alone shows: calls that the guard was never asked about, or that were made
    /// with other arguments. It does not say whether an answer is an error, so nothing else follows from it.
    fn told_of_batch(&self, adapter: &dyn Adapter, message: &Message) -> Vec<Alarm> {
        let calls = adapter.client_record().map(|record| record.told(message)).unwrap_or_default();
        self.compare_calls(&calls)
            .into_iter()
            .filter(|alarm| matches!(alarm.what, Past::Unasked | Past::Altered))
            .collect()
    }

    /// The record of a session that is new to the guard, from its present end on.
    fn begin_record(&mut self, adapter: &dyn Adapter, message: &Message, event: &Event) {
        if self.loaded.own.snapshot.record.is_some() {
            return;
        }
        let Some(place) = adapter.client_record().and_then(|record| record.place(message)) else { return };
        let since = event.time.unwrap_or_else(self.runtime.now);
        let record = ReadRecord::begin(adapter.id(), place, since);
        self.loaded.own.change(SessionChange::Record(Some(Box::new(record))));
    }

    fn compare_calls(&self, calls: &[Recorded]) -> Vec<Alarm> {
        if calls.is_empty() {
            return Vec::new();
        }
        self.comparison(&self.session, &self.loaded.own.snapshot.judged).compare(calls)
    }

    fn comparison<'w>(&'w self, session: &'w str, judged: &'w [JudgedCall]) -> Comparison<'w> {
        let own = self.project.session_journal(session);
        // A conversation that is cleared goes on under another name, and calls of its subagents end there.
        let others = match &self.loaded.shared.snapshot.index {
            Some(index) => index.awake.iter().map(|key| self.project.session_file(key)).collect(),
            None => self.project.session_journals(),
        };
        let others = others.into_iter().filter(|path: &PathBuf| *path != own).collect();
        Comparison { store: self.store, session, own, others, judged, strict: self.is_closed() }
    }

    /// Keeps alarms, and tells those that are new.
    pub(super) fn keep(&mut self, found: Vec<Alarm>) {
        let mut alarms = self.loaded.shared.snapshot.alarms.clone();
        let new: Vec<Alarm> = found.into_iter().filter(|alarm| add(&mut alarms, alarm.clone())).collect();
        if new.is_empty() {
            return;
        }
        self.add_notice(&notice(new.iter()));
        self.loaded.shared.change(ProjectChange::Alarms(alarms));
    }

    /// Has each session's start tell what no person has accepted.
    fn tell_standing(&mut self) {
        let unseen: Vec<Alarm> =
            self.loaded.shared.snapshot.alarms.iter().filter(|alarm| !alarm.seen).cloned().collect();
        let told = self.notice.as_ref().is_some_and(|notice| unseen.iter().all(|alarm| notice.contains(&alarm.text())));
        if !unseen.is_empty() && !told {
            self.add_notice(&notice(unseen.iter()));
        }
    }
}

/// The most alarms that one notice names.
const MOST_TOLD: usize = 3;

/// What is told of alarms.
fn notice<'a>(alarms: impl Iterator<Item = &'a Alarm>) -> String {
    let mut all: Vec<String> = alarms.map(Alarm::text).collect();
    let more = all.len().saturating_sub(MOST_TOLD);
    all.truncate(MOST_TOLD);
    if more > 0 {
        all.push(format!("and {more} more"));
    }
    format!(
        "phasegate: look at what went past the guard: {}. It is no evidence. If nobody had switched the hooks off, \
         `phasegate doctor` lists what the client loads that can do this. A person accepts it with `phasegate reload`.",
        all.join("; ")
    )
}

/// Takes the end of a call from the client's own file, where the client does not tell its hooks how the call ended.
fn take_end(adapter: &dyn Adapter, message: &Message, event: &mut Event) {
    let EventKind::ToolResult { id: Some(call), outcome: Some(outcome @ End::Unknown), exit_code, tests, .. } =
        &mut event.kind
    else {
        return;
    };
    let Some(record) = adapter.client_record() else { return };
    let ended = record.ends(message).and_then(|file| end_of(&file, call, record));
    let Some(end) = ended.and_then(|ended| ended.end) else { return };
    let Some(passed) = end.passed.filter(|_| end.ran) else { return };
    *outcome = if passed { End::Ok } else { End::Failed };
    *exit_code = end.exit_code;
    if let Some(told) = end.tests.filter(|_| tests.is_empty()) {
        *tests = told;
    }
}

/// The end of a call that an event tells, if it has an id.
fn told_end(event: &Event) -> Option<Recorded> {
    let EventKind::ToolResult { id: Some(call), tool: Some(tool), outcome, exit_code, .. } = &event.kind else {
        return None;
    };
    // What failed without an exit status may have been refused.
    let ran = match outcome {
        Some(End::Refused) => false,
        Some(End::Failed) => exit_code.is_some(),
        _ => true,
    };
    let end = RecordedEnd::of(ran);
    Some(Recorded { call: call.clone(), tool: Some(tool.clone()), input: None, end: Some(end), at: None })
}

/// Whether the client has a pause at this event, in which its record is read on.
fn looks(event: &Event) -> bool {
    matches!(
        event.kind,
        EventKind::BatchEnd {}
            | EventKind::SessionStart { .. }
            | EventKind::SessionEnd {}
            | EventKind::Stop { .. }
            | EventKind::SubagentStop { .. }
            | EventKind::Prompt { .. }
    )
}

/// What a result proves nothing by.
fn weaken(event: &mut Event) {
    if let EventKind::ToolResult { outcome, ok, exit_code, tests, reported, .. } = &mut event.kind {
        (*outcome, *ok, *exit_code) = (Some(End::Unknown), None, None);
        tests.clear();
        reported.clear();
    }
}
