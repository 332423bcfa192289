//! Claude Code: its hook messages as events, decisions as its hook replies.
//!
//! Recorded with the versions that [`Diagnostics::versions`] names; what the client does with each reply was
//! tried with the real client, and `encode.rs` says so where a choice hangs on it.

mod decode;
mod encode;
mod escapes;
mod hook;
mod install;
mod notice;
mod outcome;
mod pairing;
mod table;
mod tools;
mod wire;

use phasegate_adapter::{
    Adapter, Capabilities, Change, Codec, Decoded, Diagnostics, ExamineRequest, Examined, Frame, InstallRequest,
    Installer, Limit, Message, Places, Problem, Received, Registered, Reply, SessionView, Verdict,
};

use crate::table::TABLE;

pub use install::{Form, hook_entry};

/// The Claude Code adapter.
#[derive(Clone, Copy, Debug, Default)]
pub struct ClaudeCode;

inventory::submit!(Registered(&ClaudeCode));

impl Adapter for ClaudeCode {
    fn id(&self) -> &str {
        TABLE.id
    }

    fn name(&self) -> &str {
        TABLE.name
    }

    fn capabilities(&self) -> Capabilities {
        TABLE.capabilities.clone()
    }

    fn codec(&self) -> &dyn Codec {
        self
    }

    fn installer(&self) -> &dyn Installer {
        self
    }

    fn diagnostics(&self) -> &dyn Diagnostics {
        self
    }
}

impl Codec for ClaudeCode {
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

    fn warn(&self, received: Received<'_>, problem: &Problem) -> Reply {
        encode::warn(received, problem)
    }
}

impl Installer for ClaudeCode {
    fn places(&self) -> Places {
        TABLE.places()
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
}

impl Diagnostics for ClaudeCode {
    fn versions(&self) -> Vec<String> {
        TABLE.versions()
    }

    fn version_command(&self) -> Option<Vec<String>> {
        TABLE.version_command()
    }

    fn examine(&self, request: &ExamineRequest) -> Examined {
        install::examine(request, TABLE.versions)
    }

    fn limits(&self) -> Vec<Limit> {
        TABLE.limits()
    }
}
