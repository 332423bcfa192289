//! Patterns: which words of one simple command are meant.
//!
//! ```text
//! pattern  = program { blank word }          program = [ runner blank ] name
//! word     = "*"                              any words, also none
//!          | { letter | "*" | quoted }        one word; a star stands for any letters of it, also none
//! quoted   = "'" letters "'" | '"' letters '"'    its letters, a star too
//! ```
//!
//! Everything else stands for itself; capital letters count. `npx` and other runners are followed by the program's name.

use super::lists::{is_never_read, is_runner};
use super::verb;
use crate::calls::analysis::Word;
use crate::prelude::*;
use crate::state::redacted_tests::Fit;

/// The most bytes of a pattern.
const MAX_PATTERN_BYTES: usize = 512;
/// How the names of scripts end.
const SCRIPTS: [&str; 15] =
    ["sh", "bash", "zsh", "py", "rb", "pl", "js", "mjs", "cjs", "ts", "php", "lua", "exe", "bat", "ps1"];

/// A piece of a word of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// Any letters.
    Star,
}

/// A word of a pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Wanted {
    /// Any words.
    Words,
    /// One word of these pieces.
    Word(Vec<Piece>),
}

/// A pattern, read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SafetyPattern {
    words: Vec<Wanted>,
}

/// What is wrong with a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatternFault {
    /// It has no words.
    Empty,
    /// It has stars alone.
    OnlyStars,
    /// It does not begin with the name of a program.
    NoProgram,
    /// A quotation mark has no counterpart.
    OpenQuote,
    /// It has a letter that no word of a simple command has without quotes: it is a line.
    Line(char),
    /// It has a control character or a blank outside of ASCII.
    Letter,
    /// It is too long.
    Long,
}

impl PatternFault {
    /// What is wrong, as a lower-case phrase.
    pub fn words(self) -> String {
        match self {
            Self::Empty => "empty pattern".to_owned(),
            Self::OnlyStars => "pattern is only wildcards".to_owned(),
            Self::NoProgram => {
                "a pattern begins with the name of a program, without `*` and without a folder".to_owned()
            }
            Self::OpenQuote => "a quotation mark is not closed".to_owned(),
            Self::Line(letter) => {
                alloc::format!("`{letter}` belongs to a line of the shell; a pattern is about one simple command")
            }
            Self::Letter => "a control character, or a blank outside of ASCII".to_owned(),
            Self::Long => alloc::format!("a pattern has at most {MAX_PATTERN_BYTES} bytes"),
        }
    }
}

/// The words of a simple command, with what is known of each of them for all patterns.
#[derive(Clone, Debug)]
pub struct CommandWords<'w> {
    words: &'w [Word],
    /// Whether each word changes things.
    changes: Vec<bool>,
}

impl<'w> CommandWords<'w> {
    /// Looks at the words of a simple command.
    pub fn of(words: &'w [Word]) -> Self {
        let before = core::iter::once(None).chain(words.iter().map(Some));
        let changes = |(word, before): (&Word, Option<&Word>)| match (before, word) {
            (Some(Word::Known(before)), Word::Known(text)) => verb::changes(text) || verb::pair_changes(before, text),
            (_, Word::Known(text)) => verb::changes(text),
            (_, Word::Unknown | Word::Value) => false,
        };
        Self { words, changes: words.iter().zip(before).map(changes).collect() }
    }

    fn each(&self) -> impl Iterator<Item = (&'w Word, bool)> {
        self.words.iter().zip(self.changes.iter().copied())
    }
}

impl SafetyPattern {
    /// Reads a pattern.
    ///
    /// # Errors
    ///
    /// It is no pattern.
    pub fn read(text: &str) -> Result<Self, PatternFault> {
        if text.len() > MAX_PATTERN_BYTES {
            return Err(PatternFault::Long);
        }
        let words = split(text)?;
        if words.is_empty() {
            return Err(PatternFault::Empty);
        }
        if words.iter().all(|word| *word == Wanted::Words || is_star(word)) {
            return Err(PatternFault::OnlyStars);
        }
        let pattern = Self { words };
        let program = pattern.program().ok_or(PatternFault::NoProgram)?;
        let plain = !program.is_empty() && !program.contains(['/', '=']) && !program.starts_with('-');
        if plain { Ok(pattern) } else { Err(PatternFault::NoProgram) }
    }

