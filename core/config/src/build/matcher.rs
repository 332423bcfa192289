//! Lists of matchers as written to matchers.

use phasegate_core::Code;
use phasegate_core::policy::matcher::Matcher;

use super::builder::{Builder, child};
use super::{object, pattern};
use crate::read::node::{Node, Span};
use crate::read::report::Finding;
use crate::source::{MatcherObject, MatcherSource};

/// Builds the matchers of a list with their places.
pub(crate) fn list(builder: &mut Builder<'_>, sources: &[MatcherSource], nodes: &Node) -> (Vec<Matcher>, Vec<Span>) {
    let (mut matchers, mut spans) = (Vec::new(), Vec::new());
    for (source, node) in sources.iter().zip(nodes.items()) {
        for matcher in each(builder, source, node) {
            matchers.push(matcher);
            spans.push(node.span);
        }
    }
    (matchers, spans)
}

/// Builds the matchers of a list of what is forbidden: `**` alone means files outside of the project too.
pub(crate) fn forbidden(
    builder: &mut Builder<'_>,
    sources: &[MatcherSource],
    nodes: &Node,
) -> (Vec<Matcher>, Vec<Span>) {
    let (mut matchers, spans) = list(builder, sources, nodes);
    everywhere(&mut matchers);
    (matchers, spans)
}

/// Makes `**` alone mean files outside of the project too.
pub(super) fn everywhere(matchers: &mut [Matcher]) {
    for test in matchers.iter_mut().flat_map(|matcher| &mut matcher.paths).filter(|test| *test.pattern == *"**") {
        test.pattern = "{**,/**}".into();
    }
}

/// Builds the matchers that a line stands for: one for each name of `Edit|Write`.
pub(crate) fn each(builder: &mut Builder<'_>, source: &MatcherSource, node: &Node) -> Vec<Matcher> {
    match source {
        MatcherSource::Pattern(text) => {
            text.split('|').filter_map(|name| pattern::from_pattern(builder, name.trim(), node.span)).collect()
        }
        MatcherSource::Object(object) => {
            refuse(builder, object, node);
            let (except, _) = list(builder, &object.except, child(node, "except"));
            object::matchers(builder, object, node, &except)
        }
    }
}

/// Reports a condition of a line in a list that has none.
fn refuse(builder: &mut Builder<'_>, object: &MatcherObject, node: &Node) {
    let of_plan = [("from", object.from.is_some()), ("at", object.at.is_some())];
    if let Some((key, _)) = of_plan.into_iter().find(|(_, given)| *given) {
        let message = format!("`{key}` belongs to a line of `allowed` of a phase that names a plan by `from`");
        let finding = Finding::error(Code::ConfigValue, child(node, key).span, message);
        builder.findings.push(finding.suggest("remove it, or put the line under `allowed` of a phase"));
    }
    if object.until.is_some() {
        let message = "`until` belongs to a line of `forbidden` of a phase";
        let finding = Finding::error(Code::ConfigValue, child(node, "until").span, message);
        builder.findings.push(finding.suggest("remove it, or put the line under `forbidden` of a phase"));
    }
    if object.requires.is_some() {
        let finding = Finding::error(
            Code::ConfigValue,
            child(node, "requires").span,
            "`requires` belongs to a line of `allowed` of a skill or a phase",
        );
        builder.findings.push(finding.suggest("remove it, or list the call under `allowed`"));
    }
}
