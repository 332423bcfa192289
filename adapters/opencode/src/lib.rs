//! OpenCode: what its plugin hooks say as events, decisions as what the plugin must do.
//!
//! The client asks nobody but plugins, which run inside its process. Ours (`shim/phasegate.ts`) holds no policy: it hands
//! each hook's arguments to a long-running `phasegate serve` and does what the reply says. A session that a call began is
//! a subagent's: it is judged by the runs of the session above all.

mod decode;
mod encode;
mod install;
mod limits;
mod memory;
mod outcome;
mod patch;
mod tools;
mod wire;

use phasegate_adapter::{
    Ability, Adapter, Address, Capabilities, Change, Decoded, ExamineRequest, Examined, Frame, InstallRequest, Limit,
    Memory, Places, Problem, Registered, Reply,
};
use phasegate_core::Outcome;

pub use install::plugin;

/// The OpenCode adapter.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenCode;

inventory::submit!(Registered(&OpenCode));

impl Adapter for OpenCode {
    fn id(&self) -> &'static str {
        "opencode"
    }

    fn name(&self) -> &'static str {
        "OpenCode"
    }

    fn versions(&self) -> &'static [&'static str] {
        &["1.18.33"]
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            deny: Ability::Yes,
            ask: Ability::No(
                "a plugin cannot have the user asked; the call is denied, with the question as the reason",
            ),
            rewrite: Ability::Yes,
            inject_context: Ability::Yes,
            hide_tools: Ability::No(
                "the list of tools holds for a whole turn, in which phases change; a forbidden call is denied when it comes",
            ),
            see_builtin_tools: Ability::Yes,
            see_subagents: Ability::Yes,
            fail_closed: Ability::Partly(
                "a plugin whose guard is gone, hangs or answers nonsense denies; a plugin that the client could not load is silently absent",
            ),
        }
    }

    fn address(&self, frame: &Frame) -> Result<Address, Problem> {
        let head = wire::Head::read(frame)?;
        Ok(Address {
            session: head.session.root().to_owned(),
            event: head.word().to_owned(),
            cwd: head.directory.map(Into::into),
        })
    }

    fn decode(&self, frame: &Frame, memory: &Memory) -> Result<Decoded, Problem> {
        decode::decode(frame, memory)
    }

    fn encode(&self, frame: &Frame, steps: &[Outcome]) -> Reply {
        encode::encode(frame, steps)
    }

    fn refuse(&self, _frame: &Frame, problem: &Problem) -> Reply {
        encode::refuse(problem)
    }

    fn warn(&self, _frame: &Frame, problem: &Problem) -> Reply {
        encode::warn(problem)
    }

    fn places(&self) -> Places {
        install::places()
    }

    fn install(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        install::install(request)
    }

    fn uninstall(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        Ok(install::uninstall(request))
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

    fn bridged(&self) -> bool {
        true
    }

    fn version_command(&self) -> Option<[&'static str; 2]> {
        Some(["opencode", "--version"])
    }
}
