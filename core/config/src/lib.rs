//! phasegate-config: configs as written, with spans, to diagnostics or a compiled policy.
//!
//! No files are read here: the caller hands in texts with their names and levels.

pub mod source;
#[cfg(feature = "schema")]
pub mod schema;
mod input;
mod diagnostic;
mod read;
mod files;
mod validate;
mod version;
mod build;
mod meaning;
mod skills;
mod settings;
mod combine;
mod rules;
mod compiled;
mod plan_steps;
mod compile;
mod claims;

pub use claims::{Claim, Claims, WATCHER, read_claims};
pub use compile::{compile, compile_knowing, shipped_policy};
pub use compiled::{Compiled, Settings};
pub use diagnostic::{Diagnostic, Severity};
pub use files::formats::{FORMATS_FOLDER, FrontMatter, SCHEMAS_FOLDER, front_matter};
pub use files::json_schema::JsonSchema;
pub use files::packs::{Pack, packs};
pub use files::prompts::PROMPTS_FOLDER;
pub use files::shipped::{Shipped, find_shipped, shipped, shipped_file};
pub use input::{Kind, Known, KnownServers, Level, SourceFile, TOGETHER};
pub use meaning::is_host_agent;
pub use phasegate_core::policy::Confine;
pub use plan_steps::plan_steps;
pub use read::front_matter::names_permissions;
pub use read::outline;
pub use read::suggestion::likely_typo;
pub use rules::{IMPORTED_RULES, RULES_FOLDER, RuleText, rule_schema, rule_texts};
pub use settings::groups::Groups;
pub use settings::mcp::Mcp;
pub use skills::demanded::{Demanded, demanded};
pub use skills::instance::instance;
pub use source::Form;
pub use version::of_skill as skill_version;
