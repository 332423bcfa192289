//! Every crate opts in to the workspace's lints and licence, and takes versions from the root.

use super::finding::Finding;
use super::tree::Tree;

/// Keys that every manifest of a crate must have, as they are written.
const WANTED: &[(&str, &str)] = &[
    ("[lints]\nworkspace = true", "add `[lints]` with `workspace = true`"),
    ("license.workspace = true", "add `license.workspace = true` under `[package]`"),
    ("edition.workspace = true", "add `edition.workspace = true` under `[package]`"),
];

/// The keys are there, and no version is set beside the root's.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with("/Cargo.toml") && !is_own_workspace(&file.text)) {
        for (text, instead) in WANTED {
            if !file.text.contains(text) {
                let what = format!("no `{}`", text.replace('\n', " "));
                findings.push(Finding { path: file.path.clone(), line: 0, what, instead });
            }
        }
        for (at, line) in file.text.lines().enumerate() {
            if line.contains("version = \"") {
                let what = "a version of its own".to_string();
                let instead =
                    "declare the version in the root's `[workspace.dependencies]` and write `workspace = true`";
                findings.push(Finding { path: file.path.clone(), line: at + 1, what, instead });
            }
        }
    }
    findings
}

/// A separate workspace cannot inherit.
fn is_own_workspace(text: &str) -> bool {
    text.lines().any(|line| line == "[workspace]")
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn a_crate_without_lints_or_with_a_version_is_found() {
        let good = "[package]\nlicense.workspace = true\nedition.workspace = true\n[lints]\nworkspace = true\n";
        assert_eq!(check(&tree(&[("a/Cargo.toml", good)])), []);
        let lines = |text: &str| check(&tree(&[("a/Cargo.toml", text)])).iter().map(|f| f.line).collect::<Vec<_>>();
        assert_eq!(lines(&good.replace("[lints]\nworkspace = true\n", "")), [0]);
        assert_eq!(lines(&format!("{good}[dependencies]\nx = {{ version = \"1\" }}\n")), [7]);
    }
}
