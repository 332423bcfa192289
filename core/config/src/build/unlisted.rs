//! What becomes of calls that no line lists.

use phasegate_core::Code;
use phasegate_core::policy::UnlistedLine;

use super::builder::{Builder, child};
use super::matcher;
use crate::read::node::{Node, Span};
use crate::read::report::Finding;
use crate::source::{UnlistedLineSource, UnlistedRuleSource};

/// Builds the lines of a list, each with its place.
pub(super) fn lines(
    builder: &mut Builder<'_>,
    source: Option<&UnlistedRuleSource>,
    node: &Node,
) -> (Vec<UnlistedLine>, Vec<Span>) {
    let (mut lines, mut places) = (Vec::new(), Vec::new());
    let Some(UnlistedRuleSource::List(sources)) = source else { return (lines, places) };
    for (at, (line, node)) in sources.iter().zip(node.items()).enumerate() {
        let UnlistedLineSource::Calls(calls) = line else {
            if at + 1 < sources.len() {
                let finding = Finding::error(Code::ConfigValue, node.span, "no line after the word is ever asked");
                builder.findings.push(finding.suggest("put the word at the end"));
            }
            continue;
        };
        let given = [&calls.allow, &calls.ask, &calls.deny].into_iter().filter(|list| !list.is_empty()).count();
        if given > 1 || (given == 0 && calls.why.is_some()) || (calls.why.is_some() && !calls.allow.is_empty()) {
            let finding = Finding::error(Code::ConfigValue, node.span, "a line has one of `allow`, `ask` and `deny`");
            builder
                .findings
                .push(finding.suggest("write each as a line of its own; `why` stands beside `ask` or `deny`"));
        }
        for (key, list) in [("allow", &calls.allow), ("ask", &calls.ask), ("deny", &calls.deny)] {
            let (matchers, spans) = matcher::list(builder, list, child(node, key));
            let (passes, asks) = (key == "allow", key == "ask");
            lines.extend(matchers.into_iter().map(|matcher| UnlistedLine {
                passes,
                asks,
                matcher,
                why: calls.why.clone(),
            }));
            places.extend(spans);
        }
    }
    (lines, places)
}
