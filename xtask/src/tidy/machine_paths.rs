//! No file names the machine it was written on.

use super::finding::Finding;
use super::tree::Tree;

const INSTEAD: &str = "write the path relative to the workspace, or a placeholder (`$PROJECT`, `$HOME`)";

/// Assembled here so that this file does not find itself.
fn marks() -> [String; 4] {
    ["root", "home/", "work/", "Users/"].map(|name| format!("/{name}"))
}

/// No text names a home folder or a build folder.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    let marks = marks();
    for file in &tree.files {
        for (at, line) in file.text.lines().enumerate() {
            // A line that lists several of them is a check like this one.
            let lists = marks.iter().filter(|mark| line.contains(mark.as_str())).count() > 2;
            if let Some(mark) = marks.iter().find(|mark| !lists && begins_path(line, mark)) {
                let what = format!("a machine path (`{mark}`)");
                findings.push(Finding { path: file.path.clone(), line: at + 1, what, instead: INSTEAD });
            }
        }
    }
    findings
}

/// People that examples are about; the empty name is no folder of anybody's.
const NOBODY: [&str; 4] = ["", "me", "you", "user"];

/// Whether `mark` occurs as the beginning of an absolute path, not in the middle of a relative one or of a web address.
fn begins_path(line: &str, mark: &str) -> bool {
    line.match_indices(mark).any(|(at, _)| {
        let before = line.get(..at).and_then(|text| text.chars().next_back());
        let rest = line.get(at + mark.len()..).unwrap_or_default();
        let name = rest.split(|letter: char| !letter.is_alphanumeric() && letter != '_').next().unwrap_or_default();
        let somebody = if mark.ends_with('/') { !NOBODY.contains(&name) } else { name.is_empty() };
        somebody && !before.is_some_and(|letter| letter.is_alphanumeric() || "._-/}$)]~*".contains(letter))
    })
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    #[test]
    fn absolute_paths_are_found_and_relative_ones_are_not() {
        let [root, home, ..] = marks();
        let text = format!(
            "a \"{root}/x\"\nb {home}else/x\nfor {home}me/x\nsrc{root}/x\nhttps://example.org{root}\n{root}_user\n"
        );
        let found = check(&tree(&[("a.md", &text)]));
        assert_eq!(found.iter().map(|finding| finding.line).collect::<Vec<_>>(), [1, 2]);
    }
}
