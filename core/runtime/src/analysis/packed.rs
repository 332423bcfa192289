//! Programs that remove or replace all that is in a folder: archivers that remove what they pack, compressors that go below;
//! those that take the right away to read it; and those that put into a folder what their line does not name.

use phasegate_core::analysis::{Access, Guarded};
use phasegate_shell::{Judgement, Part, Pattern};

use super::guarded::Place;
use super::word_paths::{folders, is_option, within};

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
        let packed = judged.parts.iter().filter(|part| removes(part)).flat_map(|part| self.packed_by(part));
        packed.chain(judged.parts.iter().flat_map(|part| self.closed_by(part))).collect()
    }

    /// By the folders into which a line puts what it does not name: out of an archive, or by a list that is its input.
    pub(super) fn unpacked(&self, judged: &Judgement) -> Vec<Guarded> {
        let mut found = Vec::new();
        for part in &judged.parts {
            let Some((target, listed)) = unpacks_into(part) else { continue };
            let here = [Pattern::default()];
            let from = if part.folders.is_empty() { here.iter() } else { part.folders.iter() };
            for folder in from.filter_map(Pattern::text).map(|from| self.absolute(&format!("{from}{target}"))) {
                found.extend(self.in_folder_of_its_own(&folder));
                let below = || self.protected.below(&folder).into_iter().next();
                let any = if listed { below() } else { None };
                found.extend(
                    any.map(|(name, part)| Guarded { part, path: folder.join(name).to_string_lossy().into_owned() }),
                );
            }
        }
        found
    }

    /// By the folders that a part takes rights from.
    fn closed_by(&self, part: &Part) -> Vec<Guarded> {
        let paths = folders(part)
            .into_iter()
            .flat_map(|from| closed(part).into_iter().map(move |word| within(&from, word)).collect::<Vec<_>>());
        paths.filter_map(|path| self.may_touch(&path, Access::Remove)).collect()
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
        let names = || words.iter().filter(|word| !is_option(word)).map(|word| (*word).clone());
        let below = |folder: &Pattern, name: &Pattern| folder.then(&Pattern::known("/")).then(name);
        let inside = folders.iter().flat_map(|folder| names().map(|name| below(folder, &name)).collect::<Vec<_>>());
        names().chain(inside).filter_map(|path| self.may_touch(&path, Access::Remove)).collect()
    }
}

/// The folder that a part puts things into, as it is written, and whether the names of these may have folders of any depth
/// before them.
fn unpacks_into(part: &Part) -> Option<(String, bool)> {
    let words: Vec<String> = part.words.iter().filter_map(Pattern::text).collect();
    let (program, rest) = words.split_first()?;
    let behind = |option: &str| {
        let at = rest.iter().position(|word| word.starts_with(option))?;
        let attached = rest.get(at)?.strip_prefix(option).filter(|value| !value.is_empty());
        attached.map(str::to_owned).or_else(|| rest.get(at.saturating_add(1)).cloned())
    };
    let has = |options: &[&str]| rest.iter().any(|word| options.contains(&word.as_str()));
    let letters = |all: &[char]| {
        let short = |word: &&String| word.starts_with('-') && !word.starts_with("--");
        all.iter().all(|letter| rest.iter().filter(short).any(|word| word.contains(*letter)))
    };
    let last = || rest.last().cloned();
    match program.rsplit('/').next()? {
        "unzip" => Some((behind("-d")?, false)),
        "tar" | "gtar" | "bsdtar" if extracts(rest) => {
            Some((behind("-C").or_else(|| behind("--directory=")).or_else(|| behind("--directory"))?, false))
        }
        "7z" | "7za" | "7zz" | "7zr" => Some((behind("-o")?, false)),
        name if name.starts_with("python") && has(&["zipfile", "tarfile"]) && has(&["-e", "--extract"]) => {
            Some((last()?, false))
        }
        "cpio" if letters(&['p']) || has(&["--pass-through"]) => Some((last()?, true)),
        "pax" if letters(&['r', 'w']) => Some((last()?, true)),
        _ => None,
    }
}

/// Whether the arguments of `tar` say that it extracts: letters with or without a sign, or a long option.
fn extracts(arguments: &[String]) -> bool {
    let bare = arguments.first().is_some_and(|word| !word.starts_with('-') && word.contains('x'));
    let short = |word: &String| word.starts_with('-') && !word.starts_with("--") && word.contains('x');
    bare || arguments.iter().any(|word| short(word) || word.starts_with("--ex") || word.starts_with("--get"))
}

/// The paths of which a part takes rights away, so that nobody may read what is in them.
fn closed(part: &Part) -> Vec<&Pattern> {
    let mut words = part.words.iter();
    let is_chmod = words.next().and_then(Pattern::text).is_some_and(|name| name.rsplit('/').next() == Some("chmod"));
    let mode = words.clone().filter_map(Pattern::text).find(|word| !is_long_or_recursive(word));
    if !is_chmod || mode.is_none_or(|mode| keeps_open(&mode)) {
        return Vec::new();
    }
    words.filter(|word| word.text().is_none_or(|word| !word.starts_with('-'))).collect()
}

fn is_long_or_recursive(word: &str) -> bool {
    word.starts_with("--")
        || word.strip_prefix('-').is_some_and(|letters| letters.chars().all(|one| "Rfvc".contains(one)))
}

/// Whether a mode leaves the owner the right to read a folder and to enter it.
fn keeps_open(mode: &str) -> bool {
    match u32::from_str_radix(mode, 8) {
        Ok(bits) => bits & 0o500 == 0o500,
        Err(_) => !mode.contains(['-', '=']),
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
