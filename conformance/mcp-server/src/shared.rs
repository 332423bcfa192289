//! What all sessions of one server process share.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rmcp::model::Tool;
use tokio::sync::broadcast;

use crate::document::Document;

/// Something that others may want to hear of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Change {
    /// The document has another text.
    Document,
    /// The list of tools is another one.
    Tools,
}

/// The document, the tool that comes and goes, and who hears of changes.
pub(crate) struct Shared {
    document: Mutex<Document>,
    extra: Mutex<Option<Tool>>,
    changes: broadcast::Sender<Change>,
}

impl Default for Shared {
    fn default() -> Self {
        Self { document: Mutex::default(), extra: Mutex::default(), changes: broadcast::channel(64).0 }
    }
}

impl Shared {
    /// The document, for as long as the result is kept.
    pub(crate) fn document(&self) -> MutexGuard<'_, Document> {
        self.document.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The tool that comes and goes, if it is listed.
    pub(crate) fn extra(&self) -> Option<Tool> {
        self.extra.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts the tool on the list, or takes it off.
    pub(crate) fn set_extra(&self, tool: Option<Tool>) {
        *self.extra.lock().unwrap_or_else(PoisonError::into_inner) = tool;
    }

    /// Changes from now on.
    pub(crate) fn changes(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// Notifies the listeners.
    pub(crate) fn changed(&self, change: Change) {
        // It is no failure if there is no listener.
        let _ = self.changes.send(change);
    }
}
