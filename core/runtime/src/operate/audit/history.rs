//! The records of a session as values, from the first to the last.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use phasegate_adapter::Problem;
use phasegate_core::{Change, Decision, Event, Facts, Policy, Record, State, records, state};
use phasegate_formats::journal;
use phasegate_store::file_store::FileStore;
use phasegate_store::scan::Scan;
use phasegate_store::state::JournalState as _;
use serde_json::Value;

use crate::policies::policy_store::PolicyStore;
use crate::project::Project;
use crate::sessions::snapshot::{ProjectSnapshot, SessionChange, SessionSnapshot};

/// One record of a session's journal; the state after it is left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Past {
    /// Its number, from 1.
    pub seq: u64,
    /// The time of the decision, in milliseconds since 1970-01-01 UTC.
    pub time: i64,
    /// The version of phasegate that decided.
    pub engine: String,
    /// The version of the policy that was in use; empty if none could be used.
    pub policy: String,
    /// The event, with a digest in place of each long text. For a frame that stands for none, its digest and length.
    pub event: Value,
    /// The facts that were used.
    pub facts: Facts,
    /// The answer, if the event asks for one.
    pub decision: Option<Decision>,
    /// The changes of the engine's state.
    pub changes: Vec<Change>,
    /// What the changes mean.
    pub records: Vec<Record>,
    /// The reason why there is no decision: code and message.
    pub problem: Option<Value>,
    /// The number of the project's last record at that time.
    pub project_seq: Option<u64>,
    /// How many bytes of a torn record were cut off before this one.
    pub cut: Option<u64>,
}

/// A session's journal, read from its first record on together with the project's. Nothing is locked or written.
#[derive(Debug)]
pub struct History<'a> {
    policies: &'a PolicyStore,
    session: String,
    scan: Scan<SessionSnapshot>,
    project: Option<ProjectScan>,
    /// The state before the record that was given last.
    before: State,
    /// The session's part after it.
    after: SessionSnapshot,
    /// The policies that were loaded, by version, digest and the skills of the runs.
    loaded: BTreeMap<String, Policy>,
}

/// The project's journal, as far as the session had seen it.
#[derive(Debug)]
struct ProjectScan {
    scan: Scan<ProjectSnapshot>,
    /// The number of the last record that was read, its time, its event's name and its event's session.
    last: Option<(u64, i64, Value, Value)>,
    /// The state before that record.
    before: state::Project,
}

impl<'a> History<'a> {
    /// Begins before the first record.
    ///
    /// # Errors
    ///
    /// `state-missing`: there is no such journal. `state-unreadable`, `state-exposed`: it cannot be opened.
    pub fn open(policies: &'a PolicyStore, project: &Project, session: &str) -> Result<Self, Problem> {
        let scan = Scan::open(&FileStore, &project.session_journal(session))?;
        let project = Scan::open(&FileStore, &project.journal()).ok();
        let project = project.map(|scan| ProjectScan { scan, last: None, before: state::Project::default() });
        let (after, before) = (SessionSnapshot::default(), State::default());
        Ok(Self { policies, session: session.to_string(), scan, project, before, after, loaded: BTreeMap::new() })
    }

    /// The state before the record that was given last.
    pub fn before(&self) -> &State {
        &self.before
    }

    /// What the session's journal keeps after the record that was given last.
    pub fn after(&self) -> &SessionSnapshot {
        &self.after
    }

