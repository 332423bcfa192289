//! OpenCode: what its plugin hooks say as events, decisions as what the plugin must do.
//!
//! The client only asks plugins, which run inside its process. Our plugin (`shim/phasegate.ts`) holds no policy: it
//! sends each hook's arguments to a long-running `phasegate serve` and applies the reply. A session that a call began
//! belongs to a subagent: the runs of the topmost session judge it.

mod table;
mod wire;
mod tools;
mod outcome;
mod memory;
mod install;
mod examine;
mod decoding;
mod call;
mod bus;
mod decode;
mod encode;

use std::path::Path;

use phasegate_adapter::{
    Adapter, Capabilities, Change, ClientProgram, ClientShell, Codec, Decoded, Diagnostics, ExamineRequest, Examined,
    Frame, InstallRequest, Installer, Limit, Message, Places, Problem, Received, Registered, Reply, SessionTable,
    SessionView, Verdict,
};

use crate::table::{SESSIONS, SHELL, TABLE};

pub use install::plugin;

/// The OpenCode adapter.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpenCode;

inventory::submit!(Registered(&OpenCode));

impl Adapter for OpenCode {
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

impl Codec for OpenCode {
    fn open(&self, frame: &Frame) -> Result<Message, Problem> {
        wire::open(frame)
    }

    fn decode(&self, message: &Message, session: &SessionView<'_>) -> Result<Decoded, Problem> {
        decode::decode(message, session)
    }

    fn reply(&self, message: &Message, verdict: &Verdict) -> Reply {
        encode::reply(message, verdict)
    }

    fn refuse(&self, _received: Received<'_>, problem: &Problem) -> Reply {
        encode::refuse(problem)
    }

    fn warn(&self, _received: Received<'_>, problem: &Problem) -> Reply {
        encode::warn(problem)
    }
}

impl Installer for OpenCode {
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

    /// The client looks for its settings in every folder above the one that it is started in.
    fn project_folder<'a>(&self, root: &'a Path, _start: &'a Path) -> &'a Path {
        root
    }

    fn writes_mode(&self) -> bool {
        true
    }

    fn unguarded(&self, request: &InstallRequest) -> Option<String> {
        install::unguarded(request)
    }
}

impl Diagnostics for OpenCode {
    fn versions(&self) -> Vec<String> {
        TABLE.versions()
    }

    fn version_command(&self) -> Option<Vec<String>> {
        TABLE.version_command()
    }

    fn session_table(&self) -> Option<SessionTable> {
        Some(SESSIONS)
    }

    fn examine(&self, request: &ExamineRequest) -> Examined {
        examine::examine(request)
    }

    fn limits(&self) -> Vec<Limit> {
        TABLE.limits()
    }
}
