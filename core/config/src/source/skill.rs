//! Skills as written.

use std::collections::BTreeMap;

use phasegate_core::policy::{Confine, DenialText, Mode, OnViolation, Scope};
use serde::Deserialize;

use super::artifact::ArtifactSource;
use super::choices::{FinishSource, FirstPhaseSource, Form};
use super::group::GroupSource;
use super::matcher::{ConditionSource, MatcherSource};
use super::phase::PhaseSource;
use super::unlisted::UnlistedRuleSource;

/// A skill: the phases of a workflow and their rules.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SkillSource {
    /// The schema that an editor checks the file with; phasegate does not read it.
    #[serde(default, rename = "$schema")]
    pub schema: Option<String>,
    /// The name, as the agent activates it.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub skill: String,
    /// What the skill is for, in a sentence.
    #[serde(default)]
    pub description: String,
    /// The set of default rules. The default in phasegate's own files is `strict`.
    #[serde(default)]
    pub form: Option<Form>,
    /// The minimum mode of a run. Without it, the activation chooses the mode.
    #[serde(default)]
    pub mode: Option<Mode>,
    /// What becomes of a violation in block mode. The default is `deny`.
    #[serde(default)]
    pub on_violation: Option<OnViolation>,
    /// Whether the kernel holds shell lines in its phases, where they do not say it. The default is the project's `confine`.
    #[serde(default)]
    pub confine: Option<Confine>,
    /// Where runs live. The default is `session`.
    #[serde(default)]
    pub scope: Option<Scope>,
    /// How to answer calls that no line lists. The default is `read_only`; it is `allow` in the compat form, and for a
    /// skill that starts by `before` or `session`.
    #[serde(default)]
    pub unlisted: Option<UnlistedRuleSource>,
    /// How denials are laid out: `standard`, or `blocked` for `BLOCKED:` with the reason, the current phase, what was
    /// attempted, and how to get on.
    #[serde(default)]
    pub denial_text: Option<DenialText>,
    /// Values that a run is given when it begins, each with the regular expression that the whole value matches. `${name}`
    /// in a path, a command or a text stands for one.
    #[serde(default)]
    pub inputs: BTreeMap<String, String>,
    /// What begins a run. Of several lines each does. The default is `invocation`.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub start: Option<Vec<StartSource>>,
    /// Who may end the skill early, and whether the agent has to finish it. The default is `when_done`, in the compat form
    /// `agent`.
    #[serde(default)]
    pub finish: Option<FinishSource>,
    /// The MCP servers whose tools a bare name allows.
    #[serde(default)]
    pub servers: Vec<String>,
    /// Labels of tools, by pattern: a name, several (`a|b`), or a prefix (`simulate_*`).
    #[serde(default)]
    pub tools: BTreeMap<String, ToolSource>,
    /// Groups of files for this skill, by name. `"@NAME"` stands for one wherever a path stands.
    #[serde(default)]
    pub groups: BTreeMap<String, GroupSource>,
    /// Conditions for this skill, by name. `{fact: NAME}` stands for one wherever a condition stands.
    #[serde(default)]
    pub facts: BTreeMap<String, ConditionSource>,
    /// The calls that every phase allows, beside its own.
    #[serde(default)]
    pub allowed: Vec<MatcherSource>,
    /// The calls that every phase forbids.
    #[serde(default)]
    pub forbidden: Vec<MatcherSource>,
    /// In the compat form, the calls that every phase forbids; it is `forbidden` in the strict form.
    #[serde(default)]
    pub global_forbidden: Vec<MatcherSource>,
    /// What the first phase has to be. `linear`: it is always entered, and has lines of its own or one run. Anything else is
    /// a mistake of the config.
    #[serde(default)]
    pub first_phase: Option<FirstPhaseSource>,
    /// Files that phases produce, by a name that conditions and approvals use.
    #[serde(default)]
    pub artifacts: BTreeMap<String, ArtifactSource>,
    /// The phases by name. Their order is their order in the file.
    #[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
    pub phases: BTreeMap<String, PhaseSource>,
}

/// What begins a run: `invocation`, `session`, or an object.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum StartSource {
    /// One word.
    Word(StartWord),
    /// A call or a prompt.
    Object(Box<StartObject>),
}

/// What begins a run, in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum StartWord {
    /// The client's skill of that name is invoked, by the agent or by a person.
    Invocation,
    /// A session begins or is resumed.
    Session,
}

/// A call or a prompt that begins a run. Exactly one key is given.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1, "maxProperties" = 1)))]
#[serde(default, deny_unknown_fields)]
pub struct StartObject {
    /// The first call that this matches and that does not only read. The run judges that call too. Nobody has to finish
    /// the run before a call that it lists has succeeded.
    pub before: Option<MatcherSource>,
    /// The platform's own permission mode, for example `plan`. The run begins when the platform enters it. While the run is
    /// in its first phase, it ends when the platform's user leaves that mode.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub permission_mode: Option<String>,
    /// The text that a prompt begins with.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub prompt: Option<String>,
}

/// What a tool can do.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct ToolSource {
    /// What the tool can do: `read`, `write`, `execute`, `network`, or your own words, for use as `@word`. A tool
    /// without a label counts as writing.
    pub labels: Vec<String>,
}
