//! What the guard of this process wrote to the project's journal.

use phasegate_store::disk::mark::Mark;

/// What this process itself wrote to the project's journal: that names no host.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OwnWrites {
    /// How often other processes were found to have written to it.
    pub(crate) foreign: u64,
    /// How it was left.
    pub(crate) mark: Option<Mark>,
}
