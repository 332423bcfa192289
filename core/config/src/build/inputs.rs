//! Inputs as written, and where a skill puts them in.

use std::collections::BTreeSet;

use phasegate_core::Code;
use phasegate_core::policy::Start;
use phasegate_core::policy::input::{BRANCH, Input, PART, fault};

use super::builder::{Builder, child};
use crate::read::node::{Node, Span};
use crate::read::report::Finding;
use crate::read::suggestion::{did_you_mean, listed};
use crate::skills::agent::AGENT;
use crate::skills::instance::{names, sample};
use crate::source::{SkillSource, TaskSource};

/// Whether a phase runs other skills, which may use the inputs.
fn runs_others(source: &SkillSource) -> bool {
    source.phases.values().any(|phase| phase.run.is_some())
}

/// The names that no input has: they are for the agent that acts, for a branch and for a place.
const RESERVED: [&str; 3] = [AGENT, BRANCH, PART];

/// Builds the inputs of a skill, and looks for names in `${}` that are none of them.
pub(super) fn all(builder: &mut Builder<'_>, source: &SkillSource, root: &Node) -> Vec<Input> {
    let mut inputs = Vec::new();
    // What stands in a file that the skill names, stands there where it is named.
    let of_files = core::mem::take(&mut builder.in_formats);
    let mut written: Vec<(&str, Span)> = of_files.iter().map(|(text, span)| (text.as_str(), *span)).collect();
    root.entries().iter().filter(|entry| entry.key != "inputs").for_each(|entry| texts(&entry.node, &mut written));
    let prompts = prompts(builder, source, root);
    written.extend(prompts.iter().map(|(text, span)| (*text, *span)));
    let used: BTreeSet<String> = written.iter().flat_map(|(text, _)| names(text)).collect();
    for entry in child(root, "inputs").entries() {
        let Some(pattern) = source.inputs.get(&entry.key) else { continue };
        let finding = named(&entry.key, entry.key_span).or_else(|| matches(pattern, entry.node.span)).or_else(|| {
            (!used.contains(&entry.key) && !runs_others(source)).then(|| unused(&entry.key, entry.key_span))
        });
        builder.findings.extend(finding);
        inputs.push(Input { name: entry.key.clone(), pattern: pattern.clone(), value: None });
    }
    if builder.lenient {
        return inputs;
    }
    let by_branch = used.contains(BRANCH);
    let known = || inputs.iter().map(|input| input.name.as_str());
    for (text, span) in written {
        let is_unknown = |name: &String| !source.inputs.contains_key(name) && !RESERVED.contains(&name.as_str());
        for name in names(text).into_iter().filter(is_unknown) {
            let message = format!("`${{{name}}}` is no input of the skill");
            let suggestion = did_you_mean(&name, known()).unwrap_or_else(|| match inputs.as_slice() {
                [] => format!("add `inputs: {{{name}: \"[a-z0-9-]+\"}}` to the skill"),
                _ => format!("the inputs are {}", listed(known())),
            });
            builder.findings.push(Finding::error(Code::ConfigValue, span, message).suggest(suggestion));
        }
    }
    // The branch is an input that a parallel phase gives.
    inputs.extend(by_branch.then(|| Input { name: BRANCH.to_owned(), pattern: ".+".to_owned(), value: None }));
    inputs
}

/// The texts of files that the phases name, with the places of their names.
fn prompts<'f>(builder: &Builder<'f>, source: &SkillSource, root: &Node) -> Vec<(&'f str, Span)> {
    let Some(prompts) = builder.texts.map(|texts| &texts.prompts) else { return Vec::new() };
    let phases = child(root, "phases").entries().iter();
    let named = phases.filter_map(|entry| match &source.phases.get(&entry.key)?.task {
        TaskSource::File(named) => {
            let span = child(child(&entry.node, "do"), "file").span;
            Some((prompts.known(&named.file)?, span))
        }
        TaskSource::Text(_) => None,
    });
    named.collect()
}

/// A skill with inputs begins only where somebody can give their values. A call that it has to begin before is refused.
pub(super) fn starts(builder: &mut Builder<'_>, inputs: &[Input], start: &[Start], root: &Node) {
    if inputs.is_empty() || start.iter().all(|start| matches!(start, Start::Invocation | Start::Before(_))) {
        return;
    }
    let finding = Finding::error(
        Code::ConfigValue,
        child(root, "start").span,
        "a skill with `inputs` begins by no session and no prompt: they give no values",
    );
    builder.findings.push(finding.suggest("remove the other lines of `start`, or `inputs`"));
}

/// The texts of a tree with their places.
pub(super) fn texts<'n>(node: &'n Node, found: &mut Vec<(&'n str, Span)>) {
    if let Some(text) = node.text() {
        found.push((text, node.span));
        return;
    }
    for entry in node.entries() {
        found.push((&entry.key, entry.key_span));
        texts(&entry.node, found);
    }
    if node.entries().is_empty() {
        node.items().iter().filter(|item| !std::ptr::eq(*item, node)).for_each(|item| texts(item, found));
    }
}

fn named(name: &str, span: Span) -> Option<Finding> {
    if names(&sample(name)).is_empty() {
        let finding = Finding::error(Code::ConfigValue, span, format!("`{name}` is no name of an input"));
        return Some(finding.suggest("a name is small letters, digits, `_` and `-`, a letter first"));
    }
    RESERVED.contains(&name).then(|| {
        Finding::error(Code::ConfigValue, span, format!("no input is called `{name}`: the name is reserved"))
            .suggest("give it another name")
    })
}

fn matches(pattern: &str, span: Span) -> Option<Finding> {
    let fault = fault(pattern)?;
    let last = fault.lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned();
    Some(
        Finding::error(Code::ConfigValue, span, format!("`{pattern}` is no regular expression"))
            .cause(last)
            .suggest("write one such as `[A-Z]+-[0-9]+`"),
    )
}

fn unused(name: &str, span: Span) -> Finding {
    Finding::warning(Code::ConfigValue, span, format!("nothing uses the input `{name}`"))
        .suggest(format!("write `{}` into a path, a command or a text, or remove the input", sample(name)))
}
