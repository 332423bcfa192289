//! Whose doing a change is that a look found: a call that was open, one that left something running, or nobody's that is
//! known.

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use phasegate_core::calls::analysis::PathUse;
use phasegate_core::calls::forbidden_change::ForbiddenChange;
use phasegate_core::calls::tool::{EXECUTE, SHELL, only_reads};
use phasegate_core::events::file_effects::{Forbids, any_program, begins_by_change, forbids_change};
use phasegate_core::state::open_call::GOES_ON;
use phasegate_core::{Effect, Event, EventKind, State};
use phasegate_store::disk::fingerprint;
use phasegate_store::scan::Scan;
use serde_json::Value;

use super::Driver;
use crate::effects::manifest::Background;
use crate::sessions::snapshot::SessionSnapshot;

/// The longest line, in characters, by which a call is named.
const MAX_LINE: usize = 60;

/// The calls that may have changed what a look found.
pub(super) struct Suspects {
    /// The events of their decisions, the newest last.
    calls: Vec<Event>,
    /// Whether a call is among them of which no record says what it is.
    unknown: bool,
    /// Whether they are over, but for what they left running.
    in_background: bool,
    /// Whether another session of the project was at work meanwhile.
    others: bool,
}

/// Whose doing a change is.
pub(super) enum Blame {
    /// Nobody forbids it.
    Nobody,
    /// Nothing follows from it before a person accepts it.
    Accepted,
    /// It is not known who did it, or whether that was forbidden: what is told.
    Unsure(String),
    /// A call did what it might not.
    Call(ForbiddenChange),
}

impl Suspects {
    /// Those of now: the calls that are open, but for the one that the event begins. Where none of them can run programs, also
    /// the one that left something running.
    pub(super) fn of(driver: &Driver<'_>, event: &Event, background: Option<&Background>) -> Self {
        let now = event.time.unwrap_or_default();
        let open = driver.state.session.calls.iter().filter(|call| call.may_go_on(Some(now)));
        let wanted: Vec<Background> =
            open.map(|call| Background { since: call.since.unwrap_or_default(), id: call.id.clone() }).collect();
        let mut calls = events(driver, &wanted);
        let unknown = calls.len() < wanted.len();
        calls.retain(|call| call.labels().is_none_or(|labels| !only_reads(&labels)));
        let recent = background.filter(|left| now.saturating_sub(left.since) < GOES_ON);
        let recent = recent.filter(|_| !unknown && !calls.iter().any(acts)).map(std::slice::from_ref);
        if let Some(left) = recent {
            calls.splice(..0, events(driver, left));
        }
        let since = calls.iter().filter_map(|call| call.time).min();
        let others = since.is_some_and(|since| others_work(driver, since));
        Self { calls, unknown, in_background: recent.is_some(), others }
    }

    /// Whether one of them may have done something that it does not name.
    pub(super) fn act(&self) -> bool {
        self.calls.iter().any(acts)
    }

    /// The id of the call that is blamed first.
    pub(super) fn id(&self) -> Option<String> {
        self.calls.iter().find_map(|call| match &call.kind {
            EventKind::ToolCall { id, .. } => id.clone(),
            _ => None,
        })
    }

    /// Whether a skill waits for a call that changes the file as one of these may have done.
    pub(super) fn begin(&self, driver: &Driver<'_>, path: &str, change: &PathUse) -> bool {
        let (policy, state) = (&driver.loaded.own.policy, &driver.state);
        let mut calls = self.calls.iter().filter(|call| acts(call));
        !self.others
            && !self.calls.iter().any(|call| writes(call, path))
            && calls.any(|call| begins_by_change(policy, state, call, change))
    }

