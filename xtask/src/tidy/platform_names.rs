//! Only an adapter's own crate names its platform; whatever else needs to know asks the registry.

use super::finding::Finding;
use super::source::{code, words};
use super::tree::{TextFile, Tree};

const INSTEAD: &str = "ask the adapter (`capabilities`, `places`, `id`) instead of naming the platform";

/// Names that are found anywhere in a word.
const NAMES: &[&str] = &["claude", "opencode", "codex", "gemini", "copilot"];
/// Names that are words of their own only.
const SHORT: &[&str] = &["pi"];
/// Sources that may name platforms, by how their path begins: the list of adapters, this check, the drivers that
/// record and try the real clients; and a list with the name of a number.
const ALLOWED: &[&str] = &[
    "adapters/src/lib.rs",
    "xtask/src/tidy/platform_names.rs",
    "core/shell/src/python/modules.rs",
    "lab/src/record.rs",
    "lab/src/record/drivers.rs",
    "lab/src/record/setup.rs",
    "lab/src/record/claude_code",
    "lab/src/record/codex",
    "lab/src/record/scratch.rs",
    "lab/src/record/opencode",
    "lab/src/record/pi",
    "lab/src/e2e",
    "lab/src/overhead.rs",
    "lab/src/shims.rs",
    "lab/src/traffic.rs",
];

/// No source outside an adapter names a platform.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| is_checked(file)) {
        for (line, text) in code(&file.text) {
            if let Some(name) = named(text) {
                let what = format!("names the platform `{name}`");
                findings.push(Finding { path: file.path.clone(), line, what, instead: INSTEAD });
            }
        }
    }
    findings
}

fn is_checked(file: &TextFile) -> bool {
    let in_adapter = file.path.starts_with("adapters/") && !file.path.starts_with("adapters/api/");
    file.is_source() && !in_adapter && !ALLOWED.iter().any(|path| file.path.starts_with(path))
}

fn named(line: &str) -> Option<&'static str> {
    let lower = line.to_lowercase();
    let long = NAMES.iter().find(|name| lower.contains(**name));
    long.or_else(|| SHORT.iter().find(|name| words(&lower).any(|word| word == **name))).copied()
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn a_platform_outside_its_adapter_is_found() {
        let bad =
            ("core/runtime/src/driver/hook.rs", "\nlet x = \"CLAUDE_PROJECT_DIR\";\nlet api = 1;\nlet y = \"pi\";\n");
        let good = ("adapters/claude-code/src/lib.rs", "let x = \"claude\";\n");
        let test = ("cli/tests/init.rs", "let x = \"claude-code\";\n");
        let found = check(&tree(&[bad, good, test]));
        assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [2, 4]);
    }
}
