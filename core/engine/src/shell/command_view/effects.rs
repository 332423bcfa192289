//! What a command does, in words: `push`, `force_push`, `migrate`. The table of effects says it, by program, subcommand and option.
//!
//! A block of the table has the names of programs and below them rows: what the words of the command must be, and after ` = `
//! what it does then. A part of a row holds surely, not, or in doubt, as its words are known:
//!
//! * `push`: the next operand; `*` stands in it for any letters. `pr|mr`: one of these. `^pr|mr`: none of these.
//! * `;`: no more operands. `+-m|--file`: these options take the word after them, and all others none.
//! * `-f|--force`: an option. `$GIT_*`: a variable of its environment.
//! * `~+*`: any word that is so. `=+*`: any word that is surely so.
//! * `%-q|--quiet`: no other options are given than these.
//! * `!` before one of these: it is not there. `?`: where it is there, the row is in doubt. Nothing: any words.
//!
//! `runs` says that a program stands among the words, which is looked up in its turn; `runs_first`, that it is the first of them.
//! Of a program that is not known, a row counts that has two parts or more, or that says what it works on.

use alloc::collections::BTreeMap;

use once_cell::race::OnceBox;
use phasegate_rules::{Piece, Shape, Truth, Value};

use super::options::{Options, takes_value};
use crate::calls::analysis::{SimpleCommand, Verdict, Word};
use crate::prelude::*;
use crate::shell::words::is_plain_but;
use crate::values::glob::text_fits;

const TABLE: &str = include_str!("../../../programs/effects.txt");
/// What may stand between a launcher and the program that it runs.
const LEADING: [&str; 10] = ["exec", "run", "-m", "dlx", "x", "tool", "--", "-y", "--yes", "--no-install"];
/// Programs that run the text after an option that ends with `c`.
const SHELLS: [&str; 6] = ["sh", "bash", "dash", "zsh", "ksh", "ash"];
const RUNS: &str = "runs";
const RUNS_FIRST: &str = "runs_first";
const READ: &str = "read";
const OPERATE: &str = "operate";
const PRINT_SECRET: &str = "print_secret";
const DATABASE: &str = "database";
/// What stands for the end of the operands.
const END: &str = ";";
/// The words for what a command does, as `docs/admission-rules.md` explains them.
pub const WORDS: [&str; 28] = [
    "read",
    "send",
    "push",
    "push_tag",
    "force_push",
    "remove_ref",
    "push_settings",
    "remotes",
    "commit",
    "plumbing",
    "tag",
    "retag",
    "version",
    "publish",
    "deploy",
    "operate",
    "request",
    "migrate",
    DATABASE,
    "backup",
    "partial_dump",
    "print_secret",
    "format",
    "lint",
    "vcs",
    "install",
    "build",
    TEST,
];
/// The most words of a command that are looked at for its subcommands; what follows may be any.
const MAX_OPERANDS: usize = 64;
/// The most programs among the words of a launcher that are looked at. With more of them it may do anything.
const MAX_INNER: usize = 8;

/// The names of each block, and its rows. An empty line ends a block.
fn blocks() -> impl Iterator<Item = (&'static str, &'static str)> {
    let text = TABLE.trim_end();
    // A search for one letter is several times faster than one for two.
    let is_empty = |end: &usize| text.as_bytes().get(end.saturating_add(1)) == Some(&b'\n');
    let ends = text.match_indices('\n').map(|(end, _)| end).filter(is_empty).chain([text.len()]);
    let block = |start: &mut usize, end: usize| text.get(core::mem::replace(start, end.saturating_add(2))..end);
    let blocks = ends.scan(0, move |start, end| Some(block(start, end))).flatten();
    blocks.filter(|block| !block.starts_with('#')).filter_map(|block| block.split_once('\n'))
}

/// The programs by their first letter, each with its rows, once they were asked for: rules ask at every command.
static ROWS: OnceBox<BTreeMap<Option<u8>, Vec<Rows>>> = OnceBox::new();

/// The name of a program, and its rows.
type Rows = (&'static str, &'static str);

