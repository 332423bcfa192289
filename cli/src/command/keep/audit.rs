//! `phasegate audit`: the journals of a project, to be read, exported and believed. Nothing is written.

pub(in crate::command) mod session;
pub(in crate::command) mod event;
mod export;
mod show;
mod verify;

parts! {
    /// Show what happened in a session, newest last
    Show(show);
    /// Print the starts, transitions, violations and ends of runs, a JSON object a line
    Export(export);
    /// Verify every journal of the project: records, hash chain, checkpoints
    Verify(verify);
}
