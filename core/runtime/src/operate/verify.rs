//! Verification: whether everything that is kept about a project still fits together (rules 8.3).
//!
//! Every record of every journal is read: its chain, its number and the state it says it left. Then the journals are held
//! against each other: what the project noted of each session, what each session saw of the project, the policies that
//! records name, the sessions that are known to have begun. Nothing is locked and nothing is changed; a journal that is
//! being written to is read as far as it had come.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use phasegate_adapter::Problem;
use phasegate_core::state::Runs;
use phasegate_core::{Change, Code};
use phasegate_formats::journal::Record;
use phasegate_store::digest::sha256_hex;
use phasegate_store::disk::ownership::read_own;
use phasegate_store::file_store::FileStore;
use phasegate_store::parts::parts;
use phasegate_store::scan::Scan;
use phasegate_store::state::JournalState;
use serde_json::Value;

use crate::locations::Locations;
use crate::policies::policy_store::PolicyStore;
use crate::project::{Project, kept_sessions, session_key};
use crate::sessions::snapshot::{Checkpoint, ProjectChange, ProjectSnapshot, SessionChange, SessionSnapshot};

/// What is wrong with the journals of a project, and what they are.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// The journals, the project's own first, the sessions' by file name.
    pub journals: Vec<Verified>,
    /// How many stored policies and skills were read that records name.
    pub policies: u64,
    /// What does not fit, in the order of the journals.
    pub findings: Vec<Finding>,
    /// The journals that a person had set aside, in the order of the project's records.
    pub seals: Vec<Seal>,
}

impl Report {
    /// Whether everything fits together.
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

/// A damaged journal that a person had set aside (rules 8.9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seal {
    /// The session; `None` for the project's own journal.
    pub session: Option<String>,
    /// The file that keeps what was damaged; `None` where nothing was left.
    pub path: Option<PathBuf>,
    /// How many records could be read.
    pub readable: u64,
    /// What the person said was active: `keep`, `run` or `no_run`.
    pub said: String,
    /// The skills that went on.
    pub skills: Vec<String>,
    /// The digest of the file, where it is a regular one.
    sha256: Option<String>,
}

/// Something that does not fit.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// `state-unreadable`, `state-missing`, `state-version`, `policy-missing` or `ran-unguarded`.
    pub code: Code,
    /// The file it was found in, or that is not there.
    pub path: PathBuf,
    /// The number of the record, where it is about one.
    pub record: Option<u64>,
    /// What does not fit, in a sentence.
    pub message: String,
}

/// Reads everything that is kept about the project. `progress` is told how many bytes of how many were read.
pub fn verify(locations: &Locations, project: &Project, progress: &mut dyn FnMut(u64, u64)) -> Report {
    let paths = project.session_journals();
    let size = |path: &PathBuf| path.metadata().map_or(0, |data| data.len());
    let sealed = |path: &PathBuf| parts(&FileStore, path).iter().map(size).sum::<u64>();
    let total = paths.iter().chain([&project.journal()]).map(|path| size(path) + sealed(path)).sum();
    let mut work = Work {
        report: Report::default(),
        checkpoints: BTreeMap::new(),
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
    work.seals();
    work.policies(&PolicyStore::new(&locations.state));
    work.report
}

/// A checkpoint, and the number of the project's record that set it.
struct Noted {
    checkpoint: Checkpoint,
    by: u64,
}

/// A stored policy or skill that a journal names.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Named {
    /// The digest of the policy, or the version of the skill.
    name: String,
    is_skill: bool,
    /// The journal that names it.
    path: PathBuf,
}

struct Work<'a> {
    report: Report,
    /// Every checkpoint that the project ever set and did not take back, by session.
    checkpoints: BTreeMap<String, Vec<Noted>>,
    policies: BTreeSet<Named>,
    done: u64,
    total: u64,
    progress: &'a mut dyn FnMut(u64, u64),
}

