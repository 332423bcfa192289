//! Artifacts as written, and what conditions and phases say of them.

use phasegate_core::artifact::{Artifact, ArtifactTest, Marks};
use phasegate_core::condition::{Condition, Content};
use phasegate_core::matcher::Matcher;
use phasegate_core::{Code, FactKey};
use serde_json::json;

use super::builder::{Builder, child};
use super::{bounds, matcher};
use crate::node::{Node, Span};
use crate::paths;
use crate::report::Finding;
use crate::source::{ConditionSource, MatcherObject, MatcherSource, PhaseSource, SkillSource};
use crate::suggestion::{did_you_mean, listed};

/// Builds the artifacts of a skill.
pub(super) fn all(builder: &mut Builder<'_>, source: &SkillSource, node: &Node) -> Vec<Artifact> {
    let mut artifacts = Vec::new();
    for (name, written) in &source.artifacts {
        let nodes = child(child(node, name), "path");
        let (mut patterns, mut writes) = (Vec::new(), Vec::new());
        for (path, node) in written.path.iter().zip(nodes.items()) {
            let found = paths::pattern(path, node.span).and_then(|pattern| match pattern.starts_with('/') {
                true => Err(paths::outside(path, node.span, "it is absolute")),
                false => Ok(pattern),
            });
            match found {
                Ok(pattern) => {
                    writes.extend(writing(builder, &pattern, node));
                    patterns.push(pattern);
                }
                Err(finding) => builder.findings.push(finding),
            }
        }
        let produced = source.phases.values().any(|phase| phase.produces.contains(name));
        let since = if produced { Some(builder.next_atom()) } else { None };
        let content = Content { fact: FactKey::new("contents", &json!(patterns)), text: patterns.join(", "), since };
        artifacts.push(Artifact { name: name.clone(), paths: patterns, writes, content });
    }
    artifacts
}

/// The calls that write what a pattern selects.
fn writing(builder: &mut Builder<'_>, pattern: &str, node: &Node) -> Vec<Matcher> {
    let object = MatcherObject { writes: Some(pattern.to_owned()), ..MatcherObject::default() };
    matcher::each(builder, &MatcherSource::Object(Box::new(object)), node)
}

/// The places of the artifacts that a phase produces.
pub(super) fn produced(builder: &mut Builder<'_>, source: &PhaseSource, node: &Node) -> Vec<usize> {
    let mut places = Vec::new();
    for (name, node) in source.produces.iter().zip(child(node, "produces").items()) {
        match place(builder, name) {
            Some(at) => places.extend((!places.contains(&at)).then_some(at)),
            None => unknown(builder, name, node.span),
        }
    }
    places
}

/// The condition that an artifact is there, besides what else completes a phase.
pub(super) fn completed_by(
    builder: &Builder<'_>,
    produces: &[usize],
    done_when: Option<Condition>,
) -> Option<Condition> {
    let mut parts = match done_when {
        Some(Condition::All(parts)) => parts,
        other => other.into_iter().collect(),
    };
    for artifact in produces.iter().filter_map(|at| builder.artifacts.get(*at)) {
        // A condition on what stands in it asks for a file too.
        let asks = |part: &Condition| matches!(part, Condition::Artifact(test) if test.name == artifact.name);
        if !parts.iter().any(asks) {
            parts.push(Condition::Artifact(there(artifact)));
        }
    }
    if parts.len() > 1 { Some(Condition::All(parts)) } else { parts.pop() }
}

/// Adds what `artifact` asks for.
pub(super) fn condition(builder: &mut Builder<'_>, source: &ConditionSource, node: &Node, parts: &mut Vec<Condition>) {
    let Some(name) = &source.artifact else { return };
    if source.file.is_some() {
        let finding =
            Finding::error(Code::ConfigValue, child(node, "file").span, "`file` and `artifact` are two conditions");
        builder.findings.push(finding.suggest("write them under `all`"));
    }
    let at_least = if source.contains.is_some() { bounds::least(builder, source, node) } else { 0 };
    let Some(artifact) = place(builder, name).and_then(|at| builder.artifacts.get(at)) else {
        return unknown(builder, name, child(node, "artifact").span);
    };
    let marks = source.contains.as_ref().map(|text| Marks {
        fact: FactKey::new("counts", &json!([artifact.paths, text])),
        text: text.clone(),
        at_least,
        at_most: source.at_most,
    });
    parts.push(Condition::Artifact(ArtifactTest { marks, ..there(artifact) }));
}

/// What the approval of a name is of, where an artifact has the name.
pub(super) fn approved(builder: &mut Builder<'_>, name: &str, node: &Node) -> Option<Content> {
    let Some(at) = place(builder, name) else {
        misspelt(builder, name, node);
        return None;
    };
    let content = builder.artifacts.get(at).map(|artifact| artifact.content.clone())?;
    if let Some(file) = node.entry("file") {
        let message = format!("`{name}` is an artifact, and its approval is of its files");
        builder.findings.push(Finding::error(Code::ConfigValue, file.key_span, message).suggest("remove `file`"));
    }
    Some(content)
}

/// Reports a name that is probably meant to be an artifact's: its approval would be of no files.
fn misspelt(builder: &mut Builder<'_>, name: &str, node: &Node) {
    let meant = did_you_mean(name, builder.artifacts.iter().map(|artifact| artifact.name.as_str()));
    let Some(meant) = meant.filter(|_| node.entry("file").is_none()) else { return };
    let message = format!("there is no artifact `{name}`, so its approval is of no files");
    let finding = Finding::warning(Code::ConfigValue, child(node, "approved").span, message);
    builder.findings.push(finding.suggest(meant));
}

fn there(artifact: &Artifact) -> ArtifactTest {
    ArtifactTest { name: artifact.name.clone(), content: artifact.content.clone(), marks: None }
}

/// The artifact of this name, which is reported where there is none.
pub(super) fn named(builder: &mut Builder<'_>, name: &str, span: Span) -> Option<Artifact> {
    let found = place(builder, name).and_then(|at| builder.artifacts.get(at)).cloned();
    if found.is_none() {
        unknown(builder, name, span);
    }
    found
}

fn place(builder: &Builder<'_>, name: &str) -> Option<usize> {
    builder.artifacts.iter().position(|artifact| artifact.name == name)
}

fn unknown(builder: &mut Builder<'_>, name: &str, span: Span) {
    let known = || builder.artifacts.iter().map(|artifact| artifact.name.as_str());
    let suggestion = did_you_mean(name, known()).unwrap_or_else(|| match known().next() {
        Some(_) => format!("the artifacts are {}", listed(known())),
        None => "name its files under `artifacts` of the skill".to_owned(),
    });
    let message = format!("there is no artifact `{name}`");
    builder.findings.push(Finding::error(Code::ConfigValue, span, message).suggest(suggestion));
}
