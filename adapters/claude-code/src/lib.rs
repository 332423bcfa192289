//! Claude Code: its hook messages as events, decisions as its hook replies.
//!
//! Recorded with the versions that [`Adapter::versions`] names; what the client does with each reply was
//! tried with the real client, and `encode.rs` says so where a choice hangs on it.

mod decode;
mod encode;
mod escapes;
mod hook;
mod install;
mod limits;
mod notice;
mod outcome;
mod pairing;
mod tools;
mod wire;

use phasegate_adapter::{
    Ability, Adapter, Address, Capabilities, Change, Decoded, ExamineRequest, Examined, Frame, InstallRequest, Limit,
    Memory, Places, Problem, Registered, Reply,
};
use phasegate_core::Outcome;

pub use install::{Form, hook_entry};

/// The Claude Code adapter.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClaudeCode;

inventory::submit!(Registered(&ClaudeCode));

impl Adapter for ClaudeCode {
    fn id(&self) -> &'static str {
        "claude-code"
    }

    fn name(&self) -> &'static str {
        "Claude Code"
    }

    fn versions(&self) -> &'static [&'static str] {
        &["2.1.329", "2.1.197"]
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            deny: Ability::Yes,
            ask: Ability::Partly("without a terminal the client refuses the call and shows the agent the question"),
            rewrite: Ability::Yes,
            inject_context: Ability::Yes,
            hide_tools: Ability::No(
                "a hook cannot shorten the agent's list of tools; a forbidden call is denied when it comes",
            ),
            see_builtin_tools: Ability::Yes,
            see_subagents: Ability::Partly(
                "the calls are seen with the subagent's id; which agent started it is not said",
            ),
            fail_closed: Ability::Partly(
                "a guard that crashes or is gone denies on every version; one that hangs past the hook's timeout lets the call \
                 through on versions that do not know `onFailure`",
            ),
        }
    }

    fn address(&self, frame: &Frame) -> Result<Address, Problem> {
        let head = wire::Head::read(frame)?;
        Ok(Address { session: head.session_id, cwd: head.cwd.map(Into::into), event: head.hook_event_name })
    }

    fn decode(&self, frame: &Frame, memory: &Memory) -> Result<Decoded, Problem> {
        decode::decode(frame, memory)
    }

    fn encode(&self, frame: &Frame, steps: &[Outcome]) -> Reply {
        encode::encode(frame, steps)
    }

    fn refuse(&self, frame: &Frame, problem: &Problem) -> Reply {
        encode::refuse(frame, problem)
    }

    fn warn(&self, frame: &Frame, problem: &Problem) -> Reply {
        encode::warn(frame, problem)
    }

    fn places(&self) -> Places {
        Places {
            skill_folders: vec![".claude/skills", "~/.claude/skills"],
            settings: vec![
                ".claude/settings.json",
                ".claude/settings.local.json",
                "~/.claude/settings.json",
                "/etc/claude-code/managed-settings.json",
            ],
            // Lines in a command file that begin with an exclamation mark run without a hook; snapshots are read by each shell
            // before its line; tasks become prompts.
            unseen: vec![
                ".claude/commands/",
                "~/.claude/commands/",
                "~/.claude/shell-snapshots/",
                "~/.claude/session-env/",
                ".claude/scheduled_tasks.json",
            ],
            project_variables: vec!["CLAUDE_PROJECT_DIR"],
            session_variables: vec!["CLAUDE_CODE_SESSION_ID"],
            installed: vec![install::COMMAND, "~/.claude/commands/phasegate.md"],
            signs: vec![".claude", "~/.claude"],
        }
    }

    fn install(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        install::install(request)
    }

    fn uninstall(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        install::uninstall(request)
    }

    fn unguarded(&self, request: &InstallRequest) -> Option<String> {
        install::unguarded(request)
    }
    fn examine(&self, request: &ExamineRequest) -> Examined {
        install::examine(request, self.versions())
    }

    fn limits(&self) -> &'static [Limit] {
        &limits::LIMITS
    }

    fn version_command(&self) -> Option<[&'static str; 2]> {
        Some(["claude", "--version"])
    }
}
