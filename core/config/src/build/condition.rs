//! Conditions as written to conditions.

use phasegate_core::Code;
use phasegate_core::FactKey;
use phasegate_core::events::event::CallOutcome;
use phasegate_core::evidence::condition::{CallTest, Condition, Content, Gate, UnchangedTest, Wanted};
use phasegate_core::evidence::object::Same;
use serde_json::json;

use super::builder::{Asked, Builder, child};
use super::{artifact, files, matcher, says, tests};
use crate::files::paths;
use crate::read::node::Node;
use crate::read::report::Finding;
use crate::read::suggestion::{did_you_mean, listed};
use crate::source::{ConditionSource, MatcherSource, Matchers};

/// Every call that a condition asks for.
pub(super) type Seen = Vec<Asked>;

/// Builds a condition; `None` if nothing of it could be built.
pub(super) fn build(
    builder: &mut Builder<'_>,
    source: &ConditionSource,
    node: &Node,
    seen: &mut Seen,
) -> Option<Condition> {
    let mut parts = Vec::new();
    let unchanged = unchanged(builder, source, node);
    calls(builder, source, node, unchanged.as_ref(), seen, &mut parts);
    tests::build(builder, source, node, unchanged.as_ref(), &mut parts);
    if let Some(content) = unchanged.filter(|_| parts.is_empty()) {
        parts.push(Condition::Unchanged(UnchangedTest { atom: builder.next_atom(), content }));
    }
    parts.extend(fact(builder, source, node, seen));
    if let Some(all) = &source.all {
        parts.push(Condition::All(list(builder, all, child(node, "all"), seen)));
    }
    if let Some(any) = &source.any {
        parts.push(Condition::Any(list(builder, any, child(node, "any"), seen)));
    }
    if let Some(not) = source.not.as_deref() {
        let may_compare = core::mem::replace(&mut builder.may_compare, false);
        parts.extend(build(builder, not, child(node, "not"), seen).map(|inner| Condition::Not(Box::new(inner))));
        builder.may_compare = may_compare;
    }
    files::condition(builder, source, node, &mut parts);
    artifact::condition(builder, source, node, &mut parts);
    says::condition(builder, source, node, &mut parts);
    parts.extend(source.approved.iter().map(|name| {
        if let Some(content) = artifact::approved(builder, name, node) {
            return Condition::Approved(Gate { name: name.clone(), content: Some(content) });
        }
        let path = source.file.as_ref().and_then(|written| paths::file(written, child(node, "file").span).ok());
        let content =
            path.map(|path| Content { fact: FactKey::new("file", &json!(path)), text: path, since: None, by: None });
        Condition::Approved(Gate { name: name.clone(), content })
    }));
    if parts.len() == 1 { parts.pop() } else { (!parts.is_empty()).then_some(Condition::All(parts)) }
}

/// The condition that a name stands for.
fn fact(builder: &mut Builder<'_>, source: &ConditionSource, node: &Node, seen: &mut Seen) -> Option<Condition> {
    let name = source.fact.as_ref()?;
    let span = child(node, "fact").span;
    let (facts, places) = builder.facts?;
    let Some(fact) = facts.get(name) else {
        let known = || facts.keys().map(String::as_str);
        let help = match facts.is_empty() {
            true => "define it under `facts` of the skill".to_owned(),
            false => did_you_mean(name, known()).unwrap_or_else(|| format!("the facts are {}", listed(known()))),
        };
        builder
            .findings
            .push(Finding::error(Code::ConfigValue, span, format!("no fact is called `{name}`")).suggest(help));
        return None;
    };
    if builder.in_facts.contains(name) {
        let message = format!("the fact `{name}` refers to itself");
        builder.findings.push(Finding::error(Code::ConfigValue, span, message).suggest("write the condition out"));
        return None;
    }
    builder.in_facts.push(name.clone());
    let built = build(builder, fact, child(places, name), seen);
    builder.in_facts.pop();
    built
}

fn list(builder: &mut Builder<'_>, sources: &[ConditionSource], nodes: &Node, seen: &mut Seen) -> Vec<Condition> {
    sources.iter().zip(nodes.items()).filter_map(|(source, node)| build(builder, source, node, seen)).collect()
}

fn calls(
    builder: &mut Builder<'_>,
    source: &ConditionSource,
    node: &Node,
    unchanged: Option<&Content>,
    seen: &mut Seen,
    parts: &mut Vec<Condition>,
) {
    let written = [
        ("ok", &source.ok, Wanted::Outcome(CallOutcome::Ok)),
        ("failed", &source.failed, Wanted::Outcome(CallOutcome::Failed)),
        ("refused", &source.refused, Wanted::Outcome(CallOutcome::Refused)),
        ("launched", &source.launched, Wanted::Outcome(CallOutcome::Launched)),
        ("cancelled", &source.cancelled, Wanted::Outcome(CallOutcome::Cancelled)),
        ("unknown", &source.unknown, Wanted::Outcome(CallOutcome::Unknown)),
        ("ended", &source.ended, Wanted::Ended),
    ];
    let same = same(builder, source, node);
    for (key, matchers, wanted) in written {
        let Some(matchers) = matchers else { continue };
        let sources: &[MatcherSource] = match matchers {
            Matchers::Each(all) => all,
            Matchers::One(one) => std::slice::from_ref(one),
        };
        for (source, node) in sources.iter().zip(child(node, key).items()) {
            let mut tests = Vec::new();
            for matcher in matcher::each(builder, source, node) {
                let atom = builder.next_atom();
                seen.push(Asked { matcher: matcher.clone(), span: node.span });
                let (unchanged, same) = (unchanged.cloned().map(Box::new), same.clone());
                tests.push(Condition::Call(CallTest { atom, wanted, matcher, unchanged, written: None, same }));
            }
            parts.extend(if tests.len() > 1 { Some(Condition::Any(tests)) } else { tests.pop() });
        }
    }
}

/// What two calls have to have in common.
fn same(builder: &mut Builder<'_>, source: &ConditionSource, node: &Node) -> Vec<Same> {
    if source.same.is_empty() {
        return Vec::new();
    }
    let span = child(node, "same").span;
    let of_calls = [&source.ok, &source.failed, &source.ended, &source.refused, &source.launched, &source.cancelled];
    if !builder.may_compare {
        let finding = Finding::error(Code::ConfigValue, span, "`same` compares with a call, and there is none here");
        let cause = "it belongs to the `requires` of a line of `allowed`, outside of `not`";
        builder.findings.push(finding.cause(cause).suggest("write it there, or remove it"));
    } else if of_calls.iter().all(|calls| calls.is_none()) {
        let finding = Finding::error(Code::ConfigMissing, span, "`same` says something about `ok`, which is missing");
        builder.findings.push(finding.suggest("add `ok` with the call that is evidence"));
    }
    let each = source.same.iter();
    each.map(|(its, mine)| Same { its: its.clone().into(), mine: mine.clone().into() }).collect()
}

/// The files that have to be as they were.
fn unchanged(builder: &mut Builder<'_>, source: &ConditionSource, node: &Node) -> Option<Content> {
    let (written, span) = (source.unchanged.as_ref()?, child(node, "unchanged").span);
    let found = builder.groups.pattern(written, span).and_then(|pattern| match pattern.starts_with('/') {
        true => Err(paths::outside(&pattern, span, "it is absolute")),
        false => Ok(Content { fact: FactKey::new("files", &json!(pattern)), text: pattern, since: None, by: None }),
    });
    found.map_err(|finding| builder.findings.push(finding)).ok()
}