    /// Who changed a file that skills name, with the runs of `state`.
    pub(super) fn blame(&self, driver: &Driver<'_>, state: &State, path: &str, change: &PathUse) -> Blame {
        let policy = &driver.loaded.own.policy;
        if self.calls.iter().any(|call| writes(call, path)) {
            return Blame::Nobody;
        }
        let forbids = |call: &Event| forbids_change(policy, state, call, change);
        if self.calls.is_empty() {
            return match forbids(&any_program()) {
                Some(Forbids { by, .. }) => Blame::Unsure(format!(
                    "`{path}` changed while no call was running, and the \"{}\" phase of {} forbids calls to change it{}",
                    by.phase,
                    by.skill,
                    if self.unknown { "; which call was open is not known" } else { "" }
                )),
                None => Blame::Nobody,
            };
        }
        let found = self.calls.iter().filter(|call| acts(call)).filter_map(|call| Some((call, forbids(call)?)));
        let Some((call, Forbids { by, sure })) = found.max_by_key(|(_, forbids)| forbids.sure) else {
            return Blame::Nobody;
        };
        let call = self.words(call);
        if sure && !self.others {
            return Blame::Call(ForbiddenChange { path: path.to_owned(), call, by: Some(by) });
        }
        let who = if self.others { "another session of the project" } else { "a part of it that may" };
        Blame::Unsure(format!(
            "`{path}` changed while {call} was running, which the \"{}\" phase of {} forbids to change it; it may be the \
             doing of {who}",
            by.phase, by.skill
        ))
    }

    /// Who changed a file that the guard depends on.
    pub(super) fn of_guard(&self, path: &str) -> Blame {
        if self.calls.iter().any(|call| writes(call, path)) {
            return Blame::Nobody;
        }
        match self.calls.iter().find(|call| acts(call)) {
            Some(call) => Blame::Call(ForbiddenChange { path: path.to_owned(), call: self.words(call), by: None }),
            None => Blame::Call(ForbiddenChange {
                path: path.to_owned(),
                call: "something that ran while no call was open".to_owned(),
                by: None,
            }),
        }
    }

    /// A call in words.
    fn words(&self, call: &Event) -> String {
        let EventKind::ToolCall { id, tool, input, .. } = &call.kind else { return String::new() };
        let line = input.get("command").and_then(Value::as_str).and_then(|line| line.lines().next());
        let what: String = line.unwrap_or(tool).replace('`', "'").chars().take(MAX_LINE).collect();
        let id = id.as_ref().map(|id| format!(" ({id})")).unwrap_or_default();
        if self.in_background { format!("what `{what}`{id} left running") } else { format!("`{what}`{id}") }
    }
}

/// Whether a call may run programs, so that it changes what it does not name.
fn acts(call: &Event) -> bool {
    let Some(labels) = call.labels() else { return false };
    labels.is_empty() || [EXECUTE, SHELL].iter().any(|label| labels.contains(*label))
}

/// Whether a file tool was let through that writes this path.
fn writes(call: &Event, path: &str) -> bool {
    let EventKind::ToolCall { analysis, .. } = &call.kind else { return false };
    let is_it = |written: &Option<String>| written.as_deref() == Some(path);
    analysis.commands.is_empty() && analysis.paths.iter().any(|one| is_it(&one.resolved))
}

/// The events of the decisions of these calls, as the session's journal has them.
fn events(driver: &Driver<'_>, wanted: &[Background]) -> Vec<Event> {
    let journal = driver.project.session_journal(&driver.session);
    let scan = Scan::<SessionSnapshot>::open(driver.store, &journal);
    let records = scan.into_iter().flat_map(|scan| scan.map_while(Result::ok));
    let is_wanted = |event: &Value, time: i64| {
        let is_call = event.get("event").and_then(Value::as_str) == Some("tool_call");
        let id = event.get("id").and_then(Value::as_str);
        is_call && wanted.iter().any(|call| call.id.as_deref() == id && (id.is_some() || call.since == time))
    };
    let calls = records.filter(|record| is_wanted(&record.entry.event, record.entry.time));
    let mut found: Vec<Event> = Vec::new();
    for record in calls {
        let passed = record.entry.decision.is_none_or(|decision| decision.effect < Effect::Deny);
        let Some(event) = Event::from_value(record.entry.event).ok().filter(|_| passed) else { continue };
        found.push(Event { time: Some(record.entry.time), ..event });
    }
    found
}

/// Whether another session of the project wrote to its journal since this time, in milliseconds since 1970-01-01 UTC.
fn others_work(driver: &Driver<'_>, since: i64) -> bool {
    let own = driver.project.session_journal(&driver.session);
    let since = UNIX_EPOCH + Duration::from_millis(u64::try_from(since).unwrap_or_default());
    let written =
        |path: &PathBuf| path.symlink_metadata().map_or(SystemTime::UNIX_EPOCH, |data| fingerprint::changed(&data));
    driver.project.session_journals().iter().any(|path| *path != own && written(path) >= since)
}
