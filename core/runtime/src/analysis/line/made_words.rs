//! What a line says of words that it makes when it runs, with the names that its patterns find.

use std::path::Path;

use phasegate_core::calls::analysis::Word;
use phasegate_shell::{Part, Pattern, Piece};

use crate::analysis::paths::pattern_matches::matched;
use crate::analysis::paths::word_paths::{folders, within};

/// The most names that are kept of a command.
const MAX_NAMES: usize = 256;

/// The texts of a command that starts in the folder `base`. An unknown word stands for more than are kept.
pub(in crate::analysis) fn texts(part: &Part, base: &Path, home: Option<&str>) -> Vec<Word> {
    let mut texts: Vec<Word> = Vec::new();
    let found = |pattern: &Pattern| names(part, pattern, base, home);
    let globs = part.folders.iter().flat_map(found);
    for text in part.beside.iter().flat_map(|text| known(text).chain(found(text))).chain(globs) {
        if texts.contains(&text) {
            continue;
        }
        if texts.len() == MAX_NAMES {
            texts.push(Word::Unknown);
            break;
        }
        texts.push(text);
    }
    texts
}

/// What is known of a text.
fn known(text: &Pattern) -> impl Iterator<Item = Word> + '_ {
    let open = (*text == Pattern::open()).then_some(Word::Unknown);
    let known = |piece: &Piece| if let Piece::Text(text) = piece { Some(Word::Known(text.clone())) } else { None };
    text.0.iter().filter_map(known).chain(open)
}

/// What a pattern of names finds, also as the value of an option.
fn names(part: &Part, pattern: &Pattern, base: &Path, home: Option<&str>) -> Vec<Word> {
    if !pattern.0.contains(&Piece::Glob) {
        return Vec::new();
    }
    // Also from the folder in which the line starts: `cd` is noted with the folder that it enters.
    let from = folders(part).into_iter().chain([Pattern::default()]);
    let seen = from.flat_map(|folder| matched(&within(&folder, &value(pattern)), base, home.unwrap_or_default()));
    let shown = seen.map(|path| path.strip_prefix(base).unwrap_or(&path).to_string_lossy().into_owned());
    shown.take(MAX_NAMES.saturating_add(1)).map(Word::Known).collect()
}

/// The pattern without the option that it is the value of.
fn value(pattern: &Pattern) -> Pattern {
    let mut pattern = pattern.clone();
    if let Some(Piece::Text(start)) = pattern.0.first_mut()
        && let Some((_, value)) = start.strip_prefix('-').and_then(|option| option.split_once('='))
    {
        *start = value.to_owned();
    }
    pattern
}

#[cfg(test)]
mod tests {
    use phasegate_shell::{Table, Trust, judge};

    use super::*;

    #[test]
    fn a_command_is_about_what_its_patterns_find() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        ["infra/prod", "envs/dev"].iter().for_each(|path| std::fs::create_dir_all(base.join(path)).unwrap());
        let about = |line: &str, wanted: &str| {
            let judged = judge(line, &Table::shipped(), Trust::default());
            let all = judged.parts.iter().flat_map(|part| texts(part, &base, Some("/h")));
            all.filter(|text| *text == Word::Known(wanted.into())).count() > 0
        };
        for (line, wanted) in [
            ("terraform -chdir=infra/* apply", "infra/prod"),
            ("for d in infra/*/; do cd $d; terraform apply; cd -; done", "infra/prod"),
            ("for d in infra/*; do (cd \"$d\" && terraform apply); done", "infra/prod"),
            ("cd infra/p* && terraform apply", "infra/prod"),
            ("for d in envs/*; do terraform -chdir=$d apply; done", "envs/dev"),
            ("kubectl --context $C delete pod x", "C"),
            ("psql \"${DB_URL:-prod}\"", "prod"),
            ("cat a/b.yaml | kubectl apply -f -", "a/b.yaml"),
        ] {
            assert!(about(line, wanted), "{line}");
        }
        for line in ["for d in envs/*; do terraform -chdir=$d apply; done", "cat infra/*/x | wc -l"] {
            assert!(!about(line, "infra/prod"), "{line}");
        }
    }

    #[test]
    fn more_than_are_kept_are_said_to_be_more() {
        let words: Vec<String> = (0..70).map(|number| format!("a{number}")).collect();
        let line = format!("for c in {}; do kubectl --context $c get pods; done", words.join(" "));
        let judged = judge(&line, &Table::shipped(), Trust::default());
        let all = judged.parts.iter().flat_map(|part| texts(part, Path::new("/none"), None));
        assert!(all.filter(|text| *text == Word::Unknown).count() > 0);
    }
}
