//! No sentence of the documents has more than 40 words. A cell of a table is a sentence of its own; code is none.

use super::finding::Finding;
use super::markdown::blocks;
use super::tree::Tree;

const MAX_WORDS: usize = 40;
const INSTEAD: &str = "split the sentence; one says one thing";
/// A full stop after these ends no sentence.
const ABBREVIATIONS: &[&str] = &["e.g.", "i.e.", "etc.", "vs.", "cf."];

/// Every sentence of the README files, ARCHITECTURE.md, docs/ and the proofs is short enough.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.files.iter().filter(|file| is_document(&file.path)) {
        for block in blocks(&file.text) {
            findings.extend(long(&block.words).map(|Sentence { line, count, start }| Finding {
                path: file.path.clone(),
                line,
                what: format!("a sentence of {count} words, at most {MAX_WORDS}: \"{start} ...\""),
                instead: INSTEAD,
            }));
        }
    }
    findings
}

fn is_document(path: &str) -> bool {
    let in_docs = (path.starts_with("docs/") || path.starts_with("conformance/proofs/")) && path.ends_with(".md");
    in_docs || path == "ARCHITECTURE.md" || path == "README.md" || path.ends_with("/README.md")
}

struct Sentence {
    line: usize,
    count: usize,
    start: String,
}

/// The sentences of a block that are too long.
fn long<'a>(words: &'a [super::markdown::Word]) -> impl Iterator<Item = Sentence> + 'a {
    let sentences = words.split_inclusive(|word| ends_sentence(&word.text));
    sentences.filter_map(|sentence| {
        let said: Vec<_> = sentence.iter().filter(|word| word.text.chars().any(char::is_alphanumeric)).collect();
        let line = said.first()?.line;
        let start: Vec<&str> = said.iter().take(6).map(|word| word.text.as_str()).collect();
        (said.len() > MAX_WORDS).then(|| Sentence { line, count: said.len(), start: start.join(" ") })
    })
}

fn ends_sentence(word: &str) -> bool {
    let bare = word.trim_end_matches(['"', '\'', ')', '*', '_', '`', '\u{201d}']);
    bare.ends_with(['.', '!', '?']) && !ABBREVIATIONS.contains(&bare.trim_start_matches('('))
}

#[cfg(test)]
mod tests {
    use super::super::tree::tree;
    use super::*;

    fn found(text: &str) -> Vec<(usize, String)> {
        let findings = check(&tree(&[("docs/page.md", text), ("skills/a/SKILL.md", text)]));
        findings.into_iter().map(|finding| (finding.line, finding.what)).collect()
    }

    fn sentence(words: usize) -> String {
        format!("{}end.", "word ".repeat(words - 1))
    }

    #[test]
    fn a_sentence_of_41_words_is_found_also_over_lines_and_in_a_list() {
        let long = sentence(41);
        let what = "a sentence of 41 words, at most 40: \"word word word word word word ...\"".to_string();
        assert_eq!(found(&format!("# Title\n\nShort one. {long}\n")), [(3, what.clone())]);
        let broken = long.replacen("word ", "word\n", 20);
        assert_eq!(found(&format!("* {broken}\n")), [(1, what.clone())]);
        assert_eq!(found(&format!("| a | {long} |\n")), [(1, what)]);
    }

    #[test]
    fn forty_words_code_and_cells_are_fine() {
        let fine = sentence(40);
        let half = "word ".repeat(30);
        let code = format!("```\n{}\n```\n\n    {half} {half}\n", sentence(50));
        let table = format!("| {half} | {half} |\n|---|---|\n");
        let span = format!("{half} `{half}`.\n");
        let list = format!("* {half}\n* {half}\n");
        assert_eq!(found(&format!("{fine} {fine}\n\n{half}\n\n{half}\n\n{code}\n{table}\n{span}\n{list}")), []);
    }
}
