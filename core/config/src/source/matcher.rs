//! Matchers and conditions as written: a line of `allowed` may have a condition, and conditions ask for calls.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::group::PathSource;

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
    /// The words of one command of a shell line, or a list of such texts, of which one must match. `*` as a word stands for any words, also none (`git push *`), `**` for any one word; inside a word `*` stands for any characters (`-out=*`).
    #[serde(default)]
    pub command: Option<CommandSource>,
    /// What the call does, or a list of such words, of which one must hold: `format`, `vcs`, `push`, `migrate` and others, by
    /// the table of programs, or by a label of the tool. Not beside `command`.
    #[serde(default)]
    pub does: Option<PathSource>,
    /// A path that the call must read, relative to the project, with `*`, `?`, `**` and `{a,b}` (`{src,tests}/**/*.rs`), or
    /// a group of files (`"@tests"`), or a list of these. One that begins with `/` is a path of the system, outside of the
    /// project.
    #[serde(default)]
    pub reads: Option<PathSource>,
    /// A path that the call must write or remove, in the same form.
    #[serde(default)]
    pub writes: Option<PathSource>,
    /// What the call must add to the files that it writes: only beside `writes`. A call adds code unless each line of code in
    /// the new file stood in the old one, in the same order; blanks and lines that are comments do not count. Only a file
    /// tool can prove that it adds none.
    #[serde(default)]
    pub adds: Option<Adds>,
    /// A path that the call must run, in the same form.
    #[serde(default)]
    pub executes: Option<PathSource>,
    /// The client's skill whose text the call gives the agent, by name, in whatever way the platform does it; `*` stands for any characters. Or a list of such names.
    #[serde(default)]
    pub skill: Option<PathSource>,
    /// The type of the subagent that the call starts; `*` stands for any characters. Or a list of such types.
    #[serde(default)]
    pub starts: Option<PathSource>,
    /// The calling agent: `main` for the main agent, `subagent` for any subagent, or the type of a subagent.
    #[serde(default)]
    pub agent: Option<String>,
    /// The calls that are not meant: patterns and objects, as in a list.
    #[serde(default)]
    pub except: Vec<MatcherSource>,
    /// In a line of `allowed`: the condition under which the line allows the call. Evidence of the whole run counts.
    #[serde(default)]
    pub requires: Option<ConditionSource>,
    /// In a line of `forbidden` of a phase: the line forbids as long as this condition does not hold. Evidence of the whole
    /// run counts.
    #[serde(default)]
    pub until: Option<ConditionSource>,
    /// In a line of `allowed` of a phase, alone with `at`: the artifact that is the approved plan. Each of its steps permits
    /// one call, once.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub from: Option<String>,
    /// With `from`: the JSON pointer to the list of steps, for example `/steps`; empty: the file is the list.
    #[serde(default)]
    pub at: Option<String>,
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
    /// A text in which this one stands, or a list with this text as an item. Not for shell commands.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub contains: Option<String>,
    /// A text of Markdown that has words below a heading. Not for shell commands.
    #[serde(default)]
    pub section: Option<SectionSource>,
    /// Present (`true`) or absent (`false`).
    #[serde(default)]
    pub present: Option<bool>,
}

/// A heading, and how much stands below it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SectionSource {
    /// The heading, without its marks. One in a block of code is none.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub heading: String,
    /// The least number of words below it, counted as in the section of a file.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(min = 1)))]
    pub min_words: Option<u64>,
}

