//! The tools that rules know: those of hosts, those that settings describe, and those of servers that rules name.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::Code;
use phasegate_core::events::event::builtin_labels;
use phasegate_core::rules::RuleTool;
use phasegate_rules::{ToolShape, action_id, builtin, is_own_action};

use super::spans::span;
use crate::input::Known;
use crate::read::node::{Node, Span};
use crate::read::report::Finding;
use crate::read::suggestion::{did_you_mean, listed};
use crate::source::RuleToolSource;

/// The server whose tools are what an agent does with the guard itself.
const GUARD_SERVER: &str = "phasegate";

/// What settings say of tools, by the ids of their actions.
#[derive(Clone, Debug, Default)]
pub(super) struct Tools(BTreeMap<String, RuleTool>);

impl Tools {
    pub(super) fn read(
        &mut self,
        source: &BTreeMap<String, RuleToolSource>,
        node: &Node,
        report: &mut dyn FnMut(Finding),
    ) {
        for (name, tool) in source {
            let at = node.entry(name).map_or(node.span, |entry| entry.key_span);
            if let Some(finding) = odd_name(name, at).or_else(|| odd_word(tool, at)) {
                report(finding);
                continue;
            }
            let own = self.0.entry(id(name)).or_default();
            own.labels.extend(tool.labels.iter().map(|label| label.trim_start_matches('@').to_string()));
            own.arguments.extend(tool.arguments.iter().map(|(name, kind)| (name.clone(), *kind)));
        }
    }

    /// The tools that rules can name, with what they can read of each. A tool of a server that a text names is one.
    pub(super) fn shapes(&self, texts: &[&str]) -> Vec<ToolShape> {
        let mut shapes = builtin(|name| builtin_labels(name).into_iter().collect());
        for (action, tool) in &self.0 {
            match shapes.iter_mut().find(|shape| shape.action == *action) {
                Some(shape) => {
                    shape.labels.extend(tool.labels.iter().cloned());
                    shape.labels.sort();
                    shape.labels.dedup();
                    shape.arguments.extend(tool.arguments.clone());
                }
                None => shapes.push(ToolShape {
                    action: action.clone(),
                    labels: tool.labels.iter().cloned().collect(),
                    arguments: tool.arguments.clone(),
                }),
            }
        }
        let named: BTreeSet<&str> = texts.iter().flat_map(|text| named(text)).map(|(name, _)| name).collect();
        for name in named {
            if !shapes.iter().any(|shape| shape.action == name) {
                shapes.push(ToolShape { action: name.to_string(), labels: Vec::new(), arguments: BTreeMap::new() });
            }
        }
        shapes
    }

    pub(super) fn into_policy(self) -> BTreeMap<String, RuleTool> {
        self.0
    }
}

/// The id of the action of a tool that settings name.
fn id(name: &str) -> String {
    match name.split_once('/') {
        Some((server, tool)) => action_id(Some(server), tool),
        None => action_id(None, name),
    }
}

fn odd_name(name: &str, at: Span) -> Option<Finding> {
    let empty = name.is_empty() || name.starts_with('/') || name.ends_with('/') || name.ends_with("/*");
    let odd =
        empty || name.starts_with('@') || name.chars().any(|letter| letter.is_control() || "\"\\".contains(letter));
    odd.then(|| {
        Finding::error(Code::ConfigValue, at, format!("`{name}` is no name of a tool"))
            .suggest("write `SERVER/TOOL`, or the name of a tool of the host")
    })
}

fn odd_word(tool: &RuleToolSource, at: Span) -> Option<Finding> {
    let odd =
        |word: &&String| word.is_empty() || word.chars().any(|letter| letter.is_control() || "\"\\".contains(letter));
    let word = tool.labels.iter().chain(tool.arguments.keys()).find(odd)?;
    Some(Finding::error(Code::ConfigValue, at, format!("`{word}` is no name of a label or an argument")))
}

/// The tools of servers that a text names as actions, and the servers as `SERVER/*`, each with the byte where it stands.
fn named(text: &str) -> Vec<(&str, usize)> {
    const BEFORE: &str = "Action::\"";
    text.match_indices(BEFORE)
        .filter_map(|(at, _)| {
            let start = at + BEFORE.len();
            let (name, _) = text.get(start..)?.split_once('"')?;
            let plain = !name.contains(['\\', '\n']) && !name.starts_with('@');
            let of_server = name.split_once('/').is_some_and(|(server, tool)| !server.is_empty() && !tool.is_empty());
            (plain && of_server).then_some((name, start))
        })
        .collect()
}

/// The tools that a text names and that their server, as far as it is known, does not have.
pub(super) fn unknown(text: &str, known: &Known) -> Vec<Finding> {
    let of =
        |server: &str| known.servers.tools.iter().find(|(name, _)| action_id(Some(name), "") == format!("{server}/"));
    let mut findings = Vec::new();
    for (name, start) in named(text) {
        let Some((server, tool)) = name.split_once('/') else { continue };
        if server == GUARD_SERVER && tool != "*" && !is_own_action(name) {
            let at = span(text, &(start..start + name.len()));
            let found = Finding::warning(Code::RulePointless, at, format!("there is no action `{name}`"))
                .cause("an agent does nothing of this name with the guard, and no tool has it");
            let own = builtin(|_| Vec::new());
            let own = own.iter().map(|shape| shape.action.as_str()).filter(|action| is_own_action(action));
            findings.push(found.suggest(did_you_mean(name, own.clone()).unwrap_or_else(|| listed(own))));
            continue;
        }
        let Some((_, tools)) = of(server).filter(|(_, tools)| !tools.is_empty() && tool != "*") else { continue };
        if !tools.contains(tool) {
            let at = span(text, &(start..start + name.len()));
            let found = Finding::warning(Code::RulePointless, at, format!("server `{server}` has no tool `{tool}`"));
            findings.push(match did_you_mean(tool, tools.iter().map(String::as_str)) {
                Some(meant) => found.suggest(meant),
                None => found,
            });
        }
    }
    findings
}
