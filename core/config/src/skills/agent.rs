//! `${agent}`: the type of the subagent that does a phase, put into the texts of the phase. Elsewhere in a skill it is that of
//! the phases, where all that a subagent does are done by one type; in an artifact, that of the phases that produce it.

use std::collections::BTreeSet;

use phasegate_core::Code;

use crate::read::node::{Content, Entry, Node};
use crate::read::report::Finding;
use crate::skills::instance::{names, sample};

/// The name of the built-in value.
pub(crate) const AGENT: &str = "agent";

/// Puts the types of subagents into a skill.
pub(crate) fn put_in(mut root: Node, findings: &mut Vec<Finding>) -> Node {
    let phases: Vec<Phase> =
        root.entry("phases").map(|phases| phases.node.entries()).into_iter().flatten().map(Phase::of).collect();
    let Content::Map(entries) = &mut root.content else { return root };
    for entry in entries {
        match entry.key.as_str() {
            "phases" => {
                for (phase, known) in entries_of(&mut entry.node).iter_mut().zip(&phases) {
                    let why = format!("no subagent does the phase `{}`", phase.key);
                    texts(&mut phase.node, &Given { kind: known.done_by.as_deref(), why }, findings);
                }
            }
            "artifacts" => {
                for artifact in entries_of(&mut entry.node) {
                    let produces = |phase: &&Phase| phase.produces.contains(&artifact.key);
                    let why =
                        format!("the phases that produce `{}` are not done by one type of subagent", artifact.key);
                    texts(&mut artifact.node, &Given { kind: only(phases.iter().filter(produces)), why }, findings);
                }
            }
            _ => {
                let why = "the phases are not done by one type of subagent".to_owned();
                let done = phases.iter().filter(|phase| phase.done_by.is_some());
                texts(&mut entry.node, &Given { kind: only(done), why }, findings);
            }
        }
    }
    root
}

/// A text with the type of a subagent put in.
pub(crate) fn of_text(text: &str, kind: Option<&str>) -> String {
    kind.map_or_else(|| text.to_owned(), |kind| text.replace(&sample(AGENT), kind))
}

fn entries_of(node: &mut Node) -> &mut [Entry] {
    match &mut node.content {
        Content::Map(entries) => entries,
        Content::Null | Content::Bool(_) | Content::Number(_) | Content::Text(_) | Content::List(_) => &mut [],
    }
}

/// What a phase says of subagents.
struct Phase {
    done_by: Option<String>,
    produces: Vec<String>,
}

impl Phase {
    fn of(entry: &Entry) -> Self {
        let done_by = entry.node.entry("done_by").and_then(|done_by| done_by.node.text()).map(ToOwned::to_owned);
        let produces = entry.node.items_of("produces").iter().filter_map(Node::text).map(ToOwned::to_owned);
        Self { done_by, produces: produces.collect() }
    }
}

/// The one type of subagent that does these phases.
fn only<'p>(phases: impl Iterator<Item = &'p Phase>) -> Option<&'p str> {
    let kinds: BTreeSet<Option<&str>> = phases.map(|phase| phase.done_by.as_deref()).collect();
    kinds.first().copied().flatten().filter(|_| kinds.len() == 1)
}

/// The type that is put in, and why there is none.
struct Given<'a> {
    kind: Option<&'a str>,
    why: String,
}

fn texts(node: &mut Node, given: &Given<'_>, findings: &mut Vec<Finding>) {
    let span = node.span;
    match &mut node.content {
        Content::Text(text) => {
            if !names(text).iter().any(|name| name == AGENT) {
                return;
            }
            match given.kind {
                Some(kind) => *text = of_text(text, Some(kind)),
                None => findings.push(unknown(span, &given.why)),
            }
        }
        Content::List(items) => items.iter_mut().for_each(|item| texts(item, given, findings)),
        Content::Map(entries) => entries.iter_mut().for_each(|entry| texts(&mut entry.node, given, findings)),
        Content::Null | Content::Bool(_) | Content::Number(_) => {}
    }
}

/// That there is no type to put in.
pub(crate) fn unknown(span: crate::read::node::Span, why: &str) -> Finding {
    let message = format!("`{}` stands for nothing here: {why}", sample(AGENT));
    Finding::error(Code::ConfigValue, span, message).suggest("write the type of the subagent, or add `done_by`")
}