    /// The name of the program that it is about: the first word, or the one after a runner.
    pub fn program(&self) -> Option<&str> {
        let first = literal(self.words.first()?)?;
        if is_runner(first) { literal(self.words.get(1)?) } else { Some(first) }
    }

    /// The first of its own words after the program that changes things.
    pub fn changing(&self) -> Option<&str> {
        self.own().filter_map(literal).find(|word| verb::changes(word))
    }

    /// Its own words, after the program.
    fn own(&self) -> impl Iterator<Item = &Wanted> {
        let skip = self.words.first().and_then(literal).map_or(1, |first| if is_runner(first) { 2 } else { 1 });
        self.words.iter().skip(skip)
    }

    /// The first word after the program that is no option, where it has a star.
    fn open(&self) -> Option<&Wanted> {
        let first = self.own().find(|word| literal(word).is_none_or(|text| !text.starts_with('-')))?;
        literal(first).is_none().then_some(first)
    }

    /// Whether any words may stand in the place of a program that the program runs.
    pub(crate) fn is_open(&self) -> bool {
        self.open().is_some()
    }

    /// A word with a star in that place that stands for programs or scripts, as in `catchsegv *.sh`.
    pub(crate) fn any_program(&self) -> Option<String> {
        let Wanted::Word(pieces) = self.open()? else { return None };
        let with = |star: &str| -> String {
            pieces.iter().map(|piece| if let Piece::Text(text) = piece { text.as_str() } else { star }).collect()
        };
        names_program(&with("x")).then(|| with("*"))
    }

    /// Whether a command has the words of the pattern. `careful`: a star stands for no word that changes things, and for
    /// none that is known only when the command runs.
    pub fn fits(&self, command: &CommandWords<'_>, careful: bool) -> Fit {
        let mut reached = vec![Fit::No; self.words.len().saturating_add(1)];
        if let Some(start) = reached.first_mut() {
            *start = Fit::Yes;
        }
        self.pass_stars(&mut reached);
        for (word, changes) in command.each() {
            let mut next = vec![Fit::No; reached.len()];
            for (at, so_far) in reached.iter().enumerate().filter(|(_, fit)| **fit != Fit::No) {
                let mut reach = |place: usize, fit: Fit| {
                    if let Some(slot) = next.get_mut(place) {
                        *slot = fit.max(*slot);
                    }
                };
                match (word, self.words.get(at)) {
                    (Word::Known(_), Some(Wanted::Words)) if !(careful && changes) => reach(at, *so_far),
                    (Word::Known(text), Some(Wanted::Word(pieces))) if pieces_fit(pieces, text) => {
                        let stars = pieces.contains(&Piece::Star);
                        if !(careful && stars && changes) {
                            reach(at.saturating_add(1), *so_far);
                        }
                    }
                    (Word::Known(_), _) => {}
                    (Word::Unknown | Word::Value, Some(Wanted::Words)) if !careful => {
                        reach(at, *so_far);
                        (at..=self.words.len()).for_each(|place| reach(place, (*so_far).min(Fit::Doubt)));
                    }
                    // It may stand for no word, or for several.
                    (Word::Unknown | Word::Value, _) => {
                        (at..=self.words.len()).for_each(|place| reach(place, (*so_far).min(Fit::Doubt)));
                    }
                }
            }
            reached = next;
            self.pass_stars(&mut reached);
        }
        reached.last().copied().unwrap_or(Fit::No)
    }

    fn pass_stars(&self, reached: &mut [Fit]) {
        for (at, _) in self.words.iter().enumerate().filter(|(_, wanted)| **wanted == Wanted::Words) {
            let here = reached.get(at).copied().unwrap_or(Fit::No);
            if let Some(slot) = reached.get_mut(at.saturating_add(1)) {
                *slot = here.max(*slot);
            }
        }
    }
}

/// The name of the program that a command runs: the first word, or the one after a runner.
pub(crate) fn program(words: &[Word]) -> Option<&str> {
    let place = words.len().saturating_sub(arguments(words).len()).checked_sub(1)?;
    match words.get(place) {
        Some(Word::Known(name)) => Some(name),
        _ => None,
    }
}

