//! Mistakes as they are found, before they know their file.

use phasegate_core::Code;

use crate::diagnostic::{Diagnostic, Severity};
use crate::read::node::Span;

/// A mistake with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Finding {
    code: Code,
    severity: Severity,
    span: Span,
    message: String,
    cause: Option<String>,
    suggestion: Option<String>,
}

impl Finding {
    /// Whether it forbids using the policy.
    pub(crate) fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// A mistake that forbids using the policy.
    pub(crate) fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { code, severity: Severity::Error, span, message: message.into(), cause: None, suggestion: None }
    }

    /// Something that is probably not meant so.
    pub(crate) fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self { severity: Severity::Warning, ..Self::error(code, span, message) }
    }

    /// The same, only a warning where `lenient`.
    #[must_use]
    pub(crate) fn lenient(self, lenient: bool) -> Self {
        Self { severity: if lenient { Severity::Warning } else { self.severity }, ..self }
    }

    /// The same with the reason why it matters.
    #[must_use]
    pub(crate) fn cause(self, cause: impl Into<String>) -> Self {
        Self { cause: Some(cause.into()), ..self }
    }

    /// The same with what to write instead.
    #[must_use]
    pub(crate) fn suggest(self, suggestion: impl Into<String>) -> Self {
        Self { suggestion: Some(suggestion.into()), ..self }
    }

    /// The same, of a file that another one names here.
    pub(crate) fn named_at(self, path: &str, span: Span) -> Self {
        let message = format!("`{path}`, line {}: {}", self.span.line, self.message);
        Self { span, message, ..self }
    }

    /// Whether the mistake, standing between two bytes, took something out of what stands there.
    pub(crate) fn damages(&self, start: usize, end: usize) -> bool {
        let takes_out = match self.code {
            // These left nothing out that could have had a meaning, or were repaired by what was probably meant.
            Code::MatcherEmpty | Code::ConfigKeyDuplicate | Code::PhaseUnknown => false,
            _ => self.severity == Severity::Error,
        };
        takes_out && (start..end).contains(&self.span.start)
    }

    /// Whether a mode may have been asked for here that could not be understood.
    pub(crate) fn hides_a_mode(&self) -> bool {
        let suggestion = self.suggestion.as_deref().unwrap_or_default();
        // A mistake about a mode names the key or lists the modes, in its message or in what it suggests.
        let about_mode = || {
            let named =
                ["`mode`", "`block`"].iter().any(|word| self.message.contains(word) || suggestion.contains(word));
            // A word that nearly equals `warn` asks for nothing stricter.
            named && suggestion != "did you mean `warn`?"
        };
        match self.code {
            Code::ConfigSyntax => self.severity == Severity::Error,
            Code::ConfigValue | Code::ConfigKeyUnknown | Code::ConfigKeyDuplicate => about_mode(),
            _ => false,
        }
    }

    /// The error for display. Every error has a suggestion: at least the remedy of its code.
    pub(crate) fn in_file(self, path: &str) -> Diagnostic {
        Diagnostic {
            code: self.code,
            severity: self.severity,
            path: path.to_string(),
            line: self.span.line,
            column: self.span.column,
            span: (self.span.start, self.span.end.saturating_sub(self.span.start)),
            message: self.message,
            cause: self.cause,
            suggestion: Some(self.suggestion.unwrap_or_else(|| self.code.remedy().to_string())),
        }
    }
}
