//! Texts of rules that ask for what happened before, read as Dogwood.

use std::ops::Range;

use phasegate_core::Code;
use phasegate_history::Leaf;
use phasegate_history::compile::{self as dogwood, EVENTS, Schemas};
use phasegate_rules::compile::{PAST, Schema, compile, places};

use super::problem::finding;
use super::read::Read;
use super::spans::span;
use crate::report::Finding;

/// What the names of the fields begin with that stand for conditions.
const NAME: &str = "condition";

/// Reads a text of rules with conditions over what happened before.
pub(super) fn read(text: &str, schema: &Schema) -> Read {
    let compiled = match dogwood::compile(NAME, text, Schemas { actions: schema.text(), events: EVENTS }) {
        Ok(compiled) => compiled,
        Err(problems) => {
            return Read {
                findings: problems.iter().map(|problem| (wrong(text, problem), true)).collect(),
                ..Read::default()
            };
        }
    };
    let mut warnings: Vec<_> = compiled.warnings.iter().map(|problem| (pointless(text, problem), false)).collect();
    let named = |text: &str| renamed(text, &compiled.leaves);
    let (cedar, schema) = (named(&compiled.cedar), Schema::of_text(named(&compiled.schema)));
    let schema = match schema {
        Ok(schema) => schema,
        Err(why) => {
            return Read {
                findings: vec![(Finding::error(Code::RuleInvalid, span(text, &(0..1)), why), true)],
                ..Read::default()
            };
        }
    };
    let read = compile(&cedar, &schema);
    let place = |lowered: &Range<usize>| as_written(text, &cedar, lowered);
    let rules = read.rules.into_iter().map(|placed| (placed.rule, place(&placed.span))).collect();
    warnings.extend(read.problems.into_iter().map(|mut problem| {
        problem.span = place(&problem.span);
        (finding(text, &problem), !problem.is_warning)
    }));
    let history = compiled.leaves.into_iter().map(|leaf| Leaf { field: field(&leaf), ..leaf }).collect();
    Read { rules, history, findings: warnings }
}

/// The field of a condition, under a name that says what it is and not where it stands.
fn field(leaf: &Leaf) -> String {
    format!("{PAST}{}", leaf.key)
}

/// A text with the fields of conditions under these names, the longest first: one may begin as another does.
fn renamed(text: &str, leaves: &[Leaf]) -> String {
    let mut leaves: Vec<&Leaf> = leaves.iter().collect();
    leaves.sort_by_key(|leaf| std::cmp::Reverse(leaf.field.len()));
    leaves.iter().fold(text.to_string(), |text, leaf| text.replace(&leaf.field, &field(leaf)))
}

/// The bytes of the rule, as it is written, that has the name of the one in these bytes of the lowered text.
fn as_written(text: &str, lowered: &str, at: &Range<usize>) -> Range<usize> {
    let name = |text: &str, place: &Range<usize>| {
        let (_, rest) = text.get(place.clone())?.split_once("@id(\"")?;
        rest.split_once('"').map(|(name, _)| name.to_string())
    };
    let within = places(lowered).into_iter().find(|place| place.start <= at.start && at.start < place.end);
    let wanted = within.and_then(|place| name(lowered, &place));
    let found = places(text).into_iter().find(|place| wanted.is_some() && name(text, place) == wanted);
    found.unwrap_or(0..text.len().min(1))
}

fn wrong(text: &str, problem: &dogwood::Problem) -> Finding {
    told(Finding::error(Code::RuleInvalid, place(text, problem), &problem.message), problem)
}

fn pointless(text: &str, problem: &dogwood::Problem) -> Finding {
    told(Finding::warning(Code::RulePointless, place(text, problem), &problem.message), problem)
}

fn told(found: Finding, problem: &dogwood::Problem) -> Finding {
    match &problem.help {
        Some(help) => found.suggest(help),
        None => found,
    }
}

fn place(text: &str, problem: &dogwood::Problem) -> crate::node::Span {
    span(text, problem.span.as_ref().unwrap_or(&(0..text.len().min(1))))
}