/// A condition. If an object has several keys, all of them must hold.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
#[serde(default, deny_unknown_fields)]
pub struct ConditionSource {
    /// A matching call succeeded; a program must have exit status 0. For a list, each matcher needs such a call.
    pub ok: Option<Matchers>,
    /// A matching call ran and failed.
    pub failed: Option<Matchers>,
    /// The user or another guard refused a matching call.
    pub refused: Option<Matchers>,
    /// A matching call was started in the background. The start proves nothing about the end.
    pub launched: Option<Matchers>,
    /// A matching call was interrupted.
    pub cancelled: Option<Matchers>,
    /// A matching call ended with an unknown outcome.
    pub unknown: Option<Matchers>,
    /// A matching call ran to its end, `ok` or `failed`.
    pub ended: Option<Matchers>,
    /// A fact of the skill, by its name.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub fact: Option<String>,
    /// A known test runner ended so: `passed` (the whole suite, or what `command` names), `failed` or `broken`.
    pub tests: Option<Tests>,
    /// With `tests`: the words of the command that runs the tests meant, with `*` for any words.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub command: Option<String>,
    /// Beside `ok`, `failed`, `ended`, `tests` and the like: files that are as they were when that call was decided, whoever
    /// changes them. Alone: as they were when the visit of the phase began. A path with `*`, `?`, `**` and `{a,b}`,
    /// relative to the project, or a group of files (`"@source"`), or a list of these.
    pub unchanged: Option<PathSource>,
    /// Beside `ok` and the like, in the `requires` of a line: what that call and the one that the line lists have in common.
    /// Every value of the argument on the right is among those of the argument on the left; paths are compared as paths.
    /// `writes` stands for the paths that a call writes.
    pub same: BTreeMap<String, String>,
    /// All of these hold.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub all: Option<Vec<ConditionSource>>,
    /// One of these holds.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub any: Option<Vec<ConditionSource>>,
    /// This does not hold. An unknown fact satisfies neither a condition nor its negation.
    pub not: Option<Box<ConditionSource>>,
    /// A file, or the files that a path with `*`, `?`, `**` and `{a,b}` selects, relative to the project. Without another key,
    /// the condition is that there is one.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub file: Option<String>,
    /// An artifact of the skill is there. With `contains`: as often as `at_least` and `at_most` say, in all its files together.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub artifact: Option<String>,
    /// With `file`: whether the file exists.
    pub exists: Option<bool>,
    /// With `file` or `artifact`: the SHA-256 digest of the bytes of each file, as 64 lower-case hexadecimal digits.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = "^[0-9a-f]{64}$")))]
    pub sha256: Option<String>,
    /// With `file` or `artifact`: a text that it contains. With `pointer`: a text in which this one stands, or a list with
    /// this text as an item.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub contains: Option<String>,
    /// With `contains`: the minimum number of occurrences. The default is 1, or 0 if `at_most` is given.
    pub at_least: Option<u64>,
    /// With `contains`: the maximum number of occurrences.
    pub at_most: Option<u64>,
    /// In the compat form: a finished message of the agent, in the present visit, has a part that this regular expression
    /// fits.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub says: Option<String>,
    /// With `says`: the part does not count where this regular expression fits in its sentence.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub except: Option<String>,
    /// With `file` or `artifact`: a place in each of its files as a JSON pointer (`/tasks/0/id`). The files are JSON, or have
    /// front matter, in which the place is. What is there is compared with `value`, `one_of`, `begins`, `contains` or
    /// `present`. Without one of them something has to be there.
    pub pointer: Option<String>,
    /// With `pointer`: what has to be there.
    pub value: Option<Value>,
    /// With `pointer`: the values of which one has to be there.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub one_of: Option<Vec<Value>>,
    /// With `pointer`: the beginning of the text that has to be there.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub begins: Option<String>,
    /// With `pointer`: whether something is there (`true`) or nothing (`false`).
    pub present: Option<bool>,
    /// A person approved this name in the run with `phasegate approve`. With `file`: the file is what it was then. The name of
    /// an artifact: its files are what they were then.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub approved: Option<String>,
}

/// One matcher, or a list of matchers that all must be seen.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Matchers {
    /// Each of these must be seen.
    Each(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] Vec<MatcherSource>),
    /// This one must be seen.
    One(MatcherSource),
}

/// How tests ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Tests {
    /// At least one ran, none failed, and the exit status is 0.
    Passed,
    /// At least one failed.
    Failed,
    /// They could not be built or collected.
    Broken,
}

/// What a call adds to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Adds {
    /// A line of code that was not there.
    Code,
}
