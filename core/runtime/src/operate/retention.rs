//! Retention: removes old state of ended sessions (rules 8.5).
//!
//! A session's journal is removed as a whole, with its sealed parts and the file that says where the session began. The project's journal
//! records the removal, so that the integrity check does not miss it. These stay: the project's own journal, a journal
//! with a live run in block mode, one that cannot be read, one that is in use. A compiled policy or skill goes when no
//! record of a kept journal names it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use phasegate_adapter::Problem;
use phasegate_core::{Code, Durability, State};
use serde_json::json;

use crate::deadline::{Deadline, LIMIT};
use crate::effects::files_of;
use crate::locations::Locations;
use crate::operate::verify::{policies_of_project, policies_of_session};
use crate::policies::policy_store::PolicyStore;
use crate::project::{Project, every_project, session_root_file};
use crate::sessions::is_strict;
use crate::sessions::snapshot::{ProjectChange, ProjectSnapshot, SessionSnapshot};
use phasegate_formats::journal::Entry;
use phasegate_store::disk::Disk as _;
use phasegate_store::disk::active_disk::disk;
use phasegate_store::error::StoreErrorKind;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::{Journal, read_last};
use phasegate_store::parts::parts;
use phasegate_store::state::JournalState as _;

/// A compiled policy is kept at least so long after it was last made or taken up.
const POLICY_AT_LEAST: Duration = Duration::from_secs(60 * 60);

/// What retention would remove, or removed.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    /// What went, or would go: journals first, by project, then policies and skills.
    pub removed: Vec<Removed>,
    /// Journals that are old enough and stay.
    pub kept: Vec<Kept>,
    /// How many journals are not old enough.
    pub young: u64,
}

impl Report {
    /// How many bytes went, or would go.
    pub fn bytes(&self) -> u64 {
        self.removed.iter().map(|removed| removed.bytes).sum()
    }
}

/// A file that went, or would go.
#[derive(Clone, Debug, PartialEq)]
pub struct Removed {
    /// The file.
    pub path: PathBuf,
    /// The session, for a journal.
    pub session: Option<String>,
    /// How long the file was.
    pub bytes: u64,
    /// When it was last written.
    pub written: SystemTime,
}

/// A journal that is old enough and stays.
#[derive(Clone, Debug, PartialEq)]
pub struct Kept {
    /// The file.
    pub path: PathBuf,
    /// The session, where it can be read.
    pub session: Option<String>,
    /// Why it stays.
    pub why: Why,
}

/// Why a journal stays that is old enough to go.
#[derive(Clone, Debug, PartialEq)]
pub enum Why {
    /// A run in block mode is live in it.
    LiveRun,
    /// It cannot be read, or it was changed.
    Damaged(Problem),
    /// Another process has it open.
    InUse,
}

/// Removes what was last written longer than `older_than` ago, in every project; with `dry_run`, only says what.
/// `progress` is told how many of how many journals were looked at.
///
/// # Errors
///
/// `state-not-saved`: something cannot be written or removed. What went before that is gone and recorded. `state-busy`,
/// `state-unreadable`, `state-version`, `state-exposed`: a project's own journal cannot be used; nothing of that project
/// went.
pub fn retention(
    locations: &Locations,
    older_than: Duration,
    dry_run: bool,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<Report, Problem> {
    let projects = every_project(locations);
    let total = projects.iter().map(|project| project.session_journals().len() as u64 + 1).sum();
    let mut work = Work { locations, older_than, dry_run, report: Report::default(), done: 0, total, progress };
    for project in &projects {
        work.project(project)?;
    }
    work.policies(&projects)?;
    Ok(work.report)
}

struct Work<'a> {
    locations: &'a Locations,
    older_than: Duration,
    dry_run: bool,
    report: Report,
    done: u64,
    total: u64,
    progress: &'a mut dyn FnMut(u64, u64),
}

/// A journal that was not written lately.
struct OldJournal {
    path: PathBuf,
    bytes: u64,
    written: SystemTime,
}

/// A journal that can go; its lock is held until it is gone.
struct Candidate {
    _journal: Option<Journal>,
    removed: Removed,
    key: String,
}

