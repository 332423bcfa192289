//! What a call's arguments mean, mirrored like the events.
#![expect(dead_code, reason = "the types are only described, never made")]

use schemars::JsonSchema;

/// What a call's arguments mean: the simple commands of a shell line, the paths of a file tool.
///
/// It is made before `step`; an empty reading says nothing, it does not say "harmless".
#[derive(Default, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Reading {
    /// The simple commands, in order of their place in the line.
    #[serde(default)]
    commands: Vec<SimpleCommand>,
    /// The paths the call would touch, as far as they are known.
    #[serde(default)]
    paths: Vec<PathUse>,
}

/// One simple command of a shell line.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SimpleCommand {
    /// The program and its arguments; the first word is the program.
    words: Vec<Word>,
    /// Assignments before the program, as name and value.
    #[serde(default)]
    assignments: Vec<(String, Word)>,
    /// Redirections, as operator and target.
    #[serde(default)]
    redirections: Vec<(String, Word)>,
    /// First and one-past-last byte in the line.
    span: (u32, u32),
    /// What the command can do at most.
    verdict: Verdict,
}

/// A word of a command: known, or made at run time (a variable, a substitution).
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Word {
    /// The word after quote removal.
    Known(String),
    /// A word that cannot be known before the line runs.
    Unknown,
}

/// What a command can do at most, from harmless to not known.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Verdict {
    /// It only reads.
    Read,
    /// It writes files or other state.
    Write,
    /// It runs other programs.
    Execute,
    /// It sends data to other machines.
    Send,
    /// Nobody can say.
    Unknown,
}

/// One path that a call would touch.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PathUse {
    /// The path as the call gives it.
    written: String,
    /// The path after links, `.` and `..` are resolved; without it that failed.
    #[serde(default)]
    resolved: Option<String>,
    /// What the call does to it.
    access: Access,
}

/// What a call does to a path.
#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(super) enum Access {
    /// Reads it.
    Read,
    /// Creates, changes or deletes it.
    Write,
    /// Runs it.
    Execute,
}
