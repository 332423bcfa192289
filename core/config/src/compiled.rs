//! What a set of configs means.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::policy::{Confine, Mode, Policy};

use crate::diagnostic::{Diagnostic, Severity};
use crate::settings::groups::Groups;
use crate::settings::mcp::Mcp;

/// What a set of configs means.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Compiled {
    /// The policy. Where a diagnostic is an error, it holds only what could be understood and must not be used.
    pub policy: Policy,
    /// What the settings files say, levels combined.
    pub settings: Settings,
    /// Every mistake found, sorted by file and place.
    pub diagnostics: Vec<Diagnostic>,
}

impl Compiled {
    /// Whether a diagnostic forbids using the policy.
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// What the settings files of all levels say together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The minimum mode of every run.
    pub mode: Option<Mode>,
    /// Whether some config may ask for a mode that could not be understood: then `mode` and the skills' modes are not
    /// all that is asked for.
    pub mode_unclear: bool,
    /// A file to which the original's audit events are also written, as JSON Lines.
    pub audit_log: Option<String>,
    /// The names of arguments that journals keep a digest of only, of all levels together.
    pub redact: BTreeSet<String>,
    /// Programs that shell commands may name, by name, from all levels. The most specific level wins.
    pub programs: BTreeMap<String, phasegate_shell::Rule>,
    /// Whether the repository's own configuration is trusted to name no program that a person did not choose: no level
    /// says otherwise.
    pub trust_repository: bool,
    /// Whether the kernel holds what a phase that only reads lets run.
    pub confine: Confine,
    /// What holds for MCP servers.
    pub mcp: Mcp,
    /// Whether any settings file was given at all.
    pub found: bool,
    /// The groups of files that skills of the project may name.
    pub groups: Groups,
}
