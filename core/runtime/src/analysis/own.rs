//! Calls that concern the guard itself: its files, its commands, and clients without it.

pub(in crate::analysis) mod guard_files;
pub(in crate::analysis) mod client_names;
pub(in crate::analysis) mod client_files;
pub(in crate::analysis) mod clients;
pub(in crate::analysis) mod guard_commands;
