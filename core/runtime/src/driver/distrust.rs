//! The trust that a session has lost: what goes on from it has lost it too (rules 3.3).

use std::collections::BTreeSet;

use phasegate_core::{Event, EventKind};
use phasegate_shell::Readers;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::read_last;

use super::Driver;
use crate::snapshot::{SessionChange, SessionSnapshot};

impl Driver<'_> {
    /// Takes over what the session before had lost, where an event begins a session that goes on from one, or has it join the runs of one: the files that
    /// its calls changed are as they were left.
    pub(super) fn keep_distrust(&mut self, event: &Event) {
        let (EventKind::SessionStart { parent: Some(parent), .. } | EventKind::Join { from: parent, .. }) = &event.kind
        else {
            return;
        };
        let journal = self.project.session_journal(parent);
        let lost: BTreeSet<Readers> = match read_last::<SessionSnapshot>(&FileStore, &journal) {
            Ok(last) => last.map(|last| last.state.distrusted).unwrap_or_default(),
            // What it changed nobody knows.
            Err(_) => [Readers::Commands].into(),
        };
        let own = &self.loaded.own.snapshot.distrusted;
        if !lost.is_subset(own) {
            let all = own.union(&lost).copied().collect();
            self.loaded.own.change(SessionChange::Distrusted(all));
        }
    }
}
