//! Configs as written: the types that the JSON Schemas and the manual are made from.
//!
//! The doc comments here are what an editor shows; write them for the author of a config.

pub mod choices;
pub mod matcher;
pub mod artifact;
pub mod budget;
pub mod group;
pub mod mcp;
pub mod rules;
pub mod fact;
pub mod safety;
pub mod unlisted;
pub mod phase;
pub mod settings;
pub mod skill;

pub use artifact::{
    ArtifactPath, ArtifactPathObject, ArtifactSource, FormatObject, FormatSource, LinePattern, LineSource,
};
pub use budget::BudgetSource;
pub use choices::{FinishSource, FirstPhaseSource, Form, LeaveSource};
pub use fact::{RuleFactSource, RuleFactsSource, TestsOfFact};
pub use group::{FileSetSource, FileSource, FilesSource, GroupSource, PathSource};
pub use matcher::{
    Adds, ArgSource, ArgTestSource, CommandSource, ConditionSource, MatcherObject, MatcherSource, Matchers,
    SectionSource, Tests,
};
pub use mcp::{McpSource, ServerSource};
pub use phase::{
    BackSource, BranchObject, BranchSource, EachSource, EdgeSource, NextSource, OptionalSource, OptionalWhen,
    ParallelSource, PhaseSource, RunSource, TaskFile, TaskSource,
};
pub use rules::{RuleToolSource, RulesSource};
pub use safety::SafetySource;
pub use settings::{SettingsSource, UseObject, UseSource};
pub use skill::{SkillSource, StartObject, StartSource, StartWord, ToolSource};
pub use unlisted::{UnlistedCalls, UnlistedLineSource, UnlistedRuleSource};
