//! Lines that mean another one, which says plainly what is touched.

use phasegate_core::analysis::{Guarded, Part as Kept, Verdict};
use phasegate_shell::{Judgement, Part, Pattern, Piece, Table, Trust, judge};

use super::guarded::Place;
use super::within::joined;

/// Spellings of the folder that a line is in.
const HERE: [&str; 4] = ["${PWD}", "$PWD", "$(pwd)", "`pwd`"];
/// The most pairs of a search and a command that are looked at.
const MOST: usize = 64;
/// What a search prints its findings with.
const PRINTS: [&str; 2] = ["-print", "-print0"];

impl Place<'_> {
    /// By the lines that this one means.
    pub(super) fn rewritten(&self, judged: &Judgement, line: &str) -> Vec<Guarded> {
        let mut lines: Vec<String> = here(line).into_iter().collect();
        let fed = fed(judged);
        if fed.len() > MOST {
            return vec![Guarded { part: Kept::Policy, path: "find ... | xargs".to_owned() }];
        }
        lines.extend(fed);
        let found = lines.iter().flat_map(|line| self.by_line(&judge(line, &Table::shipped(), Trust::default()), line));
        found.collect()
    }
}

/// The line with a dot for the folder that it is in.
fn here(line: &str) -> Option<String> {
    let named = HERE.iter().fold(line.to_owned(), |line, name| line.replace(name, "."));
    (named != line).then_some(named)
}

/// Searches with the commands that get what they find as further words, in the form in which the search starts them.
fn fed(judged: &Judgement) -> Vec<String> {
    let program = |part: &Part| part.words.first().and_then(Pattern::text);
    let named =
        |part: &&Part, name: &str| program(part).is_some_and(|program| program.rsplit('/').next() == Some(name));
    if !judged.parts.iter().any(|part| named(&part, "xargs")) {
        return Vec::new();
    }
    let searches = judged.parts.iter().filter(|part| named(part, "find"));
    let searches = searches.filter_map(|part| part.words.iter().map(Pattern::text).collect::<Option<Vec<_>>>());
    let given = judged.parts.iter().filter_map(|part| {
        let (last, words) = part.words.split_last()?;
        let more = last.0.as_slice() == [Piece::Any] && part.command.verdict != Verdict::Read;
        if more { words.iter().map(Pattern::text).collect::<Option<Vec<_>>>() } else { None }
    });
    let given: Vec<Vec<String>> = given.collect();
    let together = searches.flat_map(|search| {
        let search: Vec<String> = search.into_iter().filter(|word| !PRINTS.contains(&word.as_str())).collect();
        let line = |command: &Vec<String>| format!("{} -exec {} '{{}}' +", joined(&search), joined(command));
        given.iter().map(line).collect::<Vec<_>>()
    });
    // One pair more than are looked at says that there are too many.
    together.take(MOST + 1).collect()
}
