//! What the clients' own records of sessions say against what the guard decided.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use phasegate_adapter::{FailureMode, RecordPlace};
use phasegate_core::Code;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::read_last;

use crate::clients::alarm::Alarm;
use crate::clients::call_comparison::Comparison;
use crate::clients::client_records::{ReadRecord, WHOLE_BYTES};
use crate::operate::verify::Finding;
use crate::project::{Project, kept_root};
use crate::runtime::Runtime;
use crate::sessions::snapshot::{ProjectSnapshot, SessionSnapshot};

/// The most such sessions that are read.
const MAX_UNHEARD: usize = 256;

/// Holds the whole of each client's record against the journal of its session. What a person has accepted is left out, and
/// so is a record that is gone: clients remove old ones. A journal that cannot be read is told by [`crate::operate::verify`].
pub fn compare_records(runtime: &Runtime, project: &Project) -> Vec<Finding> {
    let finding = |(path, alarm): (PathBuf, Alarm)| Finding {
        code: Code::RanUnguarded,
        path,
        record: None,
        message: alarm.text(),
    };
    not_accepted(runtime, project).into_iter().map(finding).collect()
}

/// What the records show and no person has accepted, each with its file.
pub(crate) fn not_accepted(runtime: &Runtime, project: &Project) -> Vec<(PathBuf, Alarm)> {
    let accepted = read_last::<ProjectSnapshot>(&FileStore, &project.journal()).ok().flatten();
    let accepted = accepted.map(|last| last.state.alarms).unwrap_or_default();
    let is_accepted = |alarm: &Alarm| {
        let same = |one: &&Alarm| one.session == alarm.session && one.id == alarm.id && one.what == alarm.what;
        accepted.iter().find(same).is_some_and(|one| one.seen)
    };
    let strict = runtime.failure_mode(project) == FailureMode::Closed;
    let journals = project.session_journals();
    let kept = journals.iter().filter_map(|path| {
        let SessionSnapshot { session, record, .. } = read_last(&FileStore, path).ok()??.state;
        Some(Kept { journal: path.clone(), session: session.id, record: record? })
    });
    let kept: Vec<Kept> = kept.collect();
    let mut found = Vec::new();
    // A session that goes on under another name has what the one before it recorded.
    let mut told = BTreeSet::new();
    for Kept { journal, session, record } in kept.iter().chain(&unheard(runtime, project, &kept)) {
        let adapter = runtime.platforms.adapter(&record.client);
        let Some(client) = adapter.and_then(|adapter| adapter.client_record()) else { continue };
        let looked = record.unread().look(client, WHOLE_BYTES);
        let others: Vec<PathBuf> = journals.iter().filter(|other| *other != journal).cloned().collect();
        let comparison = Comparison { store: &FileStore, session, own: journal.clone(), others, judged: &[], strict };
        let alarms = comparison.compare(&looked.calls).into_iter().filter(|alarm| !is_accepted(alarm));
        let new = alarms.filter(|alarm| told.insert(alarm.text()));
        found.extend(new.map(|alarm| (record.file.clone(), alarm)));
    }
    found
}

/// A session, and its client's record.
struct Kept {
    journal: PathBuf,
    session: String,
    record: ReadRecord,
}

/// The sessions that clients recorded beside these, and no message of which reached the guard, as a module in the client can
/// see to. What is older than the first that the guard saw is left out.
fn unheard(runtime: &Runtime, project: &Project, kept: &[Kept]) -> Vec<Kept> {
    let named_after = |one: &&Kept| one.record.file.file_stem().is_some_and(|stem| *stem == *one.session);
    let (Some(like), Some(since)) = (kept.iter().find(named_after), kept.iter().map(|one| one.record.since).min())
    else {
        return Vec::new();
    };
    let folders: BTreeSet<&Path> = kept.iter().filter_map(|one| one.record.file.parent()).collect();
    let files = folders.into_iter().flat_map(std::fs::read_dir).flatten().flatten().map(|entry| entry.path());
    let files = files.filter(|file| file.is_file() && file.extension() == like.record.file.extension());
    let new = files.filter_map(|file| {
        let session = file.file_stem()?.to_str()?.to_owned();
        let journal = project.session_journal(&session);
        let is_known = journal.exists() || !matches!(kept_root(&runtime.locations, &session), Ok(None));
        let place = RecordPlace { file, folder: None };
        let record = ReadRecord::begin(&like.record.client, place, since);
        (!is_known).then_some(Kept { journal, session, record })
    });
    new.take(MAX_UNHEARD).collect()
}
