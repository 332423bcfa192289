//! The documents a newcomer reads first are there, short, and say how to run things.

use super::finding::Finding;
use super::tree::Tree;

const MAP: &str = "ARCHITECTURE.md";
const MAP_LINES: usize = 250;
const README: &str = "README.md";
const COMMANDS: &[&str] = &["cargo xtask demo", "cargo xtask ci"];

/// The map is short, and the README holds its two commands.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut found =
        |path: &str, what: String, instead| findings.push(Finding { path: path.into(), line: 0, what, instead });
    match tree.file(MAP) {
        None => found(MAP, "missing".into(), "write the map, the decision table and the invariants"),
        Some(file) if file.text.lines().count() >= MAP_LINES => {
            let what = format!("{} lines, fewer than {MAP_LINES} wanted", file.text.lines().count());
            found(MAP, what, "move what is not map, table or invariant to docs/");
        }
        Some(_) => {}
    }
    for command in COMMANDS {
        if tree.file(README).is_none_or(|file| !file.text.contains(command)) {
            found(
                README,
                format!("does not name `{command}`"),
                "name the command that shows the main job, and the one that runs the tests",
            );
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn a_long_map_and_a_readme_without_commands_are_found() {
        let long = "a line\n".repeat(MAP_LINES);
        let found = check(&tree(&[("ARCHITECTURE.md", &long), ("README.md", "cargo xtask ci")]));
        assert_eq!(found.len(), 2, "{found:?}");
        assert_eq!(
            check(&tree(&[("ARCHITECTURE.md", "short"), ("README.md", "cargo xtask ci, cargo xtask demo")])),
            []
        );
        assert_eq!(check(&tree(&[])).len(), 3);
    }
}