/// The rows of a program, with its name as the table has it.
fn rows_of(name: &str) -> Option<(&'static str, &'static str)> {
    let all = ROWS.get_or_init(|| {
        let mut all = BTreeMap::<_, Vec<Rows>>::new();
        let named = blocks().flat_map(|(names, rows)| names.split_whitespace().map(move |name| (name, rows)));
        named.for_each(|(name, rows)| all.entry(name.bytes().next()).or_default().push((name, rows)));
        Box::new(all)
    });
    all.get(&name.bytes().next())?.iter().find(|(one, _)| *one == name).copied()
}

/// The rows by which a program does this: the names of a block, and each of its rows that has the word.
pub fn rows_of_word(word: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let has = move |row: &&str| row.split_once("= ").is_some_and(|(_, words)| words.split(' ').any(|one| one == word));
    blocks().flat_map(move |(names, rows)| rows.lines().filter(has).map(move |row| (names, row)))
}

/// Whether a text that was not read as a line of the shell has a word of a program that may do this.
pub(crate) fn mentions(text: &str, effect: &str) -> bool {
    let may = |rows: &str| rows.lines().filter_map(|row| row.split_once("= ")).any(|(_, words)| words.contains(effect));
    let of_name = |letter: char| letter.is_alphanumeric() || ['-', '_', '.'].contains(&letter);
    let mut names = text.split(|letter| !of_name(letter)).map(str::to_ascii_lowercase);
    effect == TEST
        || effect == "send"
        || names.any(|name| rows_of(name.trim_end_matches(".exe")).is_some_and(|(_, rows)| may(rows)))
}

/// Runs tests.
pub(super) const TEST: &str = "test";
/// What is no harm: it is taken for granted only where the program surely does it and nothing else.
pub(super) const GENTLE: [&str; 11] =
    ["read", "format", "lint", "vcs", "install", "build", TEST, "commit", "tag", "version", "backup"];

/// A command, as rows of the table see it.
pub(super) struct Seen<'a> {
    pub(super) command: &'a SimpleCommand,
    pub(super) program: Value<'a>,
    /// The words from the subcommand on.
    pub(super) operands: Vec<Value<'a>>,
    /// All words after the program.
    pub(super) words: Vec<Value<'a>>,
    /// Them without the values of its options, where it is known which take one.
    pub(super) plain: Option<Vec<Value<'a>>>,
    /// Its options, as a set.
    pub(super) options: Value<'a>,
    /// The names of the variables in its environment that the line gives.
    pub(super) variables: &'a [String],
    /// Whether there may be more of them.
    pub(super) more_variables: bool,
}

