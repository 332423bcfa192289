//! Mistakes in configs, as callers see them.

use phasegate_core::Code;

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
