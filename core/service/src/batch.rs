//! What waits for a decision, and who decides it batch by batch.

use std::path::PathBuf;
use std::sync::Arc;

use phasegate_core::Event;
use phasegate_runtime::deadline::Deadline;
use phasegate_runtime::driver::frames::Framed;

use crate::oneshot::Sender;

/// An event or a frame that waits for its answer.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) session: String,
    pub(crate) input: Input,
    pub(crate) deadline: Deadline,
    pub(crate) answer: Sender,
}

/// What is to be decided.
#[derive(Debug)]
pub(crate) enum Input {
    Event(Box<Event>),
    Frame(Arc<Framed>),
}

/// A session's journal that is to be made durable, up to a record.
#[derive(Debug)]
pub(crate) struct PendingSync {
    pub(crate) session: String,
    pub(crate) path: PathBuf,
    pub(crate) seq: u64,
    pub(crate) head: String,
}

/// Decides requests batch by batch.
pub(crate) trait BatchProcessor: Send + 'static {
    /// Decides a request. Its answer is sent when the batch ends. Without `wait`, the request comes back where a journal is
    /// locked by another process.
    fn take(&mut self, request: Request, wait: bool) -> Result<(), Box<Request>>;
    /// Whether an answer waits for a record that must be durable first.
    fn must_sync(&self) -> bool;
    /// Ends the batch: writes and syncs its records, gives the locks back and sends the answers.
    fn finish(&mut self);
    /// Drops everything that is loaded.
    fn forget(&mut self);
    /// Journals that are to be made durable in the background. Each is returned once.
    fn to_sync(&mut self) -> Vec<PendingSync>;
    /// A journal was made durable.
    fn synced(&mut self, done: PendingSync);
}
