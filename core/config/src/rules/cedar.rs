//! Texts of rules, read as Cedar.

use std::collections::BTreeMap;
use std::ops::Range;

use phasegate_core::Code;
use phasegate_core::rules::rule_fact::RuleFact;
use phasegate_rules::ToolShape;
use phasegate_rules::compile::{Compiled, FactShape, Schema, compile, places, refused};

use super::problem::finding;
use super::read::Read;
use super::spans::span;
use crate::read::report::Finding;

/// Reads texts of rules against what rules can read.
pub(super) struct Reader(Schema);

impl Reader {
    /// A reader that knows these tools.
    pub(super) fn new(tools: &[ToolShape]) -> Result<Self, String> {
        Schema::new(tools).map(Self)
    }

    /// The rules of a text that may read these facts.
    pub(super) fn read(&self, text: &str, facts: &BTreeMap<String, RuleFact>) -> Read {
        if let Some(problem) = refused(text) {
            return Read { findings: vec![(finding(text, &problem), true)], ..Read::default() };
        }
        if let Some(place) = places(text).into_iter().find(|place| text.get(place.clone()).is_some_and(asks_for_past)) {
            return Read { findings: vec![(asks_in_old_words(text, &place), true)], ..Read::default() };
        }
        let with_facts = (!facts.is_empty()).then(|| self.0.with_facts(shapes(facts)));
        let compiled = match &with_facts {
            // What is wrong with a name of a fact is told where it stands.
            Some(Err(_)) => Compiled::default(),
            Some(Ok(schema)) => compile(text, schema),
            None => compile(text, &self.0),
        };
        let rules = compiled.rules.into_iter().map(|placed| (placed.rule, placed.span)).collect();
        let findings = compiled.problems.into_iter().map(|problem| (finding(text, &problem), !problem.is_warning));
        Read { rules, findings: findings.collect() }
    }
}

fn shapes(facts: &BTreeMap<String, RuleFact>) -> BTreeMap<String, FactShape> {
    let shape = |fact: &RuleFact| FactShape { key: fact.key.clone(), is_number: fact.is_number() };
    facts.iter().map(|(name, fact)| (name.clone(), shape(fact))).collect()
}

/// A rule that asks for what happened before as earlier versions read it.
fn asks_in_old_words(text: &str, place: &Range<usize>) -> Finding {
    Finding::error(Code::RuleInvalid, span(text, place), "the rule asks for what happened before by `temporal`")
        .cause("nothing reads that any more: such a condition is a fact of the file NAME.yaml beside NAME.cedar")
        .suggest(
            "write there `facts: {secrets: {count: {reads: \"@secrets\"}, within: 1d}}`, and here `when { context.facts.secrets > 0 }`",
        )
}

/// Whether a rule has a condition over what happened before.
fn asks_for_past(rule: &str) -> bool {
    let words: Vec<&str> = rule.split_whitespace().collect();
    words.windows(2).any(|two| {
        matches!(two, [before, temporal] if before.ends_with("when") | before.ends_with("unless")
            && temporal.strip_prefix("temporal").is_some_and(|rest| rest.is_empty() || rest.starts_with('{')))
    })
}

/// What rules can read of these tools and facts, in Cedar's language.
///
/// # Errors
///
/// The name of a tool, an argument or a fact is none in Cedar.
pub(super) fn schema(tools: &[ToolShape], facts: &BTreeMap<String, RuleFact>) -> Result<String, String> {
    Schema::new(tools)?.with_facts(shapes(facts)).map(|schema| schema.text().to_string())
}
