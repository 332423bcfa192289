//! A path that a document names exists.

use super::finding::Finding;
use super::tree::Tree;

const INSTEAD: &str = "correct the path, from the root or from the document's own folder; `<id>` stands for any name";
const DOCUMENTS: &[&str] = &["ARCHITECTURE.md", "README.md", "conformance/README.md"];
/// The folder whose every page is one of these documents.
const RULES: &str = "docs/rules/";
/// What a file of the workspace that a document would name ends with.
const ENDINGS: &[&str] = &[".rs", ".md", ".toml", ".json", ".jsonl", ".yaml"];
/// File names that documents mention and this tree does not have.
const SPOKEN_OF: &[&str] = &["SKILL.md", "mod.rs"];

/// Every back-quoted path of the documents is that of a file or a folder.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let documents = tree.files.iter().filter(|file| is_document(&file.path));
    documents.flat_map(|file| missing(tree, &file.path, &file.text)).collect()
}

fn is_document(path: &str) -> bool {
    DOCUMENTS.contains(&path) || path.starts_with(RULES)
}

fn missing(tree: &Tree, document: &str, text: &str) -> Vec<Finding> {
    let folder = document.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut findings = Vec::new();
    for (line, span) in quoted(text) {
        if is_path(tree, folder, span) && !exists(tree, folder, span) {
            let what = format!("`{span}` does not exist");
            findings.push(Finding { path: document.to_string(), line, what, instead: INSTEAD });
        }
    }
    findings
}

/// The back-quoted parts of a text with their lines, from 1, without its blocks of code.
fn quoted(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut spans = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced && !line.starts_with("    ") {
            spans.extend(line.split('`').skip(1).step_by(2).map(|span| (at + 1, span)));
        }
    }
    spans
}

/// Whether a text means a place in the workspace. What begins with a dot or a slash lies elsewhere.
fn is_path(tree: &Tree, folder: &str, span: &str) -> bool {
    let letter = |letter: char| letter.is_ascii_alphanumeric() || "-_./<>".contains(letter);
    if !span.starts_with(|first: char| first.is_ascii_alphanumeric()) || !span.chars().all(letter) {
        return false;
    }
    let file = ENDINGS.iter().any(|ending| span.ends_with(ending));
    match span.split_once('/') {
        Some((first, _)) => file || span.ends_with('/') || exists(tree, folder, first),
        None => file && !SPOKEN_OF.contains(&span),
    }
}

/// Whether it is there: from the root, from the document's folder, or, for a name alone, anywhere.
fn exists(tree: &Tree, folder: &str, span: &str) -> bool {
    let wanted = span.trim_end_matches('/');
    let below = if folder.is_empty() { wanted.to_string() } else { format!("{folder}/{wanted}") };
    tree.files.iter().any(|file| {
        let name = file.path.rsplit('/').next().unwrap_or_default();
        leads(wanted, &file.path) || leads(&below, &file.path) || (span == wanted && wanted == name)
    })
}

/// Whether a pattern is a path, or a folder above it.
fn leads(pattern: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    pattern.split('/').all(|wanted| parts.next().is_some_and(|part| fits(wanted, part)))
}

/// Whether a part of a path fits one in which `<...>` stands for one or more letters.
fn fits(wanted: &str, part: &str) -> bool {
    let Some((before, rest)) = wanted.split_once('<') else { return wanted == part };
    let after = rest.split_once('>').map_or("", |(_, after)| after);
    part.strip_prefix(before)
        .is_some_and(|rest| (1..=rest.len()).any(|at| rest.get(at..).is_some_and(|rest| fits(after, rest))))
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    fn wrong(path: &str, text: &str) -> Vec<String> {
        let files = [
            (path, text),
            ("core/a/src/lib.rs", ""),
            ("adapters/one/src/decode.rs", ""),
            ("conformance/cases/one/encode/x.json", ""),
        ];
        check(&tree(&files)).into_iter().map(|finding| format!("{}: {}", finding.line, finding.what)).collect()
    }

    #[test]
    fn paths_that_are_there_are_silent() {
        let text = "`core/a` `core/a/` `core/a/src/lib.rs` `adapters/<id>/src/decode.rs` `lib.rs` `README.md`";
        assert_eq!(wrong("README.md", text), Vec::<String>::new());
        assert_eq!(wrong("conformance/README.md", "`cases/<id>/encode/<name>.json`, `cases/`"), Vec::<String>::new());
    }

    #[test]
    fn paths_that_are_not_are_found_with_their_line() {
        assert_eq!(wrong("ARCHITECTURE.md", "\n`core/a/src/gone.rs`"), ["2: `core/a/src/gone.rs` does not exist"]);
        assert_eq!(wrong("ARCHITECTURE.md", "`adapters/<id>/src/no.rs` `core/b`").len(), 2);
        assert_eq!(wrong("README.md", "`gone.rs` and `folder/` and `cases/`").len(), 3);
    }

    #[test]
    fn what_is_no_path_of_the_workspace_is_left_alone() {
        let text = "`/lsp-refactor` `.claude/settings.json` `read/write` `SKILL.md` `cargo x core/b` `a.b`\n\
                    ```\n`core/b.rs`\n```\n    `core/b.rs`\n";
        assert_eq!(wrong("README.md", text), Vec::<String>::new());
        assert_eq!(wrong("docs/other.md", "`core/b.rs`"), Vec::<String>::new());
        assert_eq!(wrong("docs/rules/runs.md", "`core/b.rs`").len(), 1);
    }
}
