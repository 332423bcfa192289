//! Artifacts as written, and what conditions and phases say of them.

use phasegate_core::evidence::artifact::{Artifact, ArtifactTest};
use phasegate_core::evidence::condition::{Condition, Content};
use phasegate_core::policy::matcher::Matcher;
use phasegate_core::{Code, FactKey};
use serde_json::json;

use super::builder::{Builder, child};
use super::{bounds, files, format, matcher};
use crate::files::paths;
use crate::read::node::{Node, Span};
use crate::read::report::Finding;
use crate::read::suggestion::{did_you_mean, listed};
use crate::source::{
    ArtifactPath, ConditionSource, MatcherObject, MatcherSource, PathSource, PhaseSource, SkillSource,
};

/// Builds the artifacts of a skill.
pub(super) fn all(builder: &mut Builder<'_>, source: &SkillSource, node: &Node) -> Vec<Artifact> {
    let mut artifacts = Vec::new();
    for (name, written) in &source.artifacts {
        let own = child(node, name);
        let nodes = child(own, "path");
        let (mut patterns, mut writes, mut deprecated) = (Vec::new(), Vec::new(), Vec::new());
        for (path, node) in written.path.iter().zip(nodes.items()) {
            let (path, old, node) = match path {
                ArtifactPath::Path(path) => (path, false, node),
                ArtifactPath::Object(object) => (&object.glob, object.deprecated, child(node, "glob")),
            };
            let found = paths::pattern(path, node.span).and_then(|pattern| match pattern.starts_with('/') {
                true => Err(paths::outside(path, node.span, "it is absolute")),
                false => Ok(pattern),
            });
            match found {
                Ok(pattern) => {
                    writes.extend(writing(builder, &pattern, node));
                    deprecated.extend(old.then(|| pattern.clone()));
                    patterns.push(pattern);
                }
                Err(finding) => builder.findings.push(finding),
            }
        }
        if !patterns.is_empty() && deprecated.len() == patterns.len() {
            let message = format!("every path of the artifact `{name}` is deprecated");
            let finding = Finding::error(Code::ConfigValue, nodes.span, message);
            builder.findings.push(finding.suggest("add the path that takes their place"));
        }
        let format = written
            .format
            .as_ref()
            .and_then(|written| format::format(builder, written, maker(source, name), child(own, "format")));
        let produced = source.phases.values().any(|phase| phase.produces.contains(name));
        let since = if produced { Some(builder.next_atom()) } else { None };
        let by = if produced && written.own { Some(builder.next_atom()) } else { None };
        if written.own && !produced {
            let message = format!("no phase produces the artifact `{name}`, so no run has files of its own there");
            let finding = Finding::error(Code::ConfigValue, child(own, "own").span, message);
            builder.findings.push(finding.suggest(format!("add `produces: [{name}]` to a phase, or remove `own`")));
        }
        let fact = FactKey::new("contents", &json!(patterns));
        let content = Content { fact, text: patterns.join(", "), since, by };
        artifacts.push(Artifact { name: name.clone(), paths: patterns, writes, content, deprecated, format });
    }
    artifacts
}

/// The one type of subagent that does the phases which produce an artifact.
fn maker<'s>(source: &'s SkillSource, name: &str) -> Option<&'s str> {
    let produces = |phase: &&PhaseSource| phase.produces.iter().any(|produced| produced == name);
    let mut kinds = source.phases.values().filter(produces).map(|phase| phase.done_by.as_deref());
    let first = kinds.next()?;
    first.filter(|_| kinds.all(|kind| kind == first))
}

/// The calls that write what a pattern selects.
fn writing(builder: &mut Builder<'_>, pattern: &str, node: &Node) -> Vec<Matcher> {
    let object = MatcherObject { writes: Some(PathSource::One(pattern.to_owned())), ..MatcherObject::default() };
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
    let Some(artifact) = place(builder, name).and_then(|at| builder.artifacts.get(at)) else {
        if source.contains.is_some() {
            bounds::least(builder, source, node);
        }
        return unknown(builder, name, child(node, "artifact").span);
    };
    let (patterns, there) = (artifact.paths.clone(), there(artifact));
    parts.push(Condition::Artifact(files::asked(builder, source, node, &patterns, there)));
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
    let format = artifact.format.as_ref().map(|format| format.text.clone());
    ArtifactTest { format, ..ArtifactTest::there(&artifact.name, artifact.content.clone()) }
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
