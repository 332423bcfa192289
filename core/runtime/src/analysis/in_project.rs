//! Paths of the project among the arguments of a tool that says nothing of paths.

use std::collections::BTreeMap;
use std::path::Path;

use phasegate_adapter::patch;
use serde_json::Value;

use crate::paths::{display, resolve};

/// The most paths that are resolved.
const MAX_PATHS: usize = 256;
/// The longest text that is taken for a path, in bytes.
const MAX_BYTES: usize = 4096;

/// Them, each relative to the project, as the arguments give them.
pub(super) fn paths(input: &Value, root: &Path) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    collect(input, root, &mut found);
    found
}

fn collect(value: &Value, root: &Path, found: &mut BTreeMap<String, String>) {
    match value {
        Value::String(text) if text.contains('\n') => {
            // The text of a patch names the files that it is about.
            patch::paths(text).iter().for_each(|path| add(&path.written, root, found));
        }
        Value::String(text) => add(text, root, found),
        Value::Array(items) => items.iter().for_each(|item| collect(item, root, found)),
        Value::Object(fields) => fields.values().for_each(|item| collect(item, root, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn add(text: &str, root: &Path, found: &mut BTreeMap<String, String>) {
    if found.len() < MAX_PATHS && may_be_path(text) {
        let written = text.strip_prefix("file://").unwrap_or(text).trim();
        let inside = resolve(root, Path::new(written)).filter(|path| path.starts_with(root));
        found.extend(inside.and_then(|path| display(root, &path)).map(|path| (text.to_owned(), path)));
    }
}

/// Whether a text may be a path: it has a folder or an end, and is no address elsewhere.
fn may_be_path(text: &str) -> bool {
    let elsewhere = text.contains("://") && !text.starts_with("file://");
    text.len() <= MAX_BYTES && text.contains(['/', '.']) && !elsewhere
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::paths;

    #[test]
    fn paths_of_the_project_are_found_wherever_they_stand() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("src")).unwrap();
        std::os::unix::fs::symlink(root.join("src"), root.join("link")).unwrap();
        let text = |path: &str| root.join(path).to_str().unwrap().to_string();
        let input = json!({"files": [text("src/a"), text("link/b"), "src/c", "/etc/passwd", "plain"],
            "in": {"one": text("x/../d"), "address": "https://example.com/a.py"},
            "text": ["a/b\nc", "*** Begin Patch\n*** Update File: e.py\n@@"]});
        let found = paths(&input, &root);
        let wanted = [
            (text("src/a"), "src/a"),
            (text("link/b"), "src/b"),
            (text("x/../d"), "d"),
            ("src/c".to_string(), "src/c"),
            ("e.py".to_string(), "e.py"),
        ];
        assert_eq!(found, wanted.into_iter().map(|(text, path)| (text, path.to_string())).collect());
    }
}
