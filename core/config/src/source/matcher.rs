//! Matchers as written.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// Selects calls: a pattern, or an object with conditions.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum MatcherSource {
    /// A tool (`Edit`), several (`Edit|Write`), a prefix (`simulate_*`), a label (`@write`), a tool of one MCP server (`mcp__lsp__apply_edit`, `mcp__lsp__*`), or every tool (`*`).
    Pattern(String),
    /// A pattern with conditions. All of them must hold.
    Object(Box<MatcherObject>),
}

/// A pattern with conditions. All of them must hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
#[serde(deny_unknown_fields)]
pub struct MatcherObject {
    /// The tools: a name, several (`Edit|Write`), a prefix that ends with a star, a label (`@write`), or `*`.
    #[serde(default)]
    pub tool: Option<String>,
    /// The tool's MCP server.
    #[serde(default)]
    pub server: Option<String>,
    /// Conditions on the arguments, by name; a dot selects a field of an object (`options.dry_run`).
    #[serde(default)]
    pub args: BTreeMap<String, ArgSource>,
    /// The words of one command of a shell line, or a list of such texts, of which one must match. `*` as a word stands for any words, also none (`git push *`); inside a word it stands for any characters (`-out=*`).
    #[serde(default)]
    pub command: Option<CommandSource>,
    /// A path that the call must read, relative to the project, with `*`, `?`, `**` and `{a,b}` (`{src,tests}/**/*.rs`).
    #[serde(default)]
    pub reads: Option<String>,
    /// A path that the call must write or remove, in the same form.
    #[serde(default)]
    pub writes: Option<String>,
    /// A path that the call must run, in the same form.
    #[serde(default)]
    pub executes: Option<String>,
    /// The calling agent: `main` for the main agent, `subagent` for any subagent, or the type of a subagent.
    #[serde(default)]
    pub agent: Option<String>,
    /// The calls that are not meant: patterns and objects, as in a list.
    #[serde(default)]
    pub except: Vec<MatcherSource>,
}

/// One command, or several of which one must match.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum CommandSource {
    /// The words of this command.
    One(String),
    /// The words of one of these.
    AnyOf(Vec<String>),
}

/// A condition on an argument: a value, or a test.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ArgSource {
    /// Equal to this text.
    Text(String),
    /// Equal to this truth value.
    Bool(bool),
    /// Equal to this number.
    Number(serde_json::Number),
    /// Equal to this list.
    List(Vec<Value>),
    /// A test.
    Test(ArgTestSource),
}

/// A test of an argument. Exactly one key is given.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1, "maxProperties" = 1)))]
#[serde(deny_unknown_fields)]
pub struct ArgTestSource {
    /// Equal to one of these values.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub one_of: Option<Vec<Value>>,
    /// A text that begins with this prefix. Not for shell commands.
    #[serde(default)]
    pub begins: Option<String>,
    /// Present (`true`) or absent (`false`).
    #[serde(default)]
    pub present: Option<bool>,
}
