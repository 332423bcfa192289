//! Pi: its extension events as events, decisions as replies that its extension enforces.
//!
//! Pi asks its extensions in its own process. Ours, `shim/phasegate.ts`, passes every event on to `phasegate serve` and does
//! what the reply says; what it means is decided here. Recorded with the versions that [`Adapter::versions`] names; what the
//! client does with each answer was tried with the real client.

mod decode;
mod encode;
mod hook;
mod install;
mod limits;
mod outcome;
mod pairing;
mod tools;
mod wire;

use phasegate_adapter::{
    Ability, Adapter, Address, Capabilities, Change, Decoded, ExamineRequest, Examined, Frame, InstallRequest, Limit,
    Memory, Places, Problem, Registered, Reply,
};
use phasegate_core::Outcome;

pub use install::extension;

/// The Pi adapter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pi;

inventory::submit!(Registered(&Pi));

impl Adapter for Pi {
    fn id(&self) -> &'static str {
        "pi"
    }

    fn name(&self) -> &'static str {
        "Pi"
    }

    fn versions(&self) -> &'static [&'static str] {
        &["0.87.1", "0.73.1"]
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities {
            deny: Ability::Yes,
            ask: Ability::Partly("where nobody can be asked (print and JSON mode), it is a denial that says so"),
            rewrite: Ability::Yes,
            inject_context: Ability::Yes,
            hide_tools: Ability::Partly(
                "where the client is started with `PHASEGATE_HIDE_FORBIDDEN=1`, and not in 0.73.1, which takes a change up \
                 with the next prompt only; else a forbidden call is denied when it comes",
            ),
            see_builtin_tools: Ability::Yes,
            see_subagents: Ability::Partly(
                "a subagent is a client of its own: it is guarded where the extension is the user's, as a session that joins \
                 its parent's runs, and what it does proves nothing for its parent",
            ),
            fail_closed: Ability::Partly(
                "an extension that cannot be loaded ends the client, and one that fails denies; a project's extension is not \
                 loaded until the project is trusted, and nothing says so",
            ),
        }
    }

    fn address(&self, frame: &Frame) -> Result<Address, Problem> {
        let head = wire::Head::read(frame)?;
        Ok(Address { session: head.session, cwd: head.cwd.map(Into::into), event: head.event.name })
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

    fn warn(&self, _frame: &Frame, problem: &Problem) -> Reply {
        encode::warn(problem)
    }

    fn places(&self) -> Places {
        Places {
            skill_folders: vec![".pi/skills", ".agents/skills", "~/.pi/agent/skills", "~/.agents/skills"],
            settings: vec![
                ".pi/settings.json",
                install::PROJECT,
                "~/.pi/agent/settings.json",
                "~/.pi/agent/extensions/phasegate.ts",
            ],
            // Extensions run in the client's own process; packages hold extensions; keys and models may be lines that the
            // client runs; trust decides which extensions are loaded.
            unseen: vec![
                ".pi/extensions/",
                ".pi/npm/",
                ".pi/git/",
                "~/.pi/agent/extensions/",
                "~/.pi/agent/npm/",
                "~/.pi/agent/git/",
                "~/.pi/agent/auth.json",
                "~/.pi/agent/models.json",
                "~/.pi/agent/trust.json",
            ],
            signs: vec![".pi", "~/.pi"],
            project_variables: Vec::new(),
            session_variables: vec!["PHASEGATE_SESSION", "PI_SESSION_ID"],
            installed: Vec::new(),
        }
    }

    fn install(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        install::install(request)
    }

    fn uninstall(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        Ok(install::uninstall(request))
    }

    fn advice(&self, request: &InstallRequest) -> Vec<String> {
        install::advice(request)
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
        Some(["pi", "--version"])
    }
}
