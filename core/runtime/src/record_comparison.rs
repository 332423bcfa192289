//! What the clients' own records of sessions say against what the guard decided.

use std::collections::BTreeSet;
use std::path::PathBuf;

use phasegate_adapter::FailureMode;
use phasegate_core::Code;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::read_last;

use crate::alarm::Alarm;
use crate::call_comparison::Comparison;
use crate::client_records::WHOLE_BYTES;
use crate::project::Project;
use crate::runtime::Runtime;
use crate::snapshot::{ProjectSnapshot, SessionSnapshot};
use crate::verify::Finding;

/// Holds the whole of each client's record against the journal of its session. What a person has accepted is left out, and
/// so is a record that is gone: clients remove old ones. A journal that cannot be read is told by [`crate::verify`].
#[must_use]
pub fn compare_records(runtime: &Runtime, project: &Project) -> Vec<Finding> {
    let accepted = read_last::<ProjectSnapshot>(&FileStore, &project.journal()).ok().flatten();
    let accepted = accepted.map(|last| last.state.alarms).unwrap_or_default();
    let is_accepted = |alarm: &Alarm| {
        let same = |one: &&Alarm| one.session == alarm.session && one.id == alarm.id && one.what == alarm.what;
        accepted.iter().find(same).is_some_and(|one| one.seen)
    };
    let strict = runtime.failure_mode(project) == FailureMode::Closed;
    let journals = project.session_journals();
    let mut found = Vec::new();
    // A session that goes on under another name has what the one before it recorded.
    let mut told = BTreeSet::new();
    for path in &journals {
        let Ok(Some(last)) = read_last::<SessionSnapshot>(&FileStore, path) else { continue };
        let SessionSnapshot { session, record: Some(record), .. } = last.state else { continue };
        let adapter = runtime.platforms.adapter(&record.client);
        let Some(client) = adapter.and_then(|adapter| adapter.client_record()) else { continue };
        let looked = record.unread().look(client, WHOLE_BYTES);
        let others: Vec<PathBuf> = journals.iter().filter(|other| *other != path).cloned().collect();
        let (store, own, judged) = (&FileStore, path.clone(), &[]);
        let comparison = Comparison { store, session: &session.id, own, others, judged, strict };
        let alarms = comparison.compare(&looked.calls).into_iter().filter(|alarm| !is_accepted(alarm));
        let new = alarms.filter(|alarm| told.insert(alarm.text()));
        found.extend(new.map(|alarm| Finding {
            code: Code::RanUnguarded,
            path: record.file.clone(),
            record: None,
            message: alarm.text(),
        }));
    }
    found
}