/// The words of what a command does, each surely or in doubt.
#[derive(Default)]
pub(super) struct Effects(BTreeMap<&'static str, Truth>);

impl Effects {
    pub(super) fn of(seen: &Seen<'_>) -> Self {
        let mut effects = Self::default();
        let (name, most) = match seen.program {
            Value::Text(name) => (Some(name), Truth::Yes),
            Value::Maybe(name) => (Some(name), if seen.is_named_in_full() { Truth::Yes } else { Truth::Unknown }),
            _ => (None, Truth::Unknown),
        };
        let own = name.and_then(rows_of).map(|(_, rows)| rows);
        match name {
            Some(_) => effects.take(own, seen, most),
            None => effects.take_all(seen),
        }
        let reads = seen.command.verdict == Verdict::Read;
        let runs = effects.0.remove(RUNS);
        let first = effects.0.remove(RUNS_FIRST).filter(|_| matches!(seen.command.words.get(1), Some(Word::Unknown)));
        if reads {
            effects.0.retain(|word, _| *word == PRINT_SECRET);
            effects.0.insert(READ, Truth::Yes);
        } else if runs.is_some() || (own.is_none() && seen.command.verdict >= Verdict::Execute) {
            effects.take_inner(seen, runs.unwrap_or(Truth::Unknown));
            effects.take_scripts(seen);
            if first.is_some() {
                effects.take_all(&seen.inner(1, &Options::of(seen.command)));
            }
        }
        if seen.command.looks {
            effects.0.remove(DATABASE);
        }
        effects
    }

    /// What the rows say that hold.
    fn take(&mut self, rows: Option<&'static str>, seen: &Seen<'_>, most: Truth) {
        for (pattern, words) in rows.into_iter().flat_map(|rows| rows.lines()).filter_map(|row| row.split_once("= ")) {
            let holds = seen.holds(pattern).min(most);
            // What may only read may as well not.
            let says = |word: &&str| holds == Truth::Yes || (holds != Truth::No && *word != READ);
            words.split_whitespace().filter(says).for_each(|word| self.add(word, holds));
        }
    }

    /// What the rows say that may hold of a program that is not known.
    fn take_all(&mut self, seen: &Seen<'_>) {
        for row in blocks().flat_map(|(_, rows)| rows.lines()) {
            let Some((pattern, words)) = row.split_once("= ") else { continue };
            let tells = pattern.split_whitespace().nth(1).is_some() || words == OPERATE;
            if tells && seen.holds(pattern) != Truth::No {
                let words = words.split_whitespace().filter(|word| ![READ, RUNS, RUNS_FIRST].contains(word));
                words.for_each(|word| self.add(word, Truth::Unknown));
            }
        }
    }

    fn add(&mut self, word: &'static str, truth: Truth) {
        let known = self.0.entry(word).or_insert(truth);
        *known = truth.max(*known);
    }

    /// What the programs do that stand among the words of one that may run them.
    fn take_inner(&mut self, seen: &Seen<'_>, most: Truth) {
        let all = &seen.command.words;
        let program = |(at, word): (usize, &Word)| {
            let Word::Known(text) = word else { return None };
            let name = text.rsplit_once('/').map_or(text.as_str(), |(_, name)| name);
            // A package or an image may have a version: `prisma@5`, `kubectl:1.30`, `git@sha256:...`.
            let name = name.split(['@', ':']).next().filter(|name| !name.is_empty()).unwrap_or(name);
            rows_of(name).map(|(name, rows)| (at, name, rows))
        };
        let programs: Vec<_> = all.iter().enumerate().skip(1).filter_map(program).take(MAX_INNER + 1).collect();
        if programs.len() > MAX_INNER {
            let rows = blocks().flat_map(|(_, rows)| rows.lines()).filter_map(|row| row.split_once("= "));
            rows.flat_map(|(_, words)| words.split_whitespace()).for_each(|word| self.add(word, Truth::Unknown));
            self.0.retain(|word, _| ![RUNS, RUNS_FIRST, READ].contains(word));
            return;
        }
        for (at, name, rows) in programs {
            let words: Vec<Word> = all.iter().skip(at).cloned().collect();
            let command = SimpleCommand { words, starts: Vec::new(), global_options: 0, ..seen.command.clone() };
            let options = Options::of(&command);
            let inner = Seen { program: Value::Text(name), ..seen.inner(at, &options) };
            let mut found = Self::default();
            found.take(Some(rows), &inner, most);
            found.0.retain(|word, _| ![RUNS, RUNS_FIRST, READ].contains(word));
            // Another word may be the program, and this one an argument of it.
            let first = all
                .iter()
                .take(at)
                .skip(1)
                .all(|word| matches!(word, Word::Known(text) if LEADING.contains(&text.as_str())));
            let most = |word: &str| if first || !GENTLE.contains(&word) { Truth::Yes } else { Truth::Unknown };
            found.0.into_iter().for_each(|(word, truth)| self.add(word, truth.min(most(word))));
        }
    }

    /// What the programs may do that stand in a text that a shell among the words runs: `docker exec db sh -c "psql"`.
    fn take_scripts(&mut self, seen: &Seen<'_>) {
        let is_shell = |word: &Value<'_>| matches!(word, Value::Text(text) if SHELLS.contains(text));
        let option =
            |word: &Value<'_>| matches!(word, Value::Text(text) if text.starts_with('-') && text.ends_with('c'));
        let shell = seen.words.iter().position(is_shell).unwrap_or(seen.words.len());
        let words = seen.words.iter().skip(shell);
        let outer = Options::of(seen.command);
        for (_, word) in words.clone().zip(words.skip(1)).filter(|(before, _)| option(before)) {
            let (text, more) = match word {
                Value::Text(text) => (*text, None),
                Value::Shape(Shape { pieces: [Piece::Text(start), ..], .. }) => (start.as_str(), Some(Value::Unknown)),
                _ => continue,
            };
            let all = text.split([' ', '\n', ';', '&', '|', '(', ')']).filter(|word| !word.is_empty());
            let all: Vec<&str> = all.take(MAX_OPERANDS).collect();
            for (at, name) in all.iter().enumerate() {
                let Some((name, rows)) = rows_of(name.rsplit_once('/').map_or(*name, |(_, last)| last)) else {
                    continue;
                };
                let words: Vec<Value<'_>> =
                    all.iter().skip(at.saturating_add(1)).map(|word| Value::Text(word)).chain(more.clone()).collect();
                let options = Value::set(words.iter().cloned());
                let operands = bounded(words.iter());
                let inner = Seen { program: Value::Text(name), operands, words, options, ..seen.inner(0, &outer) };
                let mut found = Self::default();
                found.take(Some(rows), &inner, Truth::Unknown);
                found.0.retain(|word, _| ![RUNS, RUNS_FIRST, READ].contains(word));
                found.0.into_keys().for_each(|word| self.add(word, Truth::Unknown));
            }
        }
    }

    /// Adds a word that a value says: what is neither true nor false is in doubt.
    pub(super) fn with(mut self, word: &'static str, says: &Value<'_>) -> Self {
        match says {
            Value::Bool(false) => {}
            Value::Bool(true) => self.add(word, Truth::Yes),
            _ => self.add(word, Truth::Unknown),
        }
        self
    }

    /// Whether it does what a word says.
    pub(super) fn truth(&self, word: &str) -> Truth {
        self.0.get(word).copied().unwrap_or(Truth::No)
    }

    /// Them, as a set.
    pub(super) fn value<'a>(&self) -> Value<'a> {
        let word = |(word, truth): (&&'static str, &Truth)| match truth {
            Truth::Yes => Value::Text(word),
            _ => Value::Maybe(word),
        };
        Value::set(self.0.iter().map(word))
    }
}

impl<'a> Seen<'a> {
    /// The command that begins with one of its words, and has these options.
    fn inner<'b>(&'b self, at: usize, options: &'b Options) -> Seen<'b>
    where
        'a: 'b,
    {
        Seen {
            command: self.command,
            program: Value::Unknown,
            operands: bounded(self.words.iter().skip(at)),
            words: self.words.iter().skip(at).cloned().collect(),
            plain: None,
            options: options.value(),
            variables: self.variables,
            more_variables: self.more_variables,
        }
    }

    /// Whether its program is the project's own that the table names by its path, such as `bin/rails`.
    fn is_named_in_full(&self) -> bool {
        let Some(Word::Known(written)) = self.command.words.first() else { return false };
        written.contains('/') && rows_of(written).is_some() && is_plain_but(self.command, true)
    }

    fn holds(&self, pattern: &str) -> Truth {
        let Some(values) = pattern.split_whitespace().find_map(|token| token.strip_prefix('+')) else {
            return self.fits(pattern, &self.operands);
        };
        let first = pattern.split_whitespace().next().filter(|token| is_operand(token));
        if first.is_some_and(|first| stands(&[first], &self.operands, false) == Truth::No) {
            return Truth::No;
        }
        let plain = without_values(&self.words, values);
        // A word of its own behind each option: what follows is no value of it.
        let word = |value: &Value<'_>| match value {
            Value::Text(text) => [Word::Known((*text).to_owned()), Word::Known(String::new())],
            _ => [Word::Unknown, Word::Known(String::new())],
        };
        let words = self.command.words.iter().take(1).cloned().chain(plain.iter().flat_map(word)).collect();
        let command = SimpleCommand { words, starts: Vec::new(), ..self.command.clone() };
        let options = Options::of(&command);
        let is_option =
            |value: &Value<'_>| matches!(value, Value::Text(text) if text.len() > 1 && text.starts_with('-'));
        let operands =
            without_values(&self.operands, values).into_iter().filter(|value| !is_option(value)).collect::<Vec<_>>();
        Seen { plain: Some(plain), options: options.value(), ..self.inner(0, &options) }.fits(pattern, &operands)
    }

    fn fits(&self, pattern: &str, given: &[Value<'_>]) -> Truth {
        let mut operands = Vec::new();
        let mut all = Truth::Yes;
        for token in pattern.split_whitespace() {
            let (token, denied) = token.strip_prefix('!').map_or((token, false), |token| (token, true));
            let (token, doubts) = token.strip_prefix('?').map_or((token, false), |token| (token, true));
            let found = match token.split_at_checked(1) {
                Some(("+", _)) => continue,
                Some(("-", _)) => self.is_given(token),
                Some(("~", word)) => self.has(word),
                Some(("=", word)) => Truth::of(self.has(word) == Truth::Yes),
                Some(("$", name)) => self.has_variable(name),
                Some(("%", options)) => self.has_no_other(options),
                _ if denied => stands(&[token], given, false),
                _ => {
                    operands.push(token);
                    continue;
                }
            };
            all = all.min(match found {
                found if denied => not(found),
                Truth::No if doubts => Truth::Yes,
                _ if doubts => Truth::Unknown,
                found => found,
            });
        }
        if all == Truth::No { all } else { all.min(stands(&operands, given, false)) }
    }

    fn has(&self, wanted: &str) -> Truth {
        self.words.iter().map(|given| is_one(given, wanted)).max().unwrap_or(Truth::No)
    }

    fn is_given(&self, options: &str) -> Truth {
        let Value::Set(given) = &self.options else { return Truth::Unknown };
        let is_given = |option| given.iter().map(|given| given.equals(&Value::Text(option))).max();
        options.split('|').filter_map(is_given).max().unwrap_or(Truth::No)
    }

    /// Whether all of its options are among these, with or without values, and several letters behind one dash.
    fn has_no_other(&self, options: &str) -> Truth {
        let is_one = |option: &str| options.split('|').any(|one| one == option);
        let fits = |word: &Value<'_>| match word {
            Value::Text(text) if text.len() < 2 || !text.starts_with('-') => Truth::Yes,
            Value::Text(text) => {
                let name = text.split_once('=').map_or(*text, |(name, _)| name);
                let letters = text.strip_prefix('-').filter(|rest| !rest.starts_with('-')).unwrap_or_default();
                let all = !letters.is_empty()
                    && letters.chars().all(|letter| is_one(&['-', letter].iter().collect::<String>()));
                // What an option does that the table does not know is not known.
                if is_one(name) || all { Truth::Yes } else { Truth::Unknown }
            }
            _ => Truth::Unknown,
        };
        self.plain.as_ref().unwrap_or(&self.words).iter().map(fits).min().unwrap_or(Truth::Yes)
    }

    fn has_variable(&self, names: &str) -> Truth {
        let fits = |variable: &String| names.split('|').any(|name| text_fits(name, variable));
        match self.variables.iter().any(fits) {
            true => Truth::Yes,
            false if self.more_variables => Truth::Unknown,
            false => Truth::No,
        }
    }
}

