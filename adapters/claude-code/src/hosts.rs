//! The hosts of the family. A new one is its table in `hosts/`, and its two lines here. A host that only starts
//! the hooks of another one is a row of `hosts/others.rs`.

pub(crate) mod host;
pub(crate) mod dialect;
pub(crate) mod recognition;
pub(crate) mod other;
pub(crate) mod vs_code;
pub(crate) mod copilot_cli;
pub(crate) mod others;
pub(crate) mod claude_code;
pub(crate) mod codex;

use phasegate_adapter::Registered;

use crate::hooks::Hooks;

/// The adapter of Claude Code.
pub static CLAUDE_CODE: Hooks = Hooks { host: &claude_code::HOST };

/// The adapter of Codex CLI.
pub static CODEX: Hooks = Hooks { host: &codex::HOST };

inventory::submit!(Registered(&CLAUDE_CODE));
inventory::submit!(Registered(&CODEX));
