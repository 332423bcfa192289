//! Paths among the arguments of a tool that says nothing of paths.

use std::collections::BTreeMap;
use std::path::Path;

use phasegate_adapter::patch;
use phasegate_core::calls::analysis::UNKNOWN;
use serde_json::Value;

use super::arguments::{blanks_off, each_text, spellings};
use crate::project::paths::{display, resolve};

/// The most paths that are resolved; where there are more, one of them may be any.
const MAX_PATHS: usize = 256;
/// The longest text that is taken for a path, in bytes.
const MAX_BYTES: usize = 4096;
/// The longest end of a file's name, in bytes.
const MAX_END: usize = 16;

/// Them, each as policies write it, by the spelling in the arguments. `home` is the user's folder; empty where not known.
pub(in crate::analysis) fn paths(input: &Value, root: &Path, home: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut add = |text: &str| {
        if found.len() >= MAX_PATHS {
            found.insert(UNKNOWN.to_owned(), UNKNOWN.to_owned());
            return;
        }
        let named = spellings(text, home).into_iter().filter(|written| may_be_path(written, root));
        found.extend(named.filter_map(|written| {
            let path = resolve(root, Path::new(&written)).and_then(|path| display(root, &path))?;
            Some((written, path))
        }));
    };
    each_text(input, "", &mut |_, text| {
        // The text of a patch names the files that it is about.
        patch::paths(text).iter().for_each(|path| add(&path.written));
        if text.len() <= MAX_BYTES && !blanks_off(text).contains('\n') {
            add(text);
        }
    });
    found
}

/// Whether a text may be a path: it is absolute, or begins with something that is there, or has a name that ends as those of
/// files do. An address elsewhere is none.
fn may_be_path(text: &str, root: &Path) -> bool {
    let path = Path::new(text);
    let top = || path.components().next().is_some_and(|top| root.join(top).symlink_metadata().is_ok());
    let ends = || {
        let end = path.extension().and_then(|end| end.to_str());
        end.is_some_and(|end| (1..=MAX_END).contains(&end.len()) && end.chars().all(char::is_alphanumeric))
    };
    !text.is_empty() && !text.contains("://") && (path.is_absolute() || top() || ends())
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
            "in": {"one": text("x/../d"), "address": "https://example.com/a.py"}, "k.py": 1, "dir": "src", "trash": " t.py
",
            "text": ["a/b
c", "*** Begin Patch
*** Update File: e.py
@@"], "home": "~/h", "prose": "It is so."});
        let found = paths(&input, &root, root.to_str().unwrap());
        for (written, path) in [
            (text("src/a"), "src/a"),
            (text("link/b"), "src/b"),
            (text("x/../d"), "d"),
            ("src/c".into(), "src/c"),
            ("/etc/passwd".into(), "/etc/passwd"),
            ("e.py".into(), "e.py"),
            ("k.py".into(), "k.py"),
            ("t.py".into(), "t.py"),
            ("src".into(), "src"),
            (text("h"), "h"),
        ] {
            assert_eq!(found.get(&written).map(String::as_str), Some(path), "{found:#?}");
        }
        for none in ["plain", "https://example.com/a.py", "a/b\nc", "It is so."] {
            assert!(!found.contains_key(none), "{none}");
        }
        let many: Vec<String> = (0..300).map(|number| format!("{number}.py")).collect();
        assert!(paths(&json!({"files": many}), &root, "").contains_key(phasegate_core::calls::analysis::UNKNOWN));
    }
}