    /// The next record; `None` after the last.
    ///
    /// # Errors
    ///
    /// `state-unreadable`, `state-version`: it does not fit those before, or another version wrote it.
    pub fn next_record(&mut self) -> Result<Option<Past>, Problem> {
        let Some(found) = self.scan.next().transpose()? else { return Ok(None) };
        let journal::Record { seq, entry, cut, .. } = found;
        self.before.session.clone_from(&self.after.session);
        if let Some(project) = &mut self.project {
            self.before.project = project.before(&self.session, &entry);
        }
        entry.changes.iter().for_each(|change| self.after.apply(change));
        let changes = entry.changes.into_iter().filter_map(|change| match change {
            SessionChange::Engine(change) => Some(change),
            _ => None,
        });
        let mut past = Past {
            seq,
            time: entry.time,
            engine: entry.engine,
            policy: entry.policy,
            event: entry.event,
            facts: entry.facts,
            decision: entry.decision,
            changes: changes.collect(),
            records: Vec::new(),
            problem: entry.problem,
            project_seq: entry.project_seq,
            cut: Some(cut).filter(|bytes| *bytes > 0),
        };
        past.records = self.records_of(&past);
        Ok(Some(past))
    }

    /// What the changes of a record mean. The policy is looked at only where a name of it is asked for.
    fn records_of(&mut self, past: &Past) -> Vec<Record> {
        let Ok(event) = Event::from_value(without_digests(past.event.clone())) else { return Vec::new() };
        let names_phase = past.changes.iter().any(|change| matches!(change, Change::Proved(_)));
        let key = if names_phase { self.load_policy(past) } else { String::new() };
        let unknown = Policy::default();
        records(self.loaded.get(&key).unwrap_or(&unknown), &self.before, &event, &past.changes)
    }

    /// Loads the policy of a record, if it is not loaded; the key that it has among those that are.
    fn load_policy(&mut self, past: &Past) -> String {
        let mut key = format!("{} {}", past.policy, self.after.policy_digest);
        for run in self.before.live_runs() {
            key.push(' ');
            key.push_str(&run.version);
        }
        if !self.loaded.contains_key(&key) {
            let loaded = self.policies.load(&past.policy, &self.after.policy_digest, &self.before);
            self.loaded.insert(key.clone(), loaded.unwrap_or_default());
        }
        key
    }
}

impl ProjectScan {
    /// The project's half of the state before a record of the session. The record names the project's last record at
    /// that time, which is the event's own if the event changed the project or set a checkpoint there.
    fn before(&mut self, session: &str, entry: &journal::Entry<SessionChange>) -> state::Project {
        let wanted = entry.project_seq.unwrap_or_default();
        // Numbers go on from the records that were set aside.
        while self.scan.state().base + self.last.as_ref().map_or(0, |last| last.0) < wanted {
            self.before.clone_from(&self.scan.state().project);
            let Some(Ok(record)) = self.scan.next() else { break };
            let part = |name: &str| record.entry.event.get(name).cloned().unwrap_or_default();
            self.last = Some((record.seq, record.entry.time, part("event"), part("session")));
        }
        let name = entry.event.get("event").cloned().unwrap_or_default();
        let own = self.last.as_ref().is_some_and(|(seq, time, theirs, whose)| {
            self.scan.state().base + *seq == wanted
                && *time == entry.time
                && *theirs == name
                && whose.as_str() == Some(session)
        });
        if own { self.before.clone() } else { self.scan.state().project.clone() }
    }
}

/// The event with an empty text in place of each digest. Of a prompt or a message only the beginning is ever asked for,
/// and a text that begins that way is short enough to be kept.
pub(super) fn without_digests(mut event: Value) -> Value {
    for name in ["text", "prompt", "message"] {
        if let Some(value) = event.get_mut(name).filter(|value| value.is_object()) {
            *value = Value::from("");
        }
    }
    event
}

/// Walks through the records of a session until `visit` has enough. Nothing is written, and no lock is taken.
///
/// # Errors
///
/// `state-missing`: there is no such journal. `state-unreadable`, `state-version`: all records up to the one that the
/// problem names were visited.
pub fn walk(
    policies: &PolicyStore,
    project: &Project,
    session: &str,
    mut visit: impl FnMut(Past) -> ControlFlow<()>,
) -> Result<(), Problem> {
    let mut history = History::open(policies, project, session)?;
    while let Some(past) = history.next_record()? {
        if visit(past).is_break() {
            break;
        }
    }
    Ok(())
}
