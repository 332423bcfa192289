//! The drives of this build, each under the feature of its adapter.

#[cfg(feature = "claude-code")]
mod claude_code;
#[cfg(feature = "claude-code")]
mod codex;
#[cfg(feature = "claude-code")]
mod copilot_cli;
#[cfg(feature = "opencode")]
mod opencode;
#[cfg(feature = "pi")]
mod pi;

use crate::drive::Drive;

/// The drives of this build.
pub static DRIVES: &[&dyn Drive] = &[
    #[cfg(feature = "claude-code")]
    &claude_code::ClaudeCode,
    #[cfg(feature = "claude-code")]
    &codex::Codex,
    #[cfg(feature = "claude-code")]
    &copilot_cli::CopilotCli,
    #[cfg(feature = "opencode")]
    &opencode::OpenCode,
    #[cfg(feature = "pi")]
    &pi::Pi,
];
