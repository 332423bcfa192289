//! What is wrong with rules, and where.

use core::ops::Range;
use std::string::{String, ToString as _};
use std::vec::Vec;

use cedar_policy::{ParseErrors, ValidationError, ValidationWarning};
use miette::Diagnostic;

/// What is wrong, and where in the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What is wrong, as a fragment.
    pub message: String,
    /// What to do about it, where known.
    pub help: Option<String>,
    /// Which bytes of the text it is about.
    pub span: Range<usize>,
    /// Whether the rules can be used all the same.
    pub is_warning: bool,
}

impl Problem {
    pub(super) fn error(message: &str, span: Range<usize>) -> Self {
        Self { message: message.to_string(), help: None, span, is_warning: false }
    }

    pub(super) fn warning(message: &str, span: Range<usize>) -> Self {
        Self { is_warning: true, ..Self::error(message, span) }
    }
}

/// What is said of a rule that holds for no call; where something in the rule is wrong, that is why.
pub(super) const NEVER: &str = "the rule can never be about a call";

pub(super) fn of_syntax(errors: &ParseErrors) -> Vec<Problem> {
    errors.iter().map(|error| of_diagnostic(error, 0..0)).collect()
}

pub(super) fn of_validation(error: &ValidationError, rule: Range<usize>) -> Problem {
    of_diagnostic(error, rule)
}

pub(super) fn of_warning(warning: &ValidationWarning, rule: Range<usize>) -> Problem {
    // A rule that asks for a misspelt attribute by `has` is one: it would let every call through.
    let never = matches!(warning, ValidationWarning::ImpossiblePolicy(_));
    let message = match never {
        true => NEVER.to_string(),
        false => without_rule(&warning.to_string()),
    };
    Problem { is_warning: !never, message, ..of_diagnostic(warning, rule) }
}

fn of_diagnostic(found: &dyn Diagnostic, rule: Range<usize>) -> Problem {
    let label = found.labels().and_then(|mut labels| labels.next());
    let span = label.as_ref().map_or(rule, |label| label.offset()..label.offset() + label.len());
    let said =
        label.as_ref().and_then(|label| label.label()).map(|label| std::format!(": {label}")).unwrap_or_default();
    let help = found.help().map(|help| help.to_string());
    Problem { message: without_rule(&found.to_string()) + &said, help, span, is_warning: false }
}

/// The message without the number that Cedar gives the rule.
fn without_rule(message: &str) -> String {
    let rest = message.strip_prefix("for policy `").and_then(|rest| rest.split_once("`, "));
    rest.map_or(message, |(_, rest)| rest).to_string()
}
