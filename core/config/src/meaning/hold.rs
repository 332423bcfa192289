//! Conditions that cannot hold, and those that hold before anything has happened.

use phasegate_core::Code;
use phasegate_core::condition::{Condition, FactTest};
use phasegate_core::fact_test::Comparison;

use crate::build::builder::Built;
use crate::report::Finding;

/// Reports what contradicts itself, and a `done_when` that asks for nothing.
pub(super) fn check(built: &Built, findings: &mut Vec<Finding>) {
    for (phase, places) in built.skill.phases.iter().zip(&built.places.phases) {
        let written = [
            ("requires", &phase.requires, places.requires, Code::PhaseUnreachable, "it can never be entered"),
            ("done_when", &phase.done_when, places.done_when, Code::PhaseNeverDone, "it can never be done"),
        ];
        for (key, condition, span, code, so) in written {
            let Some(condition) = condition else { continue };
            if contradicts(condition) {
                let message = format!("`{key}` of phase `{}` contradicts itself", phase.name);
                let finding =
                    Finding::error(code, span, message).cause(format!("two parts exclude each other, so {so}"));
                findings
                    .push(finding.suggest("remove one of the two parts, or write `any`").lenient(built.skill.compat));
            }
        }
        if phase.done_when.as_ref().and_then(at_first) == Some(true) {
            let message = format!("phase `{}` is done before anything has happened", phase.name);
            findings.push(
                Finding::warning(Code::ConfigValue, places.done_when, message)
                    .cause("its `done_when` only says what must not have happened")
                    .suggest("add what must have happened: `{ok: ..., not: ...}`"),
            );
        }
    }
}

/// Whether the condition holds with no call seen; `None`: that depends on facts or on a person.
fn at_first(condition: &Condition) -> Option<bool> {
    match condition {
        Condition::All(parts) => {
            let parts: Vec<_> = parts.iter().map(at_first).collect();
            if parts.contains(&Some(false)) {
                Some(false)
            } else {
                parts.into_iter().collect::<Option<Vec<_>>>().map(|_| true)
            }
        }
        // An empty list stands for parts that were reported and taken out.
        Condition::Any(parts) if parts.is_empty() => None,
        Condition::Any(parts) => {
            let parts: Vec<_> = parts.iter().map(at_first).collect();
            if parts.contains(&Some(true)) {
                Some(true)
            } else {
                parts.into_iter().collect::<Option<Vec<_>>>().map(|_| false)
            }
        }
        Condition::Not(inner) => at_first(inner).map(|holds| !holds),
        Condition::Call(_) | Condition::Says(_) => Some(false),
        Condition::Fact(_) | Condition::Approved(_) | Condition::Unchanged(_) | Condition::Artifact(_) => None,
    }
}

/// Whether two parts that must both hold exclude each other, here or in every one of several choices.
fn contradicts(condition: &Condition) -> bool {
    match condition {
        Condition::All(_) => {
            let mut parts = Vec::new();
            flattened(condition, &mut parts);
            let pairs =
                parts.iter().enumerate().flat_map(|(at, one)| parts.iter().skip(at + 1).map(move |other| (one, other)));
            pairs.into_iter().any(|(one, other)| exclude(one, other)) || parts.into_iter().any(contradicts)
        }
        Condition::Any(parts) => !parts.is_empty() && parts.iter().all(contradicts),
        Condition::Not(_)
        | Condition::Call(_)
        | Condition::Fact(_)
        | Condition::Approved(_)
        | Condition::Unchanged(_)
        | Condition::Artifact(_)
        | Condition::Says(_) => false,
    }
}

fn flattened<'c>(condition: &'c Condition, parts: &mut Vec<&'c Condition>) {
    match condition {
        Condition::All(inner) => inner.iter().for_each(|part| flattened(part, parts)),
        other => parts.push(other),
    }
}

fn exclude(one: &Condition, other: &Condition) -> bool {
    match (one, other) {
        (Condition::Not(inner), other) | (other, Condition::Not(inner)) => same(inner, other),
        (Condition::Fact(one), Condition::Fact(other)) => one.fact == other.fact && facts_exclude(one, other),
        _ => false,
    }
}

fn facts_exclude(one: &FactTest, other: &FactTest) -> bool {
    let missing = |test: &FactTest| test.is == Comparison::Exists(false);
    match (&one.is, &other.is) {
        (Comparison::Equals(one), Comparison::Equals(other)) => one != other,
        (Comparison::Within { at_least, at_most }, Comparison::Within { at_least: least, at_most: most }) => {
            at_most.is_some_and(|at_most| at_most < *least) || most.is_some_and(|most| most < *at_least)
        }
        _ => missing(one) != missing(other),
    }
}

/// Whether two conditions ask for the same, whatever the numbers of their call tests.
fn same(one: &Condition, other: &Condition) -> bool {
    match (one, other) {
        (Condition::Call(one), Condition::Call(other)) => {
            one.matcher == other.matcher && one.wanted == other.wanted && one.unchanged == other.unchanged
        }
        (Condition::Fact(one), Condition::Fact(other)) => one.fact == other.fact && one.is == other.is,
        (Condition::Approved(one), Condition::Approved(other)) => one == other,
        (Condition::Artifact(one), Condition::Artifact(other)) => one == other,
        (Condition::Says(one), Condition::Says(other)) => one.fact == other.fact,
        (Condition::Unchanged(one), Condition::Unchanged(other)) => one.content == other.content,
        _ => false,
    }
}
