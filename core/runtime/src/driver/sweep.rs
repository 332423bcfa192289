//! What a session's start removes: old journals of the project, a few at a time (rules 8.5).

use std::time::Duration;

use phasegate_adapter::Problem;
use phasegate_core::{Durability, State};
use phasegate_store::disk::fingerprint;
use phasegate_store::journal::Journal;
use phasegate_store::parts::parts;
use serde_json::json;

use super::Driver;
use crate::deadline::Deadline;
use crate::effects::files_of;
use crate::operate::retention::set_aside;
use crate::project::session_root_file;
use crate::sessions::is_strict;
use crate::sessions::snapshot::{ProjectChange, SessionSnapshot, Sweep};

/// How many old journals a start looks at.
const AT_ONCE: usize = 8;
/// How long after all were looked at the next round begins.
const EVERY: Duration = Duration::from_secs(24 * 60 * 60);

impl Driver<'_> {
    /// Removes old journals of the project, as `phasegate gc` does: a few, and none on most starts.
    pub(super) fn sweep(&mut self) -> Result<(), Problem> {
        let (now, begun) = ((self.runtime.now)(), self.loaded.shared.snapshot.sweep.clone());
        let since = u64::try_from(now.saturating_sub(begun.done)).unwrap_or_default();
        if self.loaded.project_journal.seq() == 0 || (begun.after.is_empty() && Duration::from_millis(since) < EVERY) {
            return Ok(());
        }
        let mut old = self.old_journals(&begun.after);
        let is_last = old.len() <= AT_ONCE;
        old.truncate(AT_ONCE);
        let after = old.last().filter(|_| !is_last).cloned().unwrap_or_default();
        // Their locks are held until they are gone.
        let gone: Vec<(String, Journal)> = old.into_iter().filter_map(|key| self.unused(key)).collect();
        self.loaded.shared.change(ProjectChange::Sweep(Sweep { done: if is_last { now } else { begun.done }, after }));
        if gone.is_empty() {
            return Ok(());
        }
        let keys: Vec<String> = gone.iter().map(|(key, _)| key.clone()).collect();
        self.loaded.shared.change(ProjectChange::Removed(keys.clone()));
        let event = json!({"event": "removed", "sessions": keys});
        self.write_project(now, event, Vec::new(), Durability::Synced)?;
        for key in keys {
            let path = self.project.session_file(&key);
            self.store.remove(&session_root_file(&self.runtime.locations, &key))?;
            let effects = files_of(&self.project, &key);
            let files = parts(self.store, &path).into_iter().chain([path.clone()]).chain(set_aside(&path));
            for file in files.chain(effects) {
                self.store.remove(&file)?;
            }
        }
        Ok(())
    }

    /// The sessions that follow this one by their file's name and were last written long ago, whatever times programs set.
    fn old_journals(&self, after: &str) -> Vec<String> {
        let old = self.project.session_journals().into_iter().filter_map(|path| {
            let key = path.file_stem()?.to_str()?.to_string();
            let data = path.symlink_metadata().ok().filter(|_| key.as_str() > after)?;
            let age = fingerprint::changed(&data).elapsed().unwrap_or_default();
            (age >= self.runtime.keep_sessions).then_some(key)
        });
        old.take(AT_ONCE + 1).collect()
    }

    /// The journal of a session, locked, if nothing keeps it from being removed.
    fn unused(&self, key: String) -> Option<(String, Journal)> {
        let path = self.project.session_file(&key);
        if path == self.project.session_journal(&self.session) {
            return None;
        }
        let opened = Journal::open::<SessionSnapshot>(self.store, &path, &Deadline::new(Duration::ZERO));
        let (journal, state) = opened.ok()?;
        let is_live = is_strict(&State { session: state.session, ..State::default() });
        (!is_live).then_some((key, journal))
    }
}