impl Work<'_> {
    fn project(&mut self, project: &Project) -> Result<(), Problem> {
        let mut old = Vec::new();
        for path in project.session_journals() {
            self.step();
            let (bytes, written) = size_and_time(&path);
            if age(written) < self.older_than {
                self.report.young += 1;
            } else {
                old.push(OldJournal { path, bytes, written });
            }
        }
        if old.is_empty() || !project.journal().exists() {
            return Ok(());
        }
        let deadline = Deadline::new(LIMIT);
        let (mut own, state) = Journal::open::<ProjectSnapshot>(&FileStore, &project.journal(), &deadline)?;
        let candidates: Vec<_> = old.into_iter().filter_map(|journal| self.candidate(journal)).collect();
        if !candidates.is_empty() && !self.dry_run {
            self.record(&mut own, state, &candidates)?;
        }
        for candidate in candidates {
            if !self.dry_run {
                self.remove(&session_root_file(self.locations, &candidate.key))?;
                for part in parts(&FileStore, &candidate.removed.path) {
                    self.remove(&part)?;
                }
                self.remove(&candidate.removed.path)?;
                files_of(project, &candidate.key).iter().try_for_each(|file| self.remove(file))?;
                set_aside(&candidate.removed.path).iter().try_for_each(|path| self.remove(path))?;
            }
            self.report.removed.push(candidate.removed);
        }
        Ok(())
    }

    /// The journal, locked unless nothing is to go, if it can go.
    fn candidate(&mut self, old: OldJournal) -> Option<Candidate> {
        let OldJournal { path, bytes, written } = old;
        let (state, journal) = match self.open(&path, bytes) {
            Ok(opened) => opened,
            Err(why) => {
                self.report.kept.push(Kept { path, session: None, why });
                return None;
            }
        };
        let live = is_strict(&State { session: state.session.clone(), ..State::default() });
        let session = Some(state.session.id).filter(|id| !id.is_empty());
        if live {
            self.report.kept.push(Kept { path, session, why: Why::LiveRun });
            return None;
        }
        let key = path.file_stem()?.to_str()?.to_string();
        let bytes = bytes + parts(&FileStore, &path).iter().map(|part| size_and_time(part).0).sum::<u64>();
        Some(Candidate { _journal: journal, removed: Removed { path, session, bytes, written }, key })
    }

    fn open(&self, path: &Path, bytes: u64) -> Result<(SessionSnapshot, Option<Journal>), Why> {
        if self.dry_run {
            let last = read_last::<SessionSnapshot>(&FileStore, path).map_err(|error| Why::Damaged(error.into()))?;
            return Ok((last.map(|last| last.state).unwrap_or_default(), None));
        }
        // Do not wait for a process that has it open.
        let opened = Journal::open(&FileStore, path, &Deadline::new(Duration::ZERO));
        let (journal, state) = opened.map_err(|error| match error.kind {
            StoreErrorKind::Busy => Why::InUse,
            _ => Why::Damaged(error.into()),
        })?;
        // It was written since it was found to be old.
        if size_and_time(path).0 > bytes {
            return Err(Why::InUse);
        }
        Ok((state, Some(journal)))
    }

    /// Records in the project's journal which sessions' journals go, and misses them no more.
    fn record(&self, own: &mut Journal, mut state: ProjectSnapshot, candidates: &[Candidate]) -> Result<(), Problem> {
        let keys: Vec<_> = candidates.iter().map(|candidate| candidate.key.clone()).collect();
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let entry = Entry {
            time: i64::try_from(now.as_millis()).unwrap_or(i64::MAX),
            engine: env!("CARGO_PKG_VERSION").to_string(),
            policy: own.policy().to_string(),
            event: json!({"event": "removed", "sessions": keys}),
            changes: vec![ProjectChange::Removed(keys), ProjectChange::Synced(state.base + own.seq() + 1)],
            ..Entry::default()
        };
        entry.changes.iter().for_each(|change| state.apply(change));
        Ok(own.append(&entry, &state, Durability::Synced)?)
    }

    /// Removes the stored policies and skills that no record of a kept journal names.
    fn policies(&mut self, projects: &[Project]) -> Result<(), Problem> {
        let gone: BTreeSet<_> = self.report.removed.iter().map(|removed| removed.path.clone()).collect();
        let mut named = BTreeSet::new();
        for project in projects {
            let sessions = project.session_journals().into_iter().filter(|path| path.exists() && !gone.contains(path));
            let own = Some(project.journal()).filter(|path| path.exists());
            let sessions = sessions.map(|path| policies_of_session(&path));
            for names in sessions.chain(own.map(|path| policies_of_project(&path))) {
                match names {
                    Ok(names) => named.extend(names),
                    // What the journal names is not known.
                    Err(_) => return Ok(()),
                }
            }
            self.step();
        }
        let least = self.older_than.max(POLICY_AT_LEAST);
        for path in PolicyStore::new(&self.locations.state).files() {
            let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
            let (bytes, written) = size_and_time(&path);
            if named.contains(name) || age(written) < least {
                continue;
            }
            if !self.dry_run {
                self.remove(&path)?;
            }
            self.report.removed.push(Removed { path, session: None, bytes, written });
        }
        Ok(())
    }

    fn remove(&self, path: &Path) -> Result<(), Problem> {
        disk().remove(path).map_err(|error| {
            Problem::new(Code::StateNotSaved, format!("`{}` cannot be removed: {error}", path.display()))
        })
    }

    fn step(&mut self) {
        self.done += 1;
        (self.progress)(self.done, self.total);
    }
}

/// The files that keep what was set aside of this journal (rules 8.9).
pub(crate) fn set_aside(journal: &Path) -> Vec<PathBuf> {
    let entries = journal.parent().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let is_damaged = |path: &PathBuf| path.extension().is_some_and(|end| end.to_string_lossy().starts_with("damaged-"));
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.file_stem() == journal.file_stem() && is_damaged(path)).collect()
}

fn size_and_time(path: &Path) -> (u64, SystemTime) {
    path.metadata()
        .map_or((0, SystemTime::now()), |data| (data.len(), data.modified().unwrap_or_else(|_| SystemTime::now())))
}

fn age(moment: SystemTime) -> Duration {
    moment.elapsed().unwrap_or_default()
}
