//! Absolute paths of the project among the arguments of a tool that says nothing of paths.

use std::collections::BTreeMap;
use std::path::Path;

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
        Value::String(text) if found.len() < MAX_PATHS && text.len() <= MAX_BYTES && Path::new(text).is_absolute() => {
            let inside = resolve(root, Path::new(text)).filter(|path| path.starts_with(root));
            found.extend(inside.and_then(|path| display(root, &path)).map(|path| (text.clone(), path)));
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, root, found)),
        Value::Object(fields) => fields.values().for_each(|item| collect(item, root, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::paths;

    #[test]
    fn absolute_paths_of_the_project_are_found_wherever_they_stand() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("src")).unwrap();
        std::os::unix::fs::symlink(root.join("src"), root.join("link")).unwrap();
        let text = |path: &str| root.join(path).to_str().unwrap().to_string();
        let input =
            json!({"files": [text("src/a"), text("link/b"), "src/c", "/etc/passwd"], "in": {"one": text("x/../d")}});
        let found = paths(&input, &root);
        let wanted = [(text("src/a"), "src/a"), (text("link/b"), "src/b"), (text("x/../d"), "d")];
        assert_eq!(found, wanted.into_iter().map(|(text, path)| (text, path.to_string())).collect());
    }
}
