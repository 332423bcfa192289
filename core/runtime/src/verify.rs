//! Verification: whether everything that is kept about a project still fits together (rules 8.3).
//!
//! Every record of every journal is read: its chain, its number and the state it says it left. Then the journals are held
//! against each other: what the project noted of each session, what each session saw of the project, the policies that
//! records name, the sessions that are known to have begun. Nothing is locked and nothing is changed; a journal that is
//! being written to is read as far as it had come.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use phasegate_adapter::Problem;
use phasegate_core::Code;
use serde_json::Value;

use crate::journal::scan::{Record, Scan};
use crate::kept::{Anchor, KeptProject, KeptSession};
use crate::locations::Locations;
use crate::policy_store::PolicyStore;
use crate::project::{Project, kept_sessions, session_key};

/// What is wrong with the journals of a project, and what they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The journals, the project's own first, the sessions' by file name.
    pub journals: Vec<Verified>,
    /// How many stored policies and skills were read that records name.
    pub policies: u64,
    /// What does not fit, in the order of the journals.
    pub findings: Vec<Finding>,
}

impl Report {
    /// Whether everything fits together.
    #[must_use]
    pub fn fits(&self) -> bool {
        self.findings.is_empty()
    }
}

/// One journal, as far as it could be read.
#[derive(Clone, Debug, PartialEq)]
pub struct Verified {
    /// The file.
    pub path: PathBuf,
    /// The session's id; `None` for the project's own journal, and where no record could be read.
    pub session: Option<String>,
    /// How many records fit together.
    pub records: u64,
    /// The chain hash of the last of them, as 64 hexadecimal digits; empty without any.
    pub head: String,
    /// How many bytes were read.
    pub bytes: u64,
    /// How many bytes of a torn record follow: the answer to it never went out. The next record cuts them off.
    pub torn: u64,
}

/// Something that does not fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// `state-unreadable`, `state-missing`, `state-version` or `policy-missing`.
    pub code: Code,
    /// The file it was found in, or that is not there.
    pub path: PathBuf,
    /// The number of the record, where it is about one.
    pub record: Option<u64>,
    /// What does not fit, in a sentence.
    pub message: String,
}

/// Reads everything that is kept about the project. `progress` is told how many bytes of how many were read.
#[must_use]
pub fn verify(locations: &Locations, project: &Project, progress: &mut dyn FnMut(u64, u64)) -> Report {
    let paths = project.session_journals();
    let size = |path: &PathBuf| path.metadata().map_or(0, |data| data.len());
    let total = paths.iter().chain([&project.journal()]).map(size).sum();
    let mut work = Work {
        report: Report::default(),
        anchors: BTreeMap::new(),
        policies: BTreeSet::new(),
        done: 0,
        total,
        progress,
    };
    let project_seq = work.project(project, !paths.is_empty());
    let mut present = BTreeSet::new();
    for path in &paths {
        let key = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        work.session(path, &key, project_seq);
        present.insert(key);
    }
    work.absent(locations, project, &present);
    work.policies(&PolicyStore::new(&locations.state));
    work.report
}

/// An anchor, and the project's record that set it.
type Anchored = (Anchor, u64);

struct Work<'a> {
    report: Report,
    /// Every anchor the project ever set and did not take back, by session.
    anchors: BTreeMap<String, Vec<Anchored>>,
    /// What stored policies and skills are named: the digest or version, whether it is a skill, and where.
    policies: BTreeSet<(String, bool, PathBuf)>,
    done: u64,
    total: u64,
    progress: &'a mut dyn FnMut(u64, u64),
}

