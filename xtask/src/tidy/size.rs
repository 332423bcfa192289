//! The program does not grow unseen: its lines of code have a budget, which only a change of this file raises.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::source::code;
use super::tree::{TextFile, Tree};

/// The most lines of code of what ships, without tests and tools. Who makes it shorter lowers this number in the same commit.
const LINES: usize = 99_400;
/// How far the number may lie above what is there.
const SLACK: usize = 500;
/// Where the number stands.
const HERE: &str = "xtask/src/tidy/size.rs";
/// Folders of what does not ship.
const TOOLS: [&str; 3] = ["lab/", "xtask/", "conformance/"];
/// Folders of tests and examples, wherever they are.
const TESTS: [&str; 4] = ["/tests/", "/benches/", "/examples/", "/fuzz/"];

/// What ships is within its budget, and the budget fits it.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    of(lines(tree), LINES)
}

fn of(lines: usize, budget: usize) -> Vec<Finding> {
    let finding = |what, instead| vec![Finding { path: HERE.into(), line: 0, what, instead }];
    if lines > budget {
        let what = format!("{lines} lines of code ship, at most {budget}");
        return finding(what, "remove what is not needed; else raise the number, and say in the commit what earns it");
    }
    if lines.saturating_add(SLACK) < budget {
        let what = format!("{lines} lines of code ship, and {budget} are allowed");
        return finding(what, "lower the number, so that what was won is kept");
    }
    Vec::new()
}

/// The lines of code of what ships.
fn lines(tree: &Tree) -> usize {
    let tests: BTreeSet<String> = tree.rust().flat_map(test_modules).collect();
    let is_test =
        |path: &str| tests.iter().any(|test| path == format!("{test}.rs") || path.starts_with(&format!("{test}/")));
    let ships = |path: &str| {
        !TESTS.iter().any(|folder| format!("/{path}").contains(folder))
            && !TOOLS.iter().any(|folder| path.starts_with(folder))
    };
    let files = tree.rust().filter(|file| ships(&file.path) && !is_test(&file.path));
    files.map(|file| code(&file.text).count()).sum()
}

/// The modules in files of their own that are compiled for tests alone: their paths without `.rs`.
fn test_modules(file: &TextFile) -> Vec<String> {
    let stem = file.path.strip_suffix(".rs").unwrap_or(&file.path);
    let folder = match stem.rsplit_once('/') {
        Some((folder, "lib" | "main")) => folder,
        _ => stem,
    };
    let lines: Vec<&str> = file.text.lines().map(str::trim).collect();
    let declared = lines.windows(2).filter_map(|pair| match pair {
        [attribute, module] if attribute.starts_with("#[cfg(") && attribute.contains("test") => {
            module.split_once("mod ")?.1.strip_suffix(';')
        }
        _ => None,
    });
    declared.map(|name| format!("{folder}/{name}")).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn what_ships_is_counted_and_tests_and_tools_are_not() {
        let three = "fn a() {}\nfn b() {}\n// c\nfn d() {}\n";
        let files = tree(&[
            (
                "a/src/lib.rs",
                "pub mod b;\n#[cfg(test)]\nmod checks;\n#[cfg(any(test, feature = \"testing\"))]\npub mod fake;\n",
            ),
            ("a/src/b.rs", three),
            ("a/src/checks.rs", three),
            ("a/src/checks/more.rs", three),
            ("a/src/fake.rs", three),
            ("a/tests/it/main.rs", three),
            ("lab/src/main.rs", three),
        ]);
        assert_eq!(lines(&files), 8);
    }

    #[test]
    fn a_number_that_is_too_small_or_too_large_is_found() {
        let found = |lines| of(lines, 1_000).iter().map(|finding| finding.what.clone()).collect::<Vec<_>>();
        assert_eq!(found(1_000), [""; 0]);
        assert_eq!(found(500), [""; 0]);
        assert_eq!(found(1_001), ["1001 lines of code ship, at most 1000"]);
        assert_eq!(found(499), ["499 lines of code ship, and 1000 are allowed"]);
    }
}
