//! The adapter of every host of the family.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use phasegate_adapter::{
    Adapter, Capabilities, Change, ClientProgram, ClientRecord, ClientShell, Codec, Decoded, Diagnostics,
    ExamineRequest, Examined, Frame, InstallRequest, Installer, Limit, Message, ModuleTable, Permission,
    PermissionEffect, Places, Problem, Received, RecordPlace, Recorded, Reply, Said, SessionLines, SessionView,
    Verdict,
};
use phasegate_core::policy::Mode;
use serde_json::Value;

use crate::hosts::dialect::Skills;
use crate::hosts::host::{Host, RecordForm};
use crate::messages::{decode, encode, wire};
use crate::records::{rollout, transcript};
use crate::settings::entry::{Form, entry};
use crate::settings::{examine, hook_installation, install, managed, mods, permissions, trust};
use crate::shell::Shell;

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
        self.host.holds_all.then_some(&Shell as &dyn ClientShell)
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
        match self.host.record {
            RecordForm::Messages => transcript::place(self.host, message),
            RecordForm::Rollout => rollout::place(message),
        }
    }

    fn read(&self, line: &str) -> Vec<Recorded> {
        match self.host.record {
            RecordForm::Messages => transcript::read(self.host, line),
            RecordForm::Rollout => rollout::read(line),
        }
    }

    fn said(&self, line: &str) -> Option<Said> {
        match self.host.record {
            RecordForm::Messages => transcript::words(line),
            RecordForm::Rollout => rollout::words(line),
        }
    }

    fn lags(&self) -> Duration {
        match self.host.record {
            RecordForm::Messages => transcript::LAG,
            RecordForm::Rollout => Duration::ZERO,
        }
    }

    fn ends(&self, message: &Message) -> Option<PathBuf> {
        if self.host.record == RecordForm::Rollout { rollout::file(message) } else { None }
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
        install::install_local(self.host, request)
    }

    fn uninstall(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        install::uninstall(self.host, request)
    }

    fn permissions(&self, path: &Path, text: &str) -> Result<Vec<Permission>, Problem> {
        if self.host.holds_all { permissions::given(path, text) } else { Ok(Vec::new()) }
    }

    fn allowed_tool(&self, written: &str) -> Option<Permission> {
        self.host.holds_all.then(|| permissions::permission(PermissionEffect::Allow, written))
    }

    fn loads_from(&self, path: &Path, text: &str) -> Vec<PathBuf> {
        if self.host.holds_all { mods::marketplaces(path, text) } else { Vec::new() }
    }

    fn managed(&self, request: &InstallRequest) -> Vec<Change> {
        if self.host.holds_all { managed::changes(self.host, request) } else { Vec::new() }
    }

    fn demands_guard<'a>(&self, settings: &'a BTreeMap<PathBuf, String>) -> Option<&'a Path> {
        let demands = |(path, text): &(&Path, &String)| hook_installation::demands(self.host, path, text);
        settings.iter().map(|(path, text)| (path.as_path(), text)).find(demands).map(|(path, _)| path)
    }

    fn in_both_scopes(&self) -> bool {
        self.host.once
    }

    fn writes_mode(&self) -> bool {
        true
    }

    fn advice(&self, request: &InstallRequest) -> Vec<String> {
        trust::advice(self.host, request)
    }

    fn skill_command(&self) -> &'static str {
        match self.host.own.skills {
            Skills::Tool => "/",
            Skills::Text => "$",
        }
    }

    fn digests(&self, path: &Path, settings: &Value) -> BTreeMap<String, String> {
        if self.host.trust_file.is_none() {
            return BTreeMap::new();
        }
        trust::hooks(path, settings).map(|hook| (hook.place(), hook.digest())).collect()
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
        self.host.holds_all.then_some(&mods::MODS)
    }

    fn limits(&self) -> Vec<Limit> {
        self.host.table.limits()
    }
}
