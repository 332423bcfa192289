//! What is wrong with a text of rules.

use phasegate_core::Code;
use phasegate_rules::compile::Problem;

use super::spans::span;
use crate::report::Finding;

/// A mistake as `check` tells it.
pub(super) fn finding(text: &str, problem: &Problem) -> Finding {
    let at = span(text, &problem.span);
    let found = match problem.is_warning {
        true => Finding::warning(Code::RulePointless, at, &problem.message),
        false => Finding::error(Code::RuleInvalid, at, &problem.message),
    };
    match &problem.help {
        Some(help) => found.suggest(help),
        None => found,
    }
}