impl Work<'_> {
    fn found(&mut self, code: Code, path: &Path, record: Option<u64>, message: impl Into<String>) {
        self.report.findings.push(Finding { code, path: path.to_path_buf(), record, message: message.into() });
    }

    /// Reads a journal to its end or to the first record that does not fit; `see` looks at each record.
    fn read(&mut self, path: &Path, mut see: impl FnMut(&mut Self, &Record, &Value)) -> Option<Value> {
        let mut verified =
            Verified { path: path.to_path_buf(), session: None, records: 0, head: String::new(), bytes: 0, torn: 0 };
        let begun = self.done;
        let scan = Scan::open(path).map_err(|error| self.problem(path, None, error.into()));
        let mut state = None;
        if let Ok(mut scan) = scan {
            while let Some(next) = scan.next() {
                match next {
                    Ok(record) => {
                        see(self, &record, scan.state());
                        (verified.records, verified.head) = (record.seq, record.head);
                    }
                    Err(error) => self.problem(path, Some(verified.records + 1), error.into()),
                }
                (self.progress)(begun + scan.read(), self.total);
            }
            (verified.bytes, verified.torn) = (scan.read(), scan.torn());
            self.done = begun + scan.read();
            state = Some(scan.state().clone());
        }
        self.report.journals.push(verified);
        state
    }

    fn problem(&mut self, path: &Path, record: Option<u64>, problem: Problem) {
        self.found(problem.code, path, record, problem.message);
    }

    /// Reads the project's own journal; the number of its last record.
    fn project(&mut self, project: &Project, has_sessions: bool) -> u64 {
        let path = project.journal();
        let absent = !path.exists();
        if absent && !has_sessions {
            return 0;
        }
        let state = self.read(&path, |work, record, state| {
            work.note_anchors(record, state);
            work.note_policies(&path, state);
        });
        if let Some(state) = state.filter(|state| !state.is_null())
            && serde_json::from_value::<KeptProject>(state).is_err()
        {
            self.found(Code::StateUnreadable, &path, None, "the project's state is not in a known form");
        }
        self.report.journals.first().map_or(0, |journal| journal.records)
    }

    fn note_anchors(&mut self, record: &Record, state: &Value) {
        let changed = ["state", "patch"].iter().find_map(|part| record.body.get(*part)?.get("sessions")?.as_object());
        for key in changed.into_iter().flat_map(serde_json::Map::keys) {
            let anchor = state.get("sessions").and_then(|all| all.get(key));
            let anchor = anchor.and_then(|anchor| serde_json::from_value::<Anchor>(anchor.clone()).ok());
            let known = self.anchors.entry(key.clone()).or_default();
            if let Some(anchor) = anchor
                && known.last().is_none_or(|(last, _)| *last != anchor)
            {
                known.push((anchor, record.seq));
            }
        }
        for removed in removed_sessions(record) {
            self.anchors.remove(&removed);
        }
    }

    fn session(&mut self, path: &Path, key: &str, project_seq: u64) {
        let anchors = self.anchors.remove(key);
        let mut wanted = anchors.iter().flatten().filter(|(anchor, _)| anchor.seq > 0).peekable();
        let mut seen = 0;
        let state = self.read(path, |work, record, state| {
            while let Some((anchor, by)) = wanted.next_if(|(anchor, _)| anchor.seq <= record.seq) {
                if anchor.seq == record.seq && anchor.head != record.head {
                    let message = format!("it is not the record that the project's record {by} noted");
                    work.found(Code::StateUnreadable, path, Some(record.seq), message);
                }
            }
            let saw = record.body.get("project_seq").and_then(Value::as_u64).unwrap_or_default();
            if saw < seen {
                let message = format!("it saw {saw} records of the project, the one before it {seen}");
                work.found(Code::StateMissing, path, Some(record.seq), message);
            }
            seen = saw;
            work.note_policies(path, state);
        });
        let records = self.report.journals.last().map_or(0, |journal| journal.records);
        if let Some((anchor, by)) = wanted.last() {
            let message = format!("the project's record {by} noted {} records, there are {records}", anchor.seq);
            self.found(Code::StateMissing, path, None, message);
        }
        if seen > project_seq {
            let message = format!("it saw {seen} records of the project, which has {project_seq}");
            self.found(Code::StateMissing, path, Some(records), message);
        }
        if anchors.is_none() && records > 0 {
            self.found(Code::StateUnreadable, path, None, "the project's journal does not know this session");
        }
        self.own_state(path, key, state);
    }

    /// Whether the session's last state can be read, and is that of the session that the file is named after.
    fn own_state(&mut self, path: &Path, key: &str, state: Option<Value>) {
        let Some(state) = state.filter(|state| !state.is_null()) else { return };
        match serde_json::from_value::<KeptSession>(state) {
            Ok(kept) => {
                let id = kept.session.id;
                if !id.is_empty() && session_key(&id) != key {
                    let message = format!("it holds session `{id}`, whose journal has another name");
                    self.found(Code::StateUnreadable, path, None, message);
                }
                if let Some(journal) = self.report.journals.last_mut() {
                    journal.session = Some(id);
                }
            }
            Err(error) => {
                self.found(Code::StateUnreadable, path, None, format!("the state is not in a known form: {error}"));
            }
        }
    }

    fn note_policies(&mut self, path: &Path, state: &Value) {
        for (name, skill) in names(state) {
            let entry = (name.to_string(), skill, path.to_path_buf());
            if !self.policies.contains(&entry) {
                self.policies.insert(entry);
            }
        }
    }

    /// Sessions that the project noted, or that are known to have begun in it, and that have no journal.
    fn absent(&mut self, locations: &Locations, project: &Project, present: &BTreeSet<String>) {
        let mut absent: BTreeSet<String> = self
            .anchors
            .iter()
            .filter(|(_, all)| all.iter().any(|(anchor, _)| anchor.seq > 0))
            .map(|(key, _)| key.clone())
            .collect();
        absent.extend(kept_sessions(locations, project));
        for key in absent.difference(present) {
            let path = project.sessions().join(format!("{key}.journal"));
            self.found(Code::StateMissing, &path, None, "the journal of a session that began here is gone");
        }
    }

    fn policies(&mut self, store: &PolicyStore) {
        let mut checked: BTreeMap<(String, bool), bool> = BTreeMap::new();
        for (name, skill, path) in std::mem::take(&mut self.policies) {
            let good = *checked
                .entry((name.clone(), skill))
                .or_insert_with(|| if skill { store.has_skill(&name) } else { store.has_policy(&name) });
            if !good {
                let what = if skill { "skill" } else { "policy" };
                let message = format!("it names the stored {what} `{name}`, which is gone or was changed");
                self.found(Code::PolicyMissing, &path, None, message);
            }
        }
        self.report.policies = checked.len() as u64;
    }
}

