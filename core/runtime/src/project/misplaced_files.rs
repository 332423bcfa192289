//! Files of artifacts that lie where they no longer belong.

use std::path::Path;

use phasegate_config::{Diagnostic, Severity};
use phasegate_core::evidence::artifact::Artifact;
use phasegate_core::{Code, FactKey, FactValue, Facts, Policy};
use serde_json::{Value, json};

use crate::facts::{World, gather};

/// A warning for each file of the project that a deprecated path of an artifact selects, and no other path of it.
pub fn deprecated_files(root: &Path, policy: &Policy) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    for (skill, artifact) in
        policy.skills.iter().flat_map(|skill| skill.artifacts.iter().map(move |artifact| (skill, artifact)))
    {
        let old = selected(root, &artifact.deprecated);
        let others = if old.is_empty() { Vec::new() } else { selected(root, &current(artifact)) };
        found.extend(old.iter().filter(|path| !others.contains(path)).map(|path| warning(path, &skill.name, artifact)));
    }
    found.sort_by(|one, other| (&one.path, &one.message).cmp(&(&other.path, &other.message)));
    found
}

/// The files that patterns select; none if that is not known.
fn selected(root: &Path, patterns: &[String]) -> Vec<String> {
    if patterns.is_empty() {
        return Vec::new();
    }
    let key = FactKey::new("contents", &json!(patterns));
    let mut facts = Facts::new();
    let policy = Policy::default();
    gather(World { root, project: None, policy: &policy, trial: None }, std::slice::from_ref(&key), &mut facts);
    match facts.remove(&key).map(|fact| fact.value) {
        Some(FactValue::Known(Value::Object(files))) => files.into_iter().map(|(path, _)| path).collect(),
        _ => Vec::new(),
    }
}

/// The paths that are not deprecated.
fn current(artifact: &Artifact) -> Vec<String> {
    artifact.paths.iter().filter(|path| !artifact.deprecated.contains(path)).cloned().collect()
}

fn warning(path: &str, skill: &str, artifact: &Artifact) -> Diagnostic {
    let current: Vec<String> = current(artifact).iter().map(|path| format!("`{path}`")).collect();
    Diagnostic {
        code: Code::ConfigValue,
        severity: Severity::Warning,
        path: path.to_owned(),
        line: 1,
        column: 1,
        span: (0, 0),
        message: format!(
            "the skill `{skill}` takes this for its artifact `{}`, in a place that is deprecated",
            artifact.name
        ),
        cause: None,
        suggestion: Some(format!("move it to where {} selects it", current.join(" or "))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_that_no_other_path_selects_are_told() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        for path in [".claude/specs/a.md", ".claude/specs/deep/b.md", ".claude/specs/c.txt", ".opencode/specs/d.md"] {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), "text").unwrap();
        }
        let policy = phasegate_config::shipped_policy("planned-feature", None).unwrap();
        let found = deprecated_files(&root, &policy);
        let paths: Vec<&str> = found.iter().map(|one| one.path.as_str()).collect();
        assert_eq!(paths, [".claude/specs/a.md", ".claude/specs/deep/b.md"]);
        assert_eq!(found[0].suggestion.as_deref(), Some("move it to where `.opencode/specs/**/*.md` selects it"));
    }
}
