//! Settings as written.

use std::collections::BTreeMap;

use phasegate_core::policy::access::AccessMode;
use phasegate_core::policy::{Approve, Confine, Mode, Unlisted};
use phasegate_shell::Rule;
use serde::Deserialize;

use super::budget::BudgetSource;
use super::choices::Form;
use super::group::GroupSource;
use super::matcher::MatcherSource;
use super::mcp::McpSource;
use super::rules::RulesSource;
use super::safety::SafetySource;

/// Settings for every skill, and the shipped skills to use.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct SettingsSource {
    /// The schema that an editor checks the file with; phasegate does not read it.
    #[serde(rename = "$schema")]
    pub schema: Option<String>,
    /// The minimum mode of every run.
    pub mode: Option<Mode>,
    /// `true`: only a person may deactivate any skill before its end.
    pub locked: bool,
    /// The minimum strictness for calls that no line lists.
    pub unlisted: Option<Unlisted>,
    /// Groups of files for every skill, by name, and changes to the shipped ones: `tests: {add: "e2e/**"}`.
    pub groups: BTreeMap<String, GroupSource>,
    /// The calls that every phase of every skill forbids.
    pub global_forbidden: Vec<MatcherSource>,
    /// Which calls the platform need not ask its user about, where it lets the guard say so. Of several levels `never`
    /// wins. The default is `never`.
    pub approve: Option<Approve>,
    /// Shipped skills to use in this project. A skill file of the same name replaces the shipped one.
    #[serde(rename = "use")]
    pub uses: Vec<UseSource>,
    /// A file to which audit events are also written, as JSON Lines.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub audit_log: Option<String>,
    /// Arguments of which journals keep only a digest, by name, for example `content`. `output` and `text` stand for
    /// the answers of calls and for prompts.
    #[cfg_attr(feature = "schema", schemars(inner(length(min = 1))))]
    pub redact: Vec<String>,
    /// Programs that shell commands may name, in the format of the shipped table. An entry replaces the shipped one.
    pub programs: BTreeMap<String, Rule>,
    /// `false`: files of the checkout may name programs that no person chose. `git status`, `cargo metadata` and other
    /// commands that obey such files are then not `read`, and a file's name may look like an option.
    pub trust_repository: Option<bool>,
    /// Whether lines of a phase that only reads run so that nothing of them stays, and all lines so that the guard's own files
    /// stay. `off`: not; `auto`: where the client's shell and the system can; `required`: what cannot be held is denied.
    pub confine: Option<Confine>,
    /// What agents may register about the commands of programs.
    pub safety: SafetySource,
    /// What calls may do at all. Of several levels the strictest holds.
    pub access: Option<AccessMode>,
    /// How much calls may use up, by the name of the budget. The budgets of all levels hold.
    pub budgets: BTreeMap<String, BudgetSource>,
    /// The rules over calls, beside those in `.phasegate/rules/*.cedar`. The rules of all levels hold.
    pub rules: RulesSource,
    /// Settings for MCP servers and their tools.
    pub mcp: McpSource,
}

/// A skill to use: its name, or its name with options.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum UseSource {
    /// The name of the skill.
    Name(String),
    /// The name with options.
    Object(UseObject),
}

/// A skill to use, with options.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct UseObject {
    /// The name of the skill.
    pub skill: String,
    /// The form of the shipped skill. The default is `strict`.
    #[serde(default)]
    pub form: Option<Form>,
    /// The minimum mode of a run.
    #[serde(default)]
    pub mode: Option<Mode>,
}