/// The stored policy and skills that a state names; whether it is a skill.
fn names(state: &Value) -> impl Iterator<Item = (&str, bool)> {
    let digest = state.get("policy_digest").and_then(Value::as_str).filter(|digest| !digest.is_empty());
    let runs = ["session", "project"].into_iter().filter_map(|half| state.get(half)?.get("runs")?.as_array());
    let skills = runs.flatten().filter_map(|run| run.get("version")?.as_str());
    digest.map(|digest| (digest, false)).into_iter().chain(skills.map(|name| (name, true)))
}

/// The stored policies and skills that the records of a journal name.
///
/// # Errors
///
/// `state-unreadable`, `state-version`: not every record can be read.
pub(crate) fn named_policies(path: &Path) -> Result<BTreeSet<String>, Problem> {
    let mut found = BTreeSet::new();
    let mut scan = Scan::open(path)?;
    while let Some(record) = scan.next() {
        record?;
        for (name, _) in names(scan.state()) {
            if !found.contains(name) {
                found.insert(name.to_string());
            }
        }
    }
    Ok(found)
}

/// The sessions whose journals a record of the project says were removed on purpose.
fn removed_sessions(record: &Record) -> Vec<String> {
    let event = record.body.get("event").filter(|event| event.get("event").is_some_and(|name| name == "removed"));
    let keys = event.and_then(|event| event.get("sessions")?.as_array());
    keys.into_iter().flatten().filter_map(|key| key.as_str().map(str::to_string)).collect()
}
