//! Servers are async; the path of a hook is not.

use super::finding::Finding;
use super::source::{code, without_comment};
use super::tree::Tree;

const INSTEAD: &str =
    "the hook path starts no async runtime; keep async in the guards of servers and in server adapters";
const WORDS: &[&str] = &["async fn", "async move", "async {", ".await", "tokio::", "async_trait"];
const ALLOWED: &[&str] = &[
    "adapters/api/src/guard.rs",
    "adapters/api/src/guarded",
    "core/service/src/guard.rs",
    "adapters/mcp/",
    "adapters/tower/",
    "xtask/src/tidy/",
    "conformance/src/play/relay",
    "conformance/mcp-server/",
    "guard/src/",
    "guard/tests/",
    "examples/lock-server/",
    "examples/notes-server/",
];

/// No async outside the fence.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.rust().filter(|file| !ALLOWED.iter().any(|path| file.path.starts_with(path))) {
        for (line, text) in code(&file.text) {
            if let Some(word) = WORDS.iter().find(|word| without_comment(text).contains(**word)) {
                let what = format!("`{}` outside the fence", word.trim());
                findings.push(Finding { path: file.path.clone(), line, what, instead: INSTEAD });
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn async_outside_the_fence_is_found() {
        let bad = ("core/runtime/src/store.rs", "\nasync fn load() {}\n");
        let trait_itself = ("adapters/api/src/guard.rs", "async fn handle() {}\n");
        let over_the_runtime = ("core/service/src/guard.rs", "async fn handle() {}\n");
        let found = check(&tree(&[bad, trait_itself, over_the_runtime]));
        assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [2]);
    }
}
