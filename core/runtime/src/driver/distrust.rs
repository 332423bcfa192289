//! The trust that a session has lost: what goes on from it has lost it too (rules 3.3).

use std::collections::BTreeSet;

use phasegate_core::{Event, EventKind};
use phasegate_shell::Readers;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::read_last;

use super::Driver;
use crate::clients::alarm::Alarm;
use crate::sessions::snapshot::{SessionChange, SessionSnapshot};

impl Driver<'_> {
    /// Takes over what the session before had lost, where an event begins a session that goes on from one, or has it join the
    /// runs of one: the files that its calls changed are as they were left, and what it has as evidence is none.
    pub(super) fn keep_distrust(&mut self, event: &Event) {
        let (EventKind::SessionStart { parent: Some(parent), .. } | EventKind::Join { from: parent, .. }) = &event.kind
        else {
            return;
        };
        let journal = self.project.session_journal(parent);
        let (lost, before): (BTreeSet<Readers>, _) = match read_last::<SessionSnapshot>(&FileStore, &journal) {
            Ok(last) => last.map(|last| (last.state.distrusted, last.state.session.parent)).unwrap_or_default(),
            // What it changed nobody knows.
            Err(_) => ([Readers::Commands].into(), None),
        };
        let standing = self.loaded.shared.snapshot.alarms.iter().filter(|alarm| alarm.stands());
        let own = |alarm: &&Alarm| alarm.session == *parent || before.as_ref() == Some(&alarm.session);
        let session = &self.session;
        self.keep(standing.filter(own).map(|alarm| Alarm { session: session.clone(), ..alarm.clone() }).collect());
        let own = &self.loaded.own.snapshot.distrusted;
        if !lost.is_subset(own) {
            let all = own.union(&lost).copied().collect();
            self.loaded.own.change(SessionChange::Distrusted(all));
        }
    }
}
