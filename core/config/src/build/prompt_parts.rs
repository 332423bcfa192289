//! The parts that a skill asks of the prompt that starts a subagent, and the text of the phase, which is its template.

use std::collections::BTreeMap;

use phasegate_core::Code;
use phasegate_core::calls::analysis::Invocation;
use phasegate_core::policy::matcher::{ArgIs, Matcher};

use super::builder::Builder;
use crate::read::node::Span;
use crate::read::outline::words_below;
use crate::read::report::Finding;
use crate::read::suggestion::listed;

/// Warns where the text of a file lacks parts that a start of a subagent has to have, by the lines that forbid it.
pub(super) fn check(builder: &mut Builder<'_>, file: &str, text: &str, span: Span, forbidden: &[Matcher]) {
    let starts = forbidden.iter().filter(|line| matches!(line.invokes.as_deref(), Some(Invocation::Agent(_))));
    let tests = starts.flat_map(|line| &line.except).flat_map(|other| &other.args);
    let sections = tests.filter_map(|test| match &test.is {
        ArgIs::Section(section) => Some(section),
        ArgIs::Equal(_) | ArgIs::OneOf(_) | ArgIs::Begins(_) | ArgIs::Contains(_) | ArgIs::Present(_) => None,
    });
    let asked: BTreeMap<&str, u64> = sections.map(|section| (section.heading.as_str(), section.min_words)).collect();
    let found = words_below(text, &asked.keys().copied().collect::<Vec<_>>());
    let lacks = |(heading, least): &(&&str, &u64)| found.get(*heading).is_none_or(|words| words < *least);
    let lacking: Vec<String> = asked.iter().filter(lacks).map(|(heading, _)| format!("## {heading}")).collect();
    let least = asked.values().max().copied().unwrap_or(1);
    if lacking.is_empty() {
        return;
    }
    let parts = listed(lacking.iter().map(String::as_str));
    let message = format!("`{file}` lacks parts that the skill asks of the prompt of a subagent: {parts}");
    let cause = "the text is the template of that prompt, and a prompt without one of them is denied";
    let suggestion = format!("add each as a heading of its own, with at least {least} words below it");
    builder.findings.push(Finding::warning(Code::ConfigValue, span, message).cause(cause).suggest(suggestion));
}