/// The words with which a command starts its program, up to its name.
pub(crate) fn start(words: &[Word]) -> String {
    let known = |word: &Word| if let Word::Known(text) = word { text.clone() } else { "...".to_owned() };
    let count = words.len().saturating_sub(arguments(words).len());
    words.iter().take(count).map(known).collect::<Vec<_>>().join(" ")
}

/// Whether the first word after the program that is no option names a program or a script, which the program may run.
pub(crate) fn runs_another(words: &[Word]) -> bool {
    let known = arguments(words).iter().filter_map(Word::known);
    known.into_iter().find(|text| !text.starts_with('-')).is_some_and(names_program)
}

/// Whether a word says itself that it names a program or a script: a known one, a script by its ending, or a path whose
/// name has no ending.
fn names_program(text: &str) -> bool {
    let script = text.rsplit_once('.').is_some_and(|(_, ending)| SCRIPTS.contains(&ending));
    let path = text.rsplit_once('/').is_some_and(|(_, name)| !name.is_empty() && !name.contains('.'));
    is_never_read(text) || script || path
}

/// The words after the name of the program.
pub(crate) fn arguments(words: &[Word]) -> &[Word] {
    match words {
        [Word::Known(first), Word::Known(_), rest @ ..] if is_runner(first) => rest,
        [_, rest @ ..] => rest,
        [] => &[],
    }
}

fn is_star(word: &Wanted) -> bool {
    matches!(word, Wanted::Word(pieces) if pieces.iter().all(|piece| *piece == Piece::Star))
}

/// The word, where it stands for one only.
fn literal(word: &Wanted) -> Option<&str> {
    match word {
        Wanted::Words => None,
        Wanted::Word(pieces) => match pieces.as_slice() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        },
    }
}

fn split(text: &str) -> Result<Vec<Wanted>, PatternFault> {
    let mut words = Vec::new();
    let mut word: Option<Draft> = None;
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            ' ' | '\t' => words.extend(word.take().map(Draft::finished)),
            '\'' | '"' => {
                let draft = word.get_or_insert_default();
                draft.quoted = true;
                loop {
                    match letters.next() {
                        None => return Err(PatternFault::OpenQuote),
                        Some(end) if end == letter => break,
                        Some(inner) if inner.is_control() => return Err(PatternFault::Letter),
                        Some(inner) => draft.push(inner),
                    }
                }
            }
            '*' => word.get_or_insert_default().pieces.push(Piece::Star),
            ';' | '|' | '&' | '<' | '>' | '`' | '$' => return Err(PatternFault::Line(letter)),
            _ if letter.is_control() || letter.is_whitespace() => return Err(PatternFault::Letter),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word.take().map(Draft::finished));
    Ok(words)
}

/// A word as far as it was read.
#[derive(Default)]
struct Draft {
    pieces: Vec<Piece>,
    /// Whether a part of it stood in quotes.
    quoted: bool,
}

impl Draft {
    fn push(&mut self, letter: char) {
        if let Some(Piece::Text(text)) = self.pieces.last_mut() {
            text.push(letter);
        } else {
            self.pieces.push(Piece::Text(letter.to_string()));
        }
    }

    fn finished(self) -> Wanted {
        if !self.quoted && self.pieces.as_slice() == [Piece::Star] { Wanted::Words } else { Wanted::Word(self.pieces) }
    }
}

/// Whether a word consists of these pieces.
fn pieces_fit(pieces: &[Piece], text: &str) -> bool {
    // Which bytes of the text the pieces so far may end at.
    let mut ends = vec![0_usize];
    for piece in pieces {
        let mut next = Vec::new();
        match piece {
            Piece::Text(wanted) => {
                let after = |end: &usize| text.get(*end..).is_some_and(|rest| rest.starts_with(wanted.as_str()));
                next.extend(ends.iter().filter(|end| after(end)).map(|end| end.saturating_add(wanted.len())));
            }
            Piece::Star => next.extend(ends.first().into_iter().flat_map(|first| *first..=text.len())),
        }
        ends = next;
    }
    ends.last() == Some(&text.len())
}
