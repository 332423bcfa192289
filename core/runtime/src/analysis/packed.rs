//! Programs that remove or replace all that is in a folder: archivers that remove what they pack, compressors that go below.

use phasegate_core::analysis::{Access, Guarded};
use phasegate_shell::{Judgement, Part, Pattern, Piece};

use super::guarded::Place;

/// A program that does so with one of these options.
struct Remover {
    names: &'static [&'static str],
    /// Letters among short options.
    letters: &'static str,
    /// Options in full, or how they begin.
    options: &'static [&'static str],
}

const REMOVERS: [Remover; 4] = [
    Remover { names: &["tar", "gtar", "bsdtar"], letters: "", options: &["--remove"] },
    Remover { names: &["zip"], letters: "m", options: &["--move"] },
    Remover { names: &["7z", "7za", "7zz", "7zr", "p7zip"], letters: "", options: &["-sdel"] },
    Remover {
        names: &["gzip", "gunzip", "pigz", "unpigz", "zstd", "unzstd", "lz4", "compress", "uncompress"],
        letters: "r",
        options: &["--recursive"],
    },
];
/// Options of archivers that name the folder from which the words behind them are meant.
const FOLDERS: [&str; 2] = ["-C", "--directory"];

impl Place<'_> {
    /// By the words of programs that remove what these name, with all that is below.
    pub(super) fn packed(&self, judged: &Judgement) -> Vec<Guarded> {
        judged.parts.iter().filter(|part| removes(part)).flat_map(|part| self.packed_by(part)).collect()
    }

    fn packed_by(&self, part: &Part) -> Vec<Guarded> {
        let words: Vec<&Pattern> = part.words.iter().skip(1).collect();
        let mut folders: Vec<Pattern> = part.folders.clone();
        for (at, word) in words.iter().enumerate() {
            let Some(text) = word.text() else { continue };
            let value = FOLDERS.iter().find_map(|option| text.strip_prefix(option));
            match value {
                Some("") => folders.extend(words.get(at.saturating_add(1)).map(|folder| (*folder).clone())),
                Some(value) => folders.push(Pattern::known(value.trim_start_matches('='))),
                None => {}
            }
        }
        let option = |word: &Pattern| matches!(word.0.first(), Some(Piece::Text(text)) if text.starts_with('-'));
        let names = || words.iter().filter(|word| !option(word)).map(|word| (*word).clone());
        let below = |folder: &Pattern, name: &Pattern| {
            let slash = Pattern::known("/");
            Pattern(folder.0.iter().chain(&slash.0).chain(&name.0).cloned().collect())
        };
        let inside = folders.iter().flat_map(|folder| names().map(|name| below(folder, &name)).collect::<Vec<_>>());
        let found = names().chain(inside).filter_map(|path| match path.text() {
            Some(text) => self.touched(&text, Access::Remove),
            None => self.may_touch(&path, Access::Remove),
        });
        found.collect()
    }
}

fn removes(part: &Part) -> bool {
    let words: Vec<String> = part.words.iter().filter_map(Pattern::text).collect();
    let Some((program, rest)) = words.split_first() else { return false };
    let name = program.rsplit('/').next().unwrap_or(program);
    let has = |remover: &Remover, word: &String| {
        let short = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
        remover.options.iter().any(|option| word.starts_with(option))
            || short.is_some_and(|letters| letters.contains(|letter| remover.letters.contains(letter)))
    };
    let of = REMOVERS.iter().filter(|remover| remover.names.contains(&name));
    of.into_iter().any(|remover| rest.iter().any(|word| has(remover, word)))
}