impl Work<'_> {
    fn found(&mut self, code: Code, path: &Path, record: Option<u64>, message: impl Into<String>) {
        self.report.findings.push(Finding { code, path: path.to_path_buf(), record, message: message.into() });
    }

    /// Reads a journal to its end or to the first record that does not fit; `see` looks at each record.
    fn read<S: JournalState>(
        &mut self,
        path: &Path,
        mut see: impl FnMut(&mut Self, &Record<S::Change>, &Scan<S>),
    ) -> Option<S> {
        let mut verified =
            Verified { path: path.to_path_buf(), session: None, records: 0, head: String::new(), bytes: 0, torn: 0 };
        let begun = self.done;
        let scan = Scan::<S>::open(&FileStore, path).map_err(|error| self.problem(path, None, error.into()));
        let mut state = None;
        if let Ok(mut scan) = scan {
            while let Some(next) = scan.next() {
                match next {
                    Ok(record) => {
                        see(self, &record, &scan);
                        (verified.records, verified.head) = (record.seq, scan.head());
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

    /// Reads the project's own journal; the number of its last record, with those that were set aside.
    fn project(&mut self, project: &Project, has_sessions: bool) -> u64 {
        let path = project.journal();
        if !path.exists() && !has_sessions {
            self.memory(project, 0);
            return 0;
        }
        let read = self.read::<ProjectSnapshot>(&path, |work, record, scan| {
            work.note_seal(project, record);
            work.note_checkpoints(record);
            if record.entry.changes.iter().any(begins_run_of_project) {
                work.note_policies(&path, names_of_project(scan.state()));
            }
        });
        let records = self.report.journals.first().map_or(0, |journal| journal.records);
        let all = read.map_or(0, |state| state.base) + records;
        self.memory(project, all);
        all
    }

    /// Whether what is remembered outside of the journals fits the project's, which has so many records.
    fn memory(&mut self, project: &Project, all: u64) {
        match project.remembered() {
            Ok(Some(memory)) if memory.damaged => {
                let message =
                    "it does not say that the project is guarded; block mode is taken, and the next call writes it";
                self.found(Code::StateUnreadable, &project.memory(), None, message);
            }
            Ok(Some(memory)) if all < memory.records => {
                let message = format!("it had {} records and has {all}", memory.records);
                self.found(Code::StateMissing, &project.journal(), None, message);
            }
            Ok(_) => {}
            Err(problem) => self.problem(&project.memory(), None, problem),
        }
    }

    /// Notes the checkpoints that a record of the project sets.
    fn note_checkpoints(&mut self, record: &Record<ProjectChange>) {
        let listed = record.entry.changes.iter().filter_map(|change| match change {
            ProjectChange::Checkpoint(noted) => Some((&noted.session, &noted.at)),
            _ => None,
        });
        for (key, checkpoint) in listed {
            let known = self.checkpoints.entry(key.clone()).or_default();
            if known.last().is_none_or(|last| last.checkpoint != *checkpoint) {
                known.push(Noted { checkpoint: checkpoint.clone(), by: record.seq });
            }
        }
        for removed in removed_sessions(&record.entry.event) {
            self.checkpoints.remove(&removed);
            self.report.seals.retain(|seal| seal.session.as_deref().map(session_key).as_ref() != Some(&removed));
        }
    }

    /// Notes that a journal was set aside: what was noted of it before holds no longer.
    fn note_seal(&mut self, project: &Project, record: &Record<ProjectChange>) {
        let event = &record.entry.event;
        if event.get("event").is_none_or(|name| name != "sealed") {
            return;
        }
        let text = |value: Option<&Value>| value.and_then(Value::as_str).map(str::to_string);
        let session = text(event.get("session"));
        if let Some(session) = &session {
            self.checkpoints.remove(&session_key(session));
        }
        let folder = if session.is_some() { project.sessions() } else { project.folder.clone() };
        let aside = event.get("aside");
        let skills = event.get("skills").and_then(Value::as_array).into_iter().flatten();
        self.report.seals.push(Seal {
            path: text(aside.and_then(|aside| aside.get("file"))).map(|name| folder.join(name)),
            sha256: text(aside.and_then(|aside| aside.get("sha256"))),
            readable: event.get("readable").and_then(Value::as_u64).unwrap_or_default(),
            said: text(event.get("said")).unwrap_or_default(),
            skills: skills.filter_map(|skill| text(Some(skill))).collect(),
            session,
        });
    }

    /// Whether what was set aside is as it was then.
    fn seals(&mut self) {
        for seal in self.report.seals.clone() {
            let (Some(path), Some(digest)) = (seal.path, seal.sha256) else { continue };
            match read_own(&path) {
                Ok(bytes) if sha256_hex(&bytes) == digest => {}
                Ok(_) => self.found(Code::StateUnreadable, &path, None, "what was set aside was changed"),
                Err(_) => self.found(Code::StateMissing, &path, None, "what was set aside is gone"),
            }
        }
    }

    fn session(&mut self, path: &Path, key: &str, project_seq: u64) {
        let checkpoints = self.checkpoints.remove(key);
        let mut wanted = checkpoints.iter().flatten().filter(|noted| noted.checkpoint.seq > 0).peekable();
        let mut seen = 0;
        let state = self.read::<SessionSnapshot>(path, |work, record, scan| {
            while let Some(noted) = wanted.next_if(|noted| noted.checkpoint.seq <= record.seq) {
                if noted.checkpoint.seq == record.seq && noted.checkpoint.head != scan.head() {
                    let message = format!("it is not the record that the project's record {} noted", noted.by);
                    work.found(Code::StateUnreadable, path, Some(record.seq), message);
                }
            }
            let saw = record.entry.project_seq.unwrap_or_default();
            if saw < seen {
                let message = format!("it saw {saw} records of the project, the one before it {seen}");
                work.found(Code::StateMissing, path, Some(record.seq), message);
            }
            seen = saw;
            if record.entry.changes.iter().any(names_policy) {
                work.note_policies(path, names_of_session(scan.state()));
            }
        });
        let records = self.report.journals.last().map_or(0, |journal| journal.records);
        if let Some(noted) = wanted.last() {
            let (by, seq) = (noted.by, noted.checkpoint.seq);
            let message = format!("the project's record {by} noted {seq} records, there are {records}");
            self.found(Code::StateMissing, path, None, message);
        }
        if seen > project_seq {
            let message = format!("it saw {seen} records of the project, which has {project_seq}");
            self.found(Code::StateMissing, path, Some(records), message);
        }
        if checkpoints.is_none() && records > 0 {
            self.found(Code::StateUnreadable, path, None, "the project's journal does not know this session");
        }
        self.own_state(path, key, state.filter(|_| records > 0));
    }

    /// Whether the session's last state is that of the session that the file is named after.
    fn own_state(&mut self, path: &Path, key: &str, state: Option<SessionSnapshot>) {
        let Some(state) = state else { return };
        let id = state.session.id;
        if !id.is_empty() && session_key(&id) != key {
            let message = format!("it holds session `{id}`, whose journal has another name");
            self.found(Code::StateUnreadable, path, None, message);
        }
        if let Some(journal) = self.report.journals.last_mut() {
            journal.session = Some(id);
        }
    }

    fn note_policies<'n>(&mut self, path: &Path, names: impl Iterator<Item = (&'n str, bool)>) {
        let path = path.to_path_buf();
        self.policies.extend(names.map(|(name, is_skill)| Named {
            name: name.to_string(),
            is_skill,
            path: path.clone(),
        }));
    }

    /// Sessions that the project noted, or that are known to have begun in it, and that have no journal.
    fn absent(&mut self, locations: &Locations, project: &Project, present: &BTreeSet<String>) {
        let mut absent: BTreeSet<String> = self
            .checkpoints
            .iter()
            .filter(|(_, all)| all.iter().any(|noted| noted.checkpoint.seq > 0))
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
        for Named { name, is_skill: skill, path } in std::mem::take(&mut self.policies) {
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

/// The stored policy and the skills that a session names; `true` for a skill.
fn names_of_session(state: &SessionSnapshot) -> impl Iterator<Item = (&str, bool)> {
    let digest = Some(state.policy_digest.as_str()).filter(|digest| !digest.is_empty());
    digest.map(|digest| (digest, false)).into_iter().chain(skills(&state.session.runs))
}

/// The skills that a project names.
fn names_of_project(state: &ProjectSnapshot) -> impl Iterator<Item = (&str, bool)> {
    skills(&state.project.runs)
}

fn skills(runs: &Runs) -> impl Iterator<Item = (&str, bool)> {
    runs.iter().map(|run| (run.version.as_str(), true))
}

fn names_policy(change: &SessionChange) -> bool {
    matches!(change, SessionChange::PolicyDigest(_) | SessionChange::Engine(Change::RunBegun(_)))
}

fn begins_run_of_project(change: &ProjectChange) -> bool {
    matches!(change, ProjectChange::Engine(Change::RunBegun(_)))
}

/// The stored policies and skills that the records of a session's journal name.
///
/// # Errors
///
/// `state-unreadable`, `state-version`: not every record can be read.
pub(crate) fn policies_of_session(path: &Path) -> Result<BTreeSet<String>, Problem> {
    named(path, |state| names_of_session(state).map(|(name, _)| name.to_string()).collect())
}

/// The stored skills that the records of a project's journal name.
///
/// # Errors
///
/// As for [`policies_of_session`].
pub(crate) fn policies_of_project(path: &Path) -> Result<BTreeSet<String>, Problem> {
    named(path, |state| names_of_project(state).map(|(name, _)| name.to_string()).collect())
}

fn named<S: JournalState>(path: &Path, names: impl Fn(&S) -> Vec<String>) -> Result<BTreeSet<String>, Problem> {
    let mut found = BTreeSet::new();
    let mut scan = Scan::<S>::open(&FileStore, path)?;
    while let Some(record) = scan.next() {
        record?;
        found.extend(names(scan.state()));
    }
    Ok(found)
}

/// The sessions whose journals a record of the project says were removed on purpose.
fn removed_sessions(event: &Value) -> Vec<String> {
    let event = Some(event).filter(|event| event.get("event").is_some_and(|name| name == "removed"));
    let keys = event.and_then(|event| event.get("sessions")?.as_array());
    keys.into_iter().flatten().filter_map(|key| key.as_str().map(str::to_string)).collect()
}