/// Whether a part of a row says what the first operand is.
fn is_operand(token: &str) -> bool {
    !token.starts_with(['-', '~', '=', '$', '%', '!', '?', '+', ';'])
}

/// The words without the values of options, where these take the word after them. A value in the word of its option goes too.
fn without_values<'a>(words: &[Value<'a>], values: &str) -> Vec<Value<'a>> {
    let takes =
        |option: &str| values.split('|').any(|one| one == option || (option.len() > 3 && one.starts_with(option)));
    let letter = |text: &'a str| {
        let mut letters = text.char_indices().skip(1);
        letters
            .find(|(_, letter)| takes(&['-', *letter].iter().collect::<String>()))
            .map(|(at, letter)| at + letter.len_utf8())
    };
    let mut plain = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let (kept, takes_next) = match *word {
            Value::Text("--") => {
                plain.extend(rest.by_ref().cloned());
                break;
            }
            Value::Text(text) if text.starts_with("--") => match text.split_once('=') {
                Some((name, _)) if takes(name) => (Value::Text(name), false),
                _ => (Value::Text(text), takes(text)),
            },
            Value::Text(text) if text.starts_with('-') => match letter(text).and_then(|end| text.split_at_checked(end))
            {
                Some((option, value)) => (Value::Text(option), value.is_empty()),
                None => (Value::Text(text), false),
            },
            _ => (word.clone(), false),
        };
        plain.push(kept);
        if takes_next {
            rest.next();
        }
    }
    plain
}

