//! Conditions on files: those of an artifact, and those that a path selects.

use phasegate_core::evidence::artifact::{ArtifactTest, Marks, PointerTest};
use phasegate_core::evidence::condition::{Comparison, Condition, Content, FactTest};
use phasegate_core::evidence::fact_test::times;
use phasegate_core::policy::matcher::ArgIs;
use phasegate_core::{Code, FactKey};
use serde_json::json;

use super::bounds;
use super::builder::{Builder, child};
use crate::files::paths;
use crate::read::node::Node;
use crate::read::report::Finding;
use crate::skills::instance::{names, sample};
use crate::source::ConditionSource;

/// Adds what `file` asks for.
pub(super) fn condition(builder: &mut Builder<'_>, source: &ConditionSource, node: &Node, parts: &mut Vec<Condition>) {
    misplaced(builder, source, node);
    let Some(written) = &source.file else { return };
    if source.approved.is_none() && (source.pointer.is_some() || is_glob(written)) {
        return selected(builder, source, node, written, parts);
    }
    let path = match paths::file(written, child(node, "file").span) {
        Ok(path) => path,
        Err(finding) => return builder.findings.push(finding),
    };
    let before = parts.len();
    let of_file = |is, text| {
        Condition::Fact(FactTest { fact: FactKey::new("file", &json!(path)), is, text: format!("file {path} {text}") })
    };
    parts.extend(source.exists.map(|exists| of_file(Comparison::Exists(exists), existence(exists).to_string())));
    parts.extend(
        source
            .sha256
            .as_ref()
            .map(|digest| of_file(Comparison::Equals(json!(digest)), format!("has the digest {digest}"))),
    );
    if let Some(text) = source.contains.clone() {
        let at_least = bounds::least(builder, source, node);
        parts.push(Condition::Fact(FactTest {
            fact: FactKey::new("count", &json!([path, text])),
            is: Comparison::Within { at_least, at_most: source.at_most },
            text: format!("file {path} contains `{text}` {}", times(at_least, source.at_most)),
        }));
    }
    // What is approved as it is now exists.
    if parts.len() == before && source.approved.is_none() {
        parts.push(of_file(Comparison::Exists(true), existence(true).to_string()));
    }
}

/// Adds what is asked of the files that a path selects.
fn selected(
    builder: &mut Builder<'_>,
    source: &ConditionSource,
    node: &Node,
    written: &str,
    parts: &mut Vec<Condition>,
) {
    let span = child(node, "file").span;
    let found = paths::pattern(written, span).and_then(|pattern| match pattern.starts_with('/') {
        true => Err(paths::outside(written, span, "it is absolute")),
        false => Ok(pattern),
    });
    let pattern = match found {
        Ok(pattern) => pattern,
        Err(finding) => return builder.findings.push(finding),
    };
    let content =
        Content { fact: FactKey::new("contents", &json!([pattern])), text: pattern.clone(), since: None, by: None };
    let there = asked(builder, source, node, &[pattern], ArtifactTest::there("", content.clone()));
    if source.exists == Some(false) {
        let none = Condition::Artifact(ArtifactTest::there("", content));
        parts.push(Condition::Not(Box::new(none)));
        if there.sha256.is_none() && there.marks.is_none() && there.pointer.is_none() {
            return;
        }
    }
    parts.push(Condition::Artifact(there));
}

/// The test with what a condition asks of the content of the files.
pub(super) fn asked(
    builder: &mut Builder<'_>,
    source: &ConditionSource,
    node: &Node,
    patterns: &[String],
    there: ArtifactTest,
) -> ArtifactTest {
    let pointer = pointer(builder, source, node);
    let text = source.contains.as_ref().filter(|_| source.pointer.is_none());
    let at_least = if text.is_some() { bounds::least(builder, source, node) } else { 0 };
    let marks = text.map(|text| Marks {
        fact: FactKey::new("counts", &json!([patterns, text])),
        text: text.clone(),
        at_least,
        at_most: source.at_most,
    });
    ArtifactTest { marks, pointer, sha256: source.sha256.clone(), ..there }
}

/// What has to be at a place in JSON.
fn pointer(builder: &mut Builder<'_>, source: &ConditionSource, node: &Node) -> Option<PointerTest> {
    let at = source.pointer.clone()?;
    if !(at.is_empty() || at.starts_with('/')) {
        let finding = Finding::error(Code::ConfigValue, child(node, "pointer").span, "`pointer` is not a JSON pointer");
        builder.findings.push(finding.suggest(format!("write `pointer: /{}`", at.replace('.', "/"))));
    }
    let written = [
        ("value", source.value.clone().map(ArgIs::Equal)),
        ("one_of", source.one_of.clone().map(ArgIs::OneOf)),
        ("begins", source.begins.clone().map(ArgIs::Begins)),
        ("contains", source.contains.clone().map(ArgIs::Contains)),
        ("present", source.present.map(ArgIs::Present)),
    ];
    let mut tests = written.into_iter().filter_map(|(key, is)| Some((key, is?)));
    let (first, is) = tests.next().unwrap_or(("present", ArgIs::Present(true)));
    if let Some((second, _)) = tests.next() {
        let message = format!("`{first}` and `{second}` are two tests of one place");
        let finding = Finding::error(Code::ConfigValue, child(node, second).span, message);
        builder.findings.push(finding.suggest("write them under `all`"));
    }
    Some(PointerTest { at, is })
}

/// Reports keys that say something about another that is missing.
fn misplaced(builder: &mut Builder<'_>, source: &ConditionSource, node: &Node) {
    let files = source.file.is_some() || source.artifact.is_some();
    let (text, pointer) = (source.contains.is_some() && source.pointer.is_none(), source.pointer.is_some());
    let said = [
        ("exists", source.exists.is_some(), "file", source.file.is_some()),
        ("sha256", source.sha256.is_some(), "file", files),
        ("contains", source.contains.is_some(), "file", files),
        ("at_least", source.at_least.is_some(), "contains", text),
        ("at_most", source.at_most.is_some(), "contains", text),
        ("pointer", pointer, "file", files),
        ("value", source.value.is_some(), "pointer", pointer),
        ("one_of", source.one_of.is_some(), "pointer", pointer),
        ("begins", source.begins.is_some(), "pointer", pointer),
        ("present", source.present.is_some(), "pointer", pointer),
    ];
    for (key, _, needs, _) in said.iter().filter(|(_, given, _, there)| *given && !there) {
        let counts = needs == &"contains" && source.contains.is_some();
        let message = match counts {
            true => format!("`{key}` counts a text in files, and `contains` is here about what is at `pointer`"),
            false => format!("`{key}` says something about `{needs}`, which is missing"),
        };
        let code = if counts { Code::ConfigValue } else { Code::ConfigMissing };
        let hint = if counts { format!("remove `{key}`") } else { format!("add `{needs}`, or remove `{key}`") };
        builder.findings.push(Finding::error(code, child(node, key).span, message).suggest(hint));
    }
}

/// Whether a path selects files by a pattern. An input is none.
fn is_glob(written: &str) -> bool {
    let plain = names(written).iter().fold(written.to_owned(), |text, name| text.replace(&sample(name), ""));
    plain.contains(['*', '?', '{'])
}

fn existence(exists: bool) -> &'static str {
    if exists { "exists" } else { "does not exist" }
}
