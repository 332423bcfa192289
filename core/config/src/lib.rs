//! phasegate-config: configs as written, with spans, to diagnostics or a compiled policy.
//!
//! No files are read here: the caller hands in texts with their names and levels.

pub mod source;
#[cfg(feature = "schema")]
pub mod schema;
mod node;
mod text;
mod scalar;
mod read;
mod front;
mod report;
mod nearest;
mod slip;
mod paths;
mod validate;
mod build;
mod meaning;
mod skills;
mod combine;
mod mcp;
mod version;
mod shipped;
mod compile;

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::Code;
use phasegate_core::policy::{Mode, Policy};

pub use compile::compile;
pub use front::names_permissions;
pub use mcp::Mcp;
pub use shipped::{Shipped, find_shipped, shipped, shipped_policy};
pub use source::Form;
pub use version::of_skill as skill_version;

/// Whose config a text is. A higher level hides a lower one's skill of the same name; strictness combines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// The project's.
    Project,
    /// The user's.
    User,
    /// The machine's.
    Machine,
}

/// What a text is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `config.yaml`: mode, `use`, what holds for every skill.
    Settings,
    /// A skill config of its own, YAML or JSON.
    Skill,
    /// A `SKILL.md`, whose front matter may hold `tool_permissions`.
    SkillMd,
}

/// A config text with its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceFile {
    /// The path as shown in diagnostics.
    pub path: String,
    /// The text.
    pub text: String,
    /// Whose it is.
    pub level: Level,
    /// What it is.
    pub kind: Kind,
}

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
    #[must_use]
    pub fn has_errors(&self) -> bool {
        self.diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
    }
}

/// What the settings files of all levels say together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The least strict mode any run may have.
    pub mode: Option<Mode>,
    /// Whether some config may ask for a mode that could not be understood: then `mode` and the skills' modes are not
    /// all that is asked for.
    pub mode_unclear: bool,
    /// Where the seed's audit events are also written, as JSON Lines.
    pub audit_log: Option<String>,
    /// The names of arguments that journals keep a digest of only, of all levels together.
    pub redact: BTreeSet<String>,
    /// Programs that shell lines may name, by name, of all levels together; the nearest level wins.
    pub programs: BTreeMap<String, phasegate_shell::Rule>,
    /// Whether the repository's own configuration is trusted to name no program that a person did not choose: no level
    /// says otherwise.
    pub trust_repository: bool,
    /// What holds for MCP servers.
    pub mcp: Mcp,
    /// Whether any settings file was given at all.
    pub found: bool,
}

/// A mistake in a config, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// What kind of mistake.
    pub code: Code,
    /// Whether it forbids using the policy.
    pub severity: Severity,
    /// The file, as in [`SourceFile::path`].
    pub path: String,
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// First byte and length of the place in the text.
    pub span: (usize, usize),
    /// What is wrong here, as a fragment without a full stop.
    pub message: String,
    /// Why that matters, where the message does not say it.
    pub cause: Option<String>,
    /// What to write instead.
    pub suggestion: Option<String>,
}

/// How bad a mistake is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The policy can be used; something is probably not meant so.
    Warning,
    /// The policy must not be used.
    Error,
}
