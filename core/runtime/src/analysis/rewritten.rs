//! Lines that mean another one, which says plainly what is touched.

use std::iter::successors;

use phasegate_core::analysis::{Access, Guarded, Part as Kept, Verdict};
use phasegate_shell::{Judgement, Part, Pattern, Piece, Table, Touch, Trust, judge};

use super::guarded::Place;
use super::spelled::plainer;
use super::within::joined;

/// What hands on to another command what a search prints.
const HANDS_ON: [&str; 6] = ["$(", "`", "read ", "mapfile", "readarray", "parallel"];
/// The most pairs of a search and a command that are looked at.
const MOST: usize = 64;
/// The most plainer spellings of a line that are looked at.
const MOST_SPELLINGS: usize = 8;
/// What a search prints its findings with.
const PRINTS: [&str; 2] = ["-print", "-print0"];

impl Place<'_> {
    /// By the lines that this one means. A line that was made of another one is not made into a further one, but for a
    /// plainer one.
    pub(super) fn rewritten(&self, judged: &Judgement, line: &str) -> Vec<Guarded> {
        let plain: Vec<String> = successors(plainer(line), |line| plainer(line)).take(MOST_SPELLINGS + 1).collect();
        let plain: Vec<String> = plain.into_iter().chain(self.with_own_file(line)).collect();
        let read = |line: &String| judge(line, &Table::shipped(), Trust::default());
        let plain: Vec<(Judgement, String)> = plain.into_iter().map(|line| (read(&line), line)).collect();
        let of_plain = plain.iter().flat_map(|(judged, line)| fed(judged, line));
        let fed: Vec<String> = fed(judged, line).into_iter().chain(of_plain).collect();
        if fed.len() > MOST || plain.len() > MOST_SPELLINGS.saturating_add(1) {
            return vec![Guarded { part: Kept::Policy, path: "find ... | xargs".to_owned() }];
        }
        let fed = fed.into_iter().map(|line| (read(&line), line));
        plain.into_iter().chain(fed).flat_map(|(judged, line)| self.by_plain_line(&judged, &line)).collect()
    }
}

/// Searches with the commands that get what they find as further words, in the form in which the search starts them.
fn fed(judged: &Judgement, line: &str) -> Vec<String> {
    let runs = |name: &str| judged.parts.iter().any(|part| program(part).as_deref() == Some(name));
    let hands_on = HANDS_ON.iter().any(|word| line.contains(word)) || runs("xargs");
    let mut given: Vec<Vec<String>> =
        if hands_on { judged.parts.iter().filter_map(given).collect() } else { Vec::new() };
    // A redirection to what is found writes it, as `tee` does.
    let open = |touch: &&Touch| touch.access == Access::Write && touch.path.0.as_slice() == [Piece::Any];
    if hands_on && judged.touches.iter().any(|touch| open(&touch)) {
        given.push(["tee", "{}"].map(str::to_owned).to_vec());
    }
    if given.is_empty() {
        return Vec::new();
    }
    // Only in a line that is one pipe does what stands behind a search surely filter it.
    let is_pipe = !line.contains([';', '&', '<', '>', '\n']);
    let searches = judged.parts.iter().enumerate().flat_map(|(at, part)| {
        let next = at.checked_add(1).and_then(|next| judged.parts.get(next)).filter(|_| is_pipe);
        let only = next.and_then(kept_by_name);
        let searches = match program(part).as_deref() {
            Some("find") => found_by(part).into_iter().collect(),
            Some("git") => tracked(part),
            _ => Vec::new(),
        };
        searches.into_iter().map(move |search| with(&search, only.as_deref()))
    });
    let together = searches.flat_map(|search| {
        let line = |command: &Vec<String>| format!("{} -exec {} ';'", joined(&search), joined(command));
        given.iter().map(line).collect::<Vec<_>>()
    });
    // One pair more than are looked at says that there are too many.
    together.take(MOST + 1).collect()
}

fn program(part: &Part) -> Option<String> {
    part.words.first().and_then(Pattern::text).map(|program| program.rsplit('/').next().unwrap_or_default().to_owned())
}

/// A command that changes what it is given: with the sign of a search in place of the word that is not known.
fn given(part: &Part) -> Option<Vec<String>> {
    let open = |word: &Pattern| word.0.as_slice() == [Piece::Any];
    if part.command.verdict == Verdict::Read || !part.words.iter().skip(1).any(open) {
        return None;
    }
    let word = |word: &Pattern| if open(word) { Some("{}".to_owned()) } else { word.text() };
    part.words.iter().map(word).collect()
}

/// A search without what it prints with.
fn found_by(part: &Part) -> Option<Vec<String>> {
    let words = part.words.iter().map(Pattern::text).collect::<Option<Vec<_>>>()?;
    Some(words.into_iter().filter(|word| !PRINTS.contains(&word.as_str())).collect())
}

/// The files that git knows, as searches for all that its patterns may stand for.
fn tracked(part: &Part) -> Vec<Vec<String>> {
    let words: Vec<String> =
        part.words.iter().skip(1).map(|word| word.text().unwrap_or_else(|| "*".to_owned())).collect();
    let Some((command, rest)) = words.split_first() else { return Vec::new() };
    let names_only = || rest.iter().any(|word| word.starts_with("--name-") || word.starts_with("--stat"));
    match command.as_str() {
        "ls-files" | "ls-tree" => {}
        // The files of commits; those of a `diff` are the ones that changed by now.
        "log" | "show" | "diff-tree" | "whatchanged" if names_only() => {
            return vec![["find", "."].map(str::to_owned).to_vec()];
        }
        _ => return Vec::new(),
    }
    let named = rest.iter().filter(|word| !word.starts_with('-') && command == "ls-files");
    let named: Vec<&str> = named.map(|word| word.trim_start_matches("./").trim_end_matches('/')).collect();
    if named.is_empty() || named.iter().any(|name| matches!(*name, "." | "") || name.starts_with(':')) {
        return vec![["find", "."].map(str::to_owned).to_vec()];
    }
    // A star of git's stands for slashes, too: what is looked for is below the folder that is before the first one.
    let search = |name: &str| {
        let Some(star) = name.find(['*', '?', '[']) else { return ["find", name].map(str::to_owned).to_vec() };
        let folder = name.get(..star).and_then(|start| Some(start.rsplit_once('/')?.0)).unwrap_or(".");
        let last = name.rsplit('/').next().unwrap_or(name);
        ["find", folder, "-name", last].map(str::to_owned).to_vec()
    };
    named.into_iter().map(search).collect()
}

/// The search for only those names that the line keeps.
fn with(search: &[String], only: Option<&str>) -> Vec<String> {
    let kept = only.into_iter().flat_map(|name| ["-name".to_owned(), name.to_owned()]);
    search.iter().cloned().chain(kept).collect()
}

/// The names that a filter between the two keeps, where that is an ending: `grep '\.rs$'`.
fn kept_by_name(part: &Part) -> Option<String> {
    let words = part.words.iter().map(Pattern::text).collect::<Option<Vec<_>>>()?;
    let [program, options @ .., wanted] = words.as_slice() else { return None };
    let plain = program == "grep" && options.iter().all(|option| option == "-E");
    let ending = wanted.strip_suffix('$')?.strip_prefix("\\.")?;
    let is_ending = !ending.is_empty() && ending.chars().all(|sign| sign.is_ascii_alphanumeric());
    (plain && is_ending).then(|| format!("*.{ending}"))
}
