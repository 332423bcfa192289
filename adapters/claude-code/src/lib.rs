//! Hosts that speak Claude Code's hook format: their hook messages as events, verdicts as their hook replies.
//!
//! Claude Code is the first of the family. Other hosts that read its settings are rows of `hosts/others.rs`. Each host is a table in `hosts/`, named once in `hosts.rs`; all of them share
//! the rest. The tables name the versions that were recorded; what the client does with each reply was tried with the real
//! client, and `encode.rs` says so where a choice depends on it.

mod hook;
mod messages;
mod shell;
mod slash_command;
mod hosts;
mod settings;
mod records;
mod hooks;

pub use hooks::Hooks;
pub use hosts::{CLAUDE_CODE, CODEX};
pub use settings::entry::Form;
