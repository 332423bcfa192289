//! phasegate-config: configs as written, with spans, to diagnostics or a compiled policy.
//!
//! No files are read here: the caller hands in texts with their names and levels.

pub mod source;
#[cfg(feature = "schema")]
pub mod schema;
mod input;
mod diagnostic;
mod node;
mod text;
mod scalar;
mod report;
mod read;
mod front_matter;
mod suggestion;
mod typo;
mod paths;
mod groups;
mod validate;
mod json_schema;
mod shipped;
mod prompts;
mod formats;
mod texts;
mod version;
mod instance;
mod agent;
mod build;
mod meaning;
mod skills;
mod children;
mod unentered;
mod combine;
mod mcp;
mod safety;
mod budgets;
mod packs;
mod rules;
mod compiled;
mod settings_check;
mod plan_steps;
mod compile;
mod demanded;

pub use compile::{compile, compile_knowing, shipped_policy};
pub use compiled::{Compiled, Settings};
pub use demanded::{Demanded, demanded};
pub use diagnostic::{Diagnostic, Severity};
pub use formats::{FORMATS_FOLDER, FrontMatter, SCHEMAS_FOLDER, front_matter};
pub use front_matter::names_permissions;
pub use groups::Groups;
pub use input::{Kind, Known, KnownServers, Level, SourceFile, TOGETHER};
pub use instance::instance;
pub use json_schema::JsonSchema;
pub use mcp::Mcp;
pub use meaning::is_host_agent;
pub use packs::{Pack, packs};
pub use phasegate_core::policy::Confine;
pub use plan_steps::plan_steps;
pub use prompts::PROMPTS_FOLDER;
pub use rules::{IMPORTED_RULES, RULES_FOLDER, RuleText, rule_schema, rule_texts};
pub use shipped::{Shipped, find_shipped, shipped, shipped_file};
pub use source::Form;
pub use suggestion::likely_typo;
pub use version::of_skill as skill_version;
