//! The engine has no way to a file, a clock, a random number or a thread.

use super::finding::Finding;
use super::source::{code, without_comment};
use super::tree::Tree;

const INSTEAD: &str = "time comes in with the event and facts with the call; gather it in core/runtime";
const PACKAGE: &str = "phasegate-core";
const FOLDER: &str = "core/engine/src/";
/// `schemars` describes the event types, under a feature that only `cargo xtask gen` and tests switch on.
const DEPENDENCIES: &[&str] = &["once_cell", "phasegate-rules", "regex", "schemars", "serde", "serde_json", "sha2"];
const FOREIGN: &[&str] = &["std::", "extern crate std", "static mut", "thread_local"];

/// The engine is `no_std`, names nothing of `std`, and depends on the listed crates alone.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let root = tree.file("core/engine/src/lib.rs");
    if root.is_none_or(|file| !file.text.lines().any(|line| line == "#![no_std]")) {
        let path = format!("{FOLDER}lib.rs");
        findings.push(Finding { path, line: 0, what: "no `#![no_std]`".into(), instead: INSTEAD });
    }
    for file in tree.rust().filter(|file| file.path.starts_with(FOLDER)) {
        for (line, text) in code(&file.text) {
            let text = without_comment(text);
            for word in FOREIGN.iter().filter(|word| text.contains(**word)) {
                let what = format!("`{word}` in the engine");
                findings.push(Finding { path: file.path.clone(), line, what, instead: INSTEAD });
            }
        }
    }
    for package in tree.packages.iter().filter(|package| package.name == PACKAGE) {
        for dependency in package.dependencies.iter().filter(|dependency| dependency.kind.is_none()) {
            if !DEPENDENCIES.contains(&dependency.name.as_str()) {
                let what = format!("the engine depends on `{}`", dependency.name);
                findings.push(Finding { path: package.manifest_path.clone(), line: 0, what, instead: INSTEAD });
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tree::{package, tree};
    use super::*;

    #[test]
    fn std_and_further_dependencies_are_found() {
        let mut bad = tree(&[
            ("core/engine/src/lib.rs", "//! page\n#![no_std]\n"),
            ("core/engine/src/now.rs", "fn now() { std::time::Instant::now(); }\n// std:: in a comment\n"),
        ]);
        bad.packages.push(package("phasegate-core", &["serde", "rand"]));
        let found: Vec<_> = check(&bad).into_iter().map(|finding| (finding.line, finding.what)).collect();
        assert_eq!(found, [(1, "`std::` in the engine".to_string()), (0, "the engine depends on `rand`".to_string())]);
    }

    #[test]
    fn an_engine_with_std_is_found() {
        assert_eq!(check(&tree(&[("core/engine/src/lib.rs", "//! page\n")])).len(), 1);
    }
}