/// The first of these words.
pub(super) fn bounded<'w, 'a: 'w>(words: impl ExactSizeIterator<Item = &'w Value<'a>>) -> Vec<Value<'a>> {
    let more = (words.len() > MAX_OPERANDS).then_some(Value::Unknown);
    words.take(MAX_OPERANDS).cloned().chain(more).collect()
}

/// Whether the operands among these words begin with the wanted ones. A word after an option may be its value.
fn stands(wanted: &[&str], words: &[Value<'_>], after_option: bool) -> Truth {
    let Some((first, more)) = wanted.split_first() else { return Truth::Yes };
    if *first == END {
        let may_be_none = |word: &Value<'_>| if *word == Value::Unknown { Truth::Unknown } else { Truth::No };
        return words.iter().map(may_be_none).min().unwrap_or(Truth::Yes);
    }
    let Some((word, rest)) = words.split_first() else { return Truth::No };
    if let Value::Text(text) = word
        && text.len() > 1
        && text.starts_with('-')
    {
        // Of one letter, each program has its own.
        return stands(wanted, rest, text.len() == 2 || takes_value(text));
    }
    let own = match is_one(word, first) {
        Truth::No => Truth::No,
        fits => fits.min(stands(more, rest, false)),
    };
    // A word that is made when the line runs may be none, or an option.
    if after_option || *word == Value::Unknown { own.max(stands(wanted, rest, false)).min(Truth::Unknown) } else { own }
}

/// Whether a word is one of these.
fn is_one(word: &Value<'_>, wanted: &str) -> Truth {
    if let Some(others) = wanted.strip_prefix('^') {
        return not(is_one(word, others));
    }
    wanted.split('|').map(|wanted| is(word, wanted)).max().unwrap_or(Truth::No)
}

/// Whether a word is this one, whatever the case of its letters.
fn is(word: &Value<'_>, wanted: &str) -> Truth {
    let fits = |text: &str| match wanted.contains('*') {
        true => text_fits(wanted, &text.to_ascii_lowercase()),
        false => text.eq_ignore_ascii_case(wanted),
    };
    match word {
        Value::Text(text) => Truth::of(fits(text)),
        Value::Maybe(text) if !fits(text) => Truth::No,
        Value::Among(all) if !all.iter().any(|text| fits(text)) => Truth::No,
        Value::Shape(shape) if !shape.may_have(&pieces(wanted)) => Truth::No,
        Value::Shape(shape) if shape.has(&pieces(wanted)) => Truth::Yes,
        _ => Truth::Unknown,
    }
}

fn pieces(wanted: &str) -> Vec<Piece> {
    let text = |text: &str| Some(Piece::Text(text.to_owned())).filter(|_| !text.is_empty());
    let each = wanted.split('*').enumerate();
    each.flat_map(|(at, part)| (at > 0).then_some(Piece::Any(())).into_iter().chain(text(part))).collect()
}

fn not(truth: Truth) -> Truth {
    match truth {
        Truth::Yes => Truth::No,
        Truth::No => Truth::Yes,
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_names_each_program_once_and_uses_known_words() {
        let names: Vec<&str> = blocks().flat_map(|(names, _)| names.split_whitespace()).collect();
        let different: alloc::collections::BTreeSet<_> = names.iter().collect();
        assert_eq!(names.len(), different.len(), "a program has two blocks");
        for row in blocks().flat_map(|(_, rows)| rows.lines()) {
            let (pattern, words) = row.split_once("= ").unwrap();
            assert!(
                words.split_whitespace().all(|word| WORDS.contains(&word) || [RUNS, RUNS_FIRST].contains(&word)),
                "{row}"
            );
            let is_token = |token: &str| token.split('|').all(|one| !one.is_empty());
            assert!(pattern.split_whitespace().all(is_token), "{row}");
        }
    }
}
