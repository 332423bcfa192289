//! Hosts that speak Claude Code's hook format: their hook messages as events, verdicts as their hook replies.
//!
//! Claude Code is the first of the family. Other hosts that read its settings are rows of `hosts/others.rs`. Each host is a table in `hosts/`, named once in `hosts.rs`; all of them share
//! the rest. The tables name the versions that were recorded; what the client does with each reply was tried with the real
//! client, and `encode.rs` says so where a choice depends on it.

mod dialect;
mod other;
mod host;
mod recognition;
mod escapes;
mod hook;
mod wire;
mod notice;
mod outcome;
mod tools;
mod read_skill;
mod transcript;
mod session_lines;
mod rollout;
mod rollout_lines;
mod decode;
mod encode;
mod settings;
mod entry;
mod odd_hooks;
mod trust;
mod slash_command;
mod shell;
mod shell_setting;
mod install;
mod hook_installation;
mod examine;
mod permissions;
mod mods;
mod managed;
mod hooks;
mod hosts;

pub use entry::Form;
pub use hooks::Hooks;
pub use hosts::{CLAUDE_CODE, CODEX};
