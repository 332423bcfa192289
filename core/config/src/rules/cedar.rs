//! Texts of rules, read as Cedar.

use std::ops::Range;

use phasegate_core::Code;
use phasegate_rules::compile::{Problem, Schema, compile};
use phasegate_rules::{Rule, ToolShape};

use super::spans::span;
use crate::report::Finding;

/// Reads texts of rules against what rules can read.
pub(super) struct Reader(Schema);

/// What a text of rules says.
pub(super) struct Read {
    /// The rules, each with its bytes.
    pub(super) rules: Vec<(Rule, Range<usize>)>,
    /// What is wrong, and whether it is an error.
    pub(super) findings: Vec<(Finding, bool)>,
}

impl Reader {
    /// A reader that knows these tools.
    pub(super) fn new(tools: &[ToolShape]) -> Result<Self, String> {
        Schema::new(tools).map(Self)
    }

    pub(super) fn read(&self, text: &str) -> Read {
        let compiled = compile(text, &self.0);
        let rules = compiled.rules.into_iter().map(|placed| (placed.rule, placed.span)).collect();
        let findings = compiled.problems.into_iter().map(|problem| (finding(text, &problem), !problem.is_warning));
        Read { rules, findings: findings.collect() }
    }
}

fn finding(text: &str, problem: &Problem) -> Finding {
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

/// What rules can read of these tools, in Cedar's language.
///
/// # Errors
///
/// The name of a tool or an argument is none in Cedar.
pub(super) fn schema(tools: &[ToolShape]) -> Result<String, String> {
    Schema::new(tools).map(|schema| schema.text().to_string())
}
