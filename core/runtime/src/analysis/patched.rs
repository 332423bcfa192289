//! Files that a line changes by a patch, under names that only the patch tells.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;

use phasegate_core::analysis::{Access, Guarded};
use phasegate_shell::{Judgement, Part, Pattern};

use super::guarded::Place;

/// What stands before the name of a file on a line of a patch, in the forms that `patch` and git read.
const HEADS: [&str; 12] = [
    "+++ ",
    "--- ",
    "*** Update File: ",
    "*** Add File: ",
    "*** Delete File: ",
    "*** ",
    "Index: ",
    "diff --git ",
    "rename from ",
    "rename to ",
    "copy to ",
    "copy from ",
];
/// The commands of git that apply a patch.
const APPLIES: [&str; 2] = ["apply", "am"];

impl Place<'_> {
    /// What of the guard a line would change by the patches that it names, or that are written in it.
    pub(super) fn patched(&self, judged: &Judgement, line: &str) -> Vec<Guarded> {
        if !judged.parts.iter().any(patches) {
            return Vec::new();
        }
        let words = judged.parts.iter().flat_map(|part| part.words.iter().skip(1)).filter_map(Pattern::text);
        let read = judged.touches.iter().filter(|touch| touch.access == Access::Read);
        let named = words.chain(read.filter_map(|touch| touch.path.text()));
        // The file may stand behind an option: `--input=x.diff`, `-ix.diff`.
        let spelled = named.flat_map(|word| {
            let value = word.split_once('=').map(|(_, value)| value.to_owned());
            let behind = word.strip_prefix("-i").map(str::to_owned);
            [Some(word), value, behind].into_iter().flatten()
        });
        let spelled: BTreeSet<String> = spelled.collect();
        // Where a line goes to another folder first, its words start from there.
        let folders = spelled.iter().map(|word| self.absolute(word)).filter(|path| path.is_dir());
        let folders: BTreeSet<PathBuf> = folders.chain([self.base.to_path_buf()]).collect();
        let files = folders.iter().flat_map(|folder| spelled.iter().map(|word| folder.join(word)));
        let files: BTreeSet<PathBuf> = files.filter(|path| path.is_file()).collect();
        let mut found: Vec<Guarded> = line.lines().filter_map(|line| self.headed(line)).collect();
        for file in files {
            let Ok(open) = File::open(&file) else { continue };
            let lines = BufReader::new(open).split(b'\n').map_while(Result::ok);
            found.extend(lines.filter_map(|line| self.headed(&String::from_utf8_lossy(&line))).take(1));
        }
        found
    }

    /// By a line of a patch that names files: each name, without any number of its leading folders.
    pub(super) fn headed(&self, line: &str) -> Option<Guarded> {
        let named = HEADS.iter().find_map(|head| line.trim_start().strip_prefix(head))?;
        let named = unescaped(named.split('\t').next().unwrap_or(named));
        let names = std::iter::once(named.as_str()).chain(named.split(' '));
        names.map(|name| name.trim_matches(|sign: char| sign == '"' || sign.is_whitespace())).find_map(|name| {
            let shorter = name.match_indices('/').map(|(at, _)| name.get(at + 1..).unwrap_or_default());
            let mut all = std::iter::once(name).chain(shorter).filter(|name| !name.is_empty());
            let guarded = all.find_map(|name| self.touched(name, Access::Write));
            guarded.or_else(|| self.protected.spoken_of(name).map(|(part, path)| Guarded { part, path }))
        })
    }
}

fn patches(part: &Part) -> bool {
    let mut words = part.words.iter().filter_map(Pattern::text);
    let Some(program) = words.next() else { return false };
    match program.rsplit('/').next() {
        Some("patch" | "gpatch") => true,
        Some("git") => words.any(|word| APPLIES.contains(&word.as_str())),
        _ => false,
    }
}

/// A name without the escapes that git writes in quotes: `\056` is a dot.
fn unescaped(name: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), name.as_bytes());
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            bytes.push(byte);
            rest = after.get(3..).unwrap_or_default();
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    #[test]
    fn an_escaped_name_is_read_as_git_reads_it() {
        assert_eq!(super::unescaped(r#""b/\056phasegate/\303\244""#), "\"b/.phasegate/ä\"");
        assert_eq!(super::unescaped(r"a\b\9"), r"a\b\9");
    }
}
