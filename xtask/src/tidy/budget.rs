//! Files stay small enough to be read at once.

use std::collections::BTreeMap;

use super::finding::Finding;
use super::source::code;
use super::tree::{TextFile, Tree};

const HARD: usize = 450;
const MEDIAN: usize = 120;
const P90: usize = 350;
/// A folder of a program or library shows its files on one screen.
const FOLDER: usize = 20;

/// Every file is under the hard stop; median and ninetieth percentile are under theirs; no folder has too many files; no
/// file is named `mod.rs`.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut counts: Vec<(usize, &TextFile)> = tree.rust().map(|file| (code(&file.text).count(), file)).collect();
    counts.sort_by_key(|(count, file)| (*count, file.path.clone()));
    let mut findings = Vec::new();
    for (count, file) in counts.iter().filter(|(count, _)| *count > HARD) {
        let what = format!("{count} lines of code, at most {HARD}");
        findings.push(Finding { path: file.path.clone(), line: 0, what, instead: "split it by rule or by question" });
    }
    for (share, limit, name) in [(50, MEDIAN, "median"), (90, P90, "ninetieth percentile")] {
        let at = counts.len().saturating_sub(1) * share / 100;
        if let Some((count, file)) = counts.get(at).filter(|(count, _)| *count > limit) {
            let what = format!("the {name} of all files is {count} lines of code, at most {limit}");
            findings.push(Finding { path: file.path.clone(), line: 0, what, instead: "split the biggest files" });
        }
    }
    for (_, file) in counts.iter().filter(|(_, file)| file.path.ends_with("/mod.rs")) {
        let what = "a file named `mod.rs`".to_string();
        findings.push(Finding {
            path: file.path.clone(),
            line: 0,
            what,
            instead: "name it `<module>.rs` beside the folder",
        });
    }
    findings.extend(folders(tree));
    findings
}

/// The folders of sources that hold more files than a reader takes in.
fn folders(tree: &Tree) -> Vec<Finding> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for (folder, _) in tree.rust().filter_map(|file| file.path.rsplit_once('/')) {
        *counts.entry(folder).or_default() += 1;
    }
    let crowded = counts.iter().filter(|(folder, count)| **count > FOLDER && format!("{folder}/").contains("/src/"));
    let finding = |(folder, count): (&&str, &usize)| Finding {
        path: (*folder).to_string(),
        line: 0,
        what: format!("{count} files in one folder, at most {FOLDER}"),
        instead: "give what belongs together a folder that is named by its subject",
    };
    crowded.map(finding).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn a_file_over_the_hard_stop_is_found_and_comments_do_not_count() {
        let big = "fn a() {}\n".repeat(HARD + 1);
        let commented = format!("{}{}", "// note\n".repeat(HARD), "fn a() {}\n".repeat(10));
        let small = "fn a() {}\n";
        let files: Vec<(String, &str)> = (0..9).map(|at| (format!("a/src/{at}.rs"), small)).collect();
        let mut all: Vec<(&str, &str)> = files.iter().map(|(path, text)| (path.as_str(), *text)).collect();
        all.extend([("a/src/big.rs", big.as_str()), ("a/src/long.rs", commented.as_str())]);
        let found = check(&tree(&all));
        assert_eq!(found.iter().map(|finding| finding.path.as_str()).collect::<Vec<_>>(), ["a/src/big.rs"]);
    }

    #[test]
    fn a_crowded_folder_of_sources_is_found_and_one_of_tests_is_not() {
        let folder = |folder: &str, count: usize| (0..count).map(move |at| format!("{folder}/{at}.rs")).collect();
        let files: Vec<Vec<String>> =
            vec![folder("a/src", FOLDER + 1), folder("b/src/c", FOLDER), folder("a/tests", 30)];
        let all: Vec<(&str, &str)> = files.iter().flatten().map(|path| (path.as_str(), "fn a() {}\n")).collect();
        let found = check(&tree(&all));
        assert_eq!(found.iter().map(|finding| finding.path.as_str()).collect::<Vec<_>>(), ["a/src"]);
    }

    #[test]
    fn median_and_mod_rs_are_looked_at() {
        let long = "fn a() {}\n".repeat(MEDIAN + 1);
        let found = check(&tree(&[("a/src/a.rs", &long), ("a/src/b/mod.rs", &long)]));
        assert_eq!(found.len(), 2, "{found:?}");
    }
}
