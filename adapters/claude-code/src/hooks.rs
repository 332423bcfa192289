//! The adapter of every host of the family.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use phasegate_adapter::{
    Adapter, Capabilities, Change, ClientProgram, ClientRecord, ClientShell, Codec, Decoded, Diagnostics,
    ExamineRequest, Examined, Frame, InstallRequest, Installer, Limit, Message, ModuleTable, Permission,
    PermissionEffect, Places, Problem, Received, RecordPlace, Recorded, Reply, SessionLines, SessionView, Verdict,
};
use phasegate_core::policy::Mode;
use serde_json::Value;

use crate::entry::{Form, entry};
use crate::host::Host;
use crate::shell::Shell;
use crate::{decode, encode, examine, hook_installation, install, managed, mods, permissions, transcript, wire};

/// The adapter of one host.
#[derive(Clone, Copy, Debug)]
pub struct Hooks {
    pub(crate) host: &'static Host,
}

impl Hooks {
    /// The hook that starts `command` (a path, which may begin with `$HOME/`) for an event of the host. Without an answer
    /// of it, `mode` decides.
    #[must_use]
    pub fn entry(&self, event: &str, command: &str, mode: Mode, form: Form) -> Value {
        entry(self.host, event, command, mode, form)
    }
}

impl Adapter for Hooks {
    fn id(&self) -> &str {
        self.host.table.id
    }

    fn name(&self) -> &str {
        self.host.table.name
    }

    fn capabilities(&self) -> Capabilities {
        self.host.table.capabilities.clone()
    }

    fn codec(&self) -> &dyn Codec {
        self
    }

    fn client_record(&self) -> Option<&dyn ClientRecord> {
        Some(self)
    }

    fn session_lines(&self) -> Option<&dyn SessionLines> {
        self.host.sessions
    }

    fn shell(&self) -> Option<&dyn ClientShell> {
        Some(&Shell)
    }

    fn installer(&self) -> &dyn Installer {
        self
    }

    fn diagnostics(&self) -> &dyn Diagnostics {
        self
    }
}

impl Codec for Hooks {
    fn open(&self, frame: &Frame) -> Result<Message, Problem> {
        wire::open(self.host, frame)
    }

    fn decode(&self, message: &Message, session: &SessionView<'_>) -> Result<Decoded, Problem> {
        decode::decode(self.host, message, session)
    }

    fn reply(&self, message: &Message, verdict: &Verdict) -> Reply {
        encode::reply(self.host, message, verdict)
    }

    fn refuse(&self, received: Received<'_>, problem: &Problem) -> Reply {
        encode::refuse(self.host, received, problem)
    }

    fn warn(&self, received: Received<'_>, problem: &Problem) -> Reply {
        encode::warn(received, problem)
    }
}

impl ClientRecord for Hooks {
    fn place(&self, message: &Message) -> Option<RecordPlace> {
        transcript::place(self.host, message)
    }

    fn read(&self, line: &str) -> Vec<Recorded> {
        transcript::read(self.host, line)
    }

    fn told(&self, message: &Message) -> Vec<Recorded> {
        transcript::told(self.host, message)
    }
}

impl Installer for Hooks {
    fn places(&self) -> Places {
        self.host.table.places()
    }

    fn programs(&self) -> &'static [ClientProgram] {
        self.host.table.programs
    }

    fn install(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        install::install(self.host, request)
    }

    fn install_local(&self, request: &InstallRequest) -> Result<Option<Vec<Change>>, Problem> {
        install::install_local(self.host, request).map(Some)
    }

    fn uninstall(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        install::uninstall(self.host, request)
    }

    fn permissions(&self, path: &Path, text: &str) -> Result<Vec<Permission>, Problem> {
        permissions::given(path, text)
    }

    fn allowed_tool(&self, written: &str) -> Option<Permission> {
        Some(permissions::permission(PermissionEffect::Allow, written))
    }

    fn loads_from(&self, path: &Path, text: &str) -> Vec<PathBuf> {
        mods::marketplaces(path, text)
    }

    fn managed(&self, request: &InstallRequest) -> Vec<Change> {
        managed::changes(self.host, request)
    }

    fn demands_guard<'a>(&self, settings: &'a BTreeMap<PathBuf, String>) -> Option<&'a Path> {
        let demands = |(path, text): &(&Path, &String)| hook_installation::demands(self.host, path, text);
        settings.iter().map(|(path, text)| (path.as_path(), text)).find(demands).map(|(path, _)| path)
    }

    fn in_both_scopes(&self) -> bool {
        true
    }

    fn writes_mode(&self) -> bool {
        true
    }

    fn unguarded(&self, request: &InstallRequest) -> Option<String> {
        hook_installation::unguarded(self.host, request)
    }
}

impl Diagnostics for Hooks {
    fn versions(&self) -> Vec<String> {
        self.host.table.versions()
    }

    fn documented(&self) -> Vec<String> {
        self.host.documented()
    }

    fn version_command(&self) -> Option<Vec<String>> {
        self.host.table.version_command()
    }

    fn examine(&self, request: &ExamineRequest) -> Examined {
        examine::examine(self.host, request)
    }

    fn modules(&self) -> Option<&'static ModuleTable> {
        Some(&mods::MODS)
    }

    fn limits(&self) -> Vec<Limit> {
        self.host.table.limits()
    }
}
