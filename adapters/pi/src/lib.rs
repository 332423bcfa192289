//! Pi: its extension events as events, decisions as replies that its extension enforces.
//!
//! Pi asks its extensions in its own process. Ours, `shim/phasegate.ts`, passes every event on to `phasegate serve` and does
//! what the reply says; what it means is decided here. Recorded with the versions that [`Diagnostics::versions`] names; what the
//! client does with each answer was tried with the real client.

mod table;
mod hook;
mod wire;
mod tools;
mod outcome;
mod decode;
mod session_lines;
mod encode;
mod install;
mod examine;

use phasegate_adapter::{
    Adapter, Capabilities, Change, ClientProgram, ClientShell, Codec, Decoded, Diagnostics, ExamineRequest, Examined,
    Frame, InstallRequest, Installer, Limit, Message, Places, Problem, Received, Registered, Reply, SessionLines,
    SessionView, Verdict,
};

use crate::table::{SHELL, TABLE};

pub use install::extension;

/// The Pi adapter.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pi;

inventory::submit!(Registered(&Pi));

impl Adapter for Pi {
    fn id(&self) -> &str {
        TABLE.id
    }

    fn name(&self) -> &str {
        TABLE.name
    }

    fn capabilities(&self) -> Capabilities {
        TABLE.capabilities.clone()
    }

    fn bridged(&self) -> bool {
        true
    }

    fn codec(&self) -> &dyn Codec {
        self
    }

    fn session_lines(&self) -> Option<&dyn SessionLines> {
        Some(&session_lines::Sessions)
    }

    fn shell(&self) -> Option<&dyn ClientShell> {
        Some(&SHELL)
    }

    fn installer(&self) -> &dyn Installer {
        self
    }

    fn diagnostics(&self) -> &dyn Diagnostics {
        self
    }
}

impl Codec for Pi {
    fn open(&self, frame: &Frame) -> Result<Message, Problem> {
        wire::open(frame)
    }

    fn decode(&self, message: &Message, session: &SessionView<'_>) -> Result<Decoded, Problem> {
        decode::decode(message, session)
    }

    fn reply(&self, message: &Message, verdict: &Verdict) -> Reply {
        encode::reply(message, verdict)
    }

    fn refuse(&self, received: Received<'_>, problem: &Problem) -> Reply {
        encode::refuse(received, problem)
    }

    fn warn(&self, _received: Received<'_>, problem: &Problem) -> Reply {
        encode::warn(problem)
    }
}

impl Installer for Pi {
    fn skill_command(&self) -> &'static str {
        decode::SKILL_COMMAND
    }

    fn places(&self) -> Places {
        TABLE.places()
    }

    fn programs(&self) -> &'static [ClientProgram] {
        TABLE.programs
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

    fn writes_mode(&self) -> bool {
        true
    }

    fn unguarded(&self, request: &InstallRequest) -> Option<String> {
        install::unguarded(request)
    }
}

impl Diagnostics for Pi {
    fn versions(&self) -> Vec<String> {
        TABLE.versions()
    }

    fn version_command(&self) -> Option<Vec<String>> {
        TABLE.version_command()
    }

    fn examine(&self, request: &ExamineRequest) -> Examined {
        examine::examine(request)
    }

    fn limits(&self) -> Vec<Limit> {
        TABLE.limits()
    }
}
