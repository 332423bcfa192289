//! `xtask/tidy-todo.toml`: paths that a check does not hold for yet. An entry that hides nothing is a fault itself, so the
//! list only shrinks.

use std::collections::BTreeMap;

use super::finding::Finding;
use xtask::failure::{Failure, Result};

const FILE: &str = "xtask/tidy-todo.toml";

/// For each check, the paths that are left out: files or folders.
#[derive(Default)]
pub(super) struct Todo(BTreeMap<String, Vec<String>>);

impl Todo {
    /// Reads the list from the workspace; without the file it is empty.
    pub(super) fn load(tree: &super::tree::Tree) -> Result<Self> {
        let Some(file) = tree.file(FILE) else { return Ok(Self::default()) };
        let lists = toml::from_str(&file.text).map_err(|error| Failure::new(format!("{FILE}: {error}")))?;
        Ok(Self(lists))
    }

    /// What is left of a check's findings, and the entries that hide none.
    pub(super) fn apply(&self, check: &str, findings: Vec<Finding>) -> Vec<Finding> {
        let listed = self.0.get(check).map_or(&[][..], Vec::as_slice);
        let unneeded = listed.iter().filter(|entry| !findings.iter().any(|finding| covers(entry, &finding.path)));
        let unneeded: Vec<Finding> = unneeded
            .map(|entry| Finding {
                path: FILE.into(),
                line: 0,
                what: format!("`{check}` holds for `{entry}`"),
                instead: "remove the entry",
            })
            .collect();
        let open = findings.into_iter().filter(|finding| !listed.iter().any(|entry| covers(entry, &finding.path)));
        open.chain(unneeded).collect()
    }
}

/// Whether a path is the entry's file or lies in its folder.
pub(super) fn covers(entry: &str, path: &str) -> bool {
    path.strip_prefix(entry.trim_end_matches('/')).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(path: &str) -> Finding {
        Finding { path: path.into(), line: 1, what: "wrong".into(), instead: "right" }
    }

    #[test]
    fn an_entry_hides_its_folder_and_is_a_fault_once_it_hides_nothing() {
        let todo = Todo(BTreeMap::from([("cycles".into(), vec!["a/src".into(), "b".into()])]));
        let left = todo.apply("cycles", vec![finding("a/src/x.rs"), finding("a/srcs.rs")]);
        let left: Vec<_> = left.iter().map(|finding| (finding.path.as_str(), finding.what.as_str())).collect();
        assert_eq!(left, [("a/srcs.rs", "wrong"), (FILE, "`cycles` holds for `b`")]);
    }
}
