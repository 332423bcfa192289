//! A simple command as rules see it.

use alloc::string::{String, ToString as _};
use alloc::vec;
use alloc::vec::Vec;

use phasegate_rules::Value;

use crate::analysis::{SimpleCommand, Verdict, Word};
use crate::words::{is_flag, is_of_system, is_plain};

/// What of a command is no text of the call itself.
pub(super) struct Words {
    /// The command as one text; `None`: a word of it is not known.
    pub(super) text: Option<String>,
    /// The assignments before it, as one text; `None`: a value is not known.
    environment: Option<String>,
    /// The options that letters behind one dash may stand for: `-f` and `-u` of `-fu`.
    letters: Vec<String>,
}

impl Words {
    pub(super) fn of(command: &SimpleCommand) -> Self {
        let known = |word: &Word| if let Word::Known(text) = word { Some(text.clone()) } else { None };
        let words: Option<Vec<String>> = command.words.iter().map(known).collect();
        let text = words.map(|words| {
            let shown = |(at, word): (usize, &String)| quoted(if at == 0 { bare(word).0 } else { word });
            words.iter().enumerate().map(shown).collect::<Vec<_>>().join(" ")
        });
        // An alias may bring words along.
        let text = text.filter(|_| !command.alias);
        let assigned = |(name, value): &(String, Word)| Some([name, "=", known_text(value)?].concat());
        let environment: Option<Vec<String>> = command.assignments.iter().map(assigned).collect();
        let environment = environment.map(|assigned| assigned.join(" "));
        Self { text, environment, letters: options(command).filter_map(known_text).flat_map(letters).collect() }
    }

    /// The command. A text that it may be stands for a program that may be another one, for a subcommand that may stand
    /// elsewhere, and for letters behind one dash.
    pub(super) fn value<'a>(&'a self, command: &'a SimpleCommand) -> Value<'a> {
        let after = command.words.get(1..).unwrap_or_default();
        let spelt =
            options(command).filter_map(known_text).filter_map(|word| word.split_once('=')).map(|(name, _)| name);
        let given = options(command).map(word);
        let may = self.letters.iter().map(|letter| Value::Maybe(letter));
        // What stands before the program, and where its output goes, are no part of the text.
        let text = if is_plain(command) { Value::Text } else { Value::Maybe };
        let brought = || command.alias.then_some(Value::Unknown);
        Value::record(vec![
            ("program", program(command)),
            ("subcommand", subcommand(command)),
            ("words", Value::set(after.iter().map(word).chain(brought()))),
            ("options", Value::set(given.chain(spelt.map(Value::Text)).chain(may).chain(brought()))),
            ("text", self.text.as_deref().map_or(Value::Unknown, text)),
            ("verdict", Value::Text(verdict(command.verdict))),
            ("sends", sends(command)),
            ("environment", self.environment.as_deref().map_or(Value::Unknown, Value::Text)),
        ])
    }
}

/// The command of a line that runs none.
pub(super) fn none<'a>() -> Value<'a> {
    let empty = || Value::Text("");
    Value::record(vec![
        ("program", empty()),
        ("subcommand", empty()),
        ("words", Value::set([])),
        ("options", Value::set([])),
        ("text", empty()),
        ("verdict", Value::Text(verdict(Verdict::Read))),
        ("sends", Value::Bool(false)),
        ("environment", empty()),
    ])
}

fn word(word: &Word) -> Value<'_> {
    match word {
        Word::Known(text) => Value::Text(text),
        Word::Unknown | Word::Value => Value::Unknown,
    }
}

fn known_text(word: &Word) -> Option<&str> {
    if let Word::Known(text) = word { Some(text) } else { None }
}

/// The words before `--` that are options or may be.
fn options(command: &SimpleCommand) -> impl Iterator<Item = &Word> {
    let after = command.words.get(1..).unwrap_or_default();
    let before = after.iter().take_while(|word| known_text(word) != Some("--"));
    let may_be = |word: &&Word| known_text(word).is_none_or(|text| text.len() > 1 && text.starts_with('-'));
    before.filter(may_be).filter(|word| !matches!(word, Word::Value))
}

fn letters(option: &str) -> impl Iterator<Item = String> {
    let bundle = option.strip_prefix('-').filter(|rest| rest.len() > 1 && !rest.starts_with('-')).unwrap_or_default();
    bundle.chars().filter(char::is_ascii_alphanumeric).map(|letter| ['-', letter].iter().collect())
}

/// The name of a program, and whether it is surely the one that is known by it.
fn bare(program: &str) -> (&str, bool) {
    match program.rsplit_once('/') {
        None => (program, true),
        Some((_, name)) if is_of_system(program) => (name, true),
        // The text of a command has the path of such a program.
        Some(_) => (program, false),
    }
}

fn program(command: &SimpleCommand) -> Value<'_> {
    match command.words.first() {
        None => Value::Text(""),
        Some(Word::Unknown | Word::Value) => Value::Unknown,
        Some(Word::Known(text)) => {
            let name = text.rsplit_once('/').map_or(text.as_str(), |(_, name)| name);
            if bare(text).1 && is_plain(command) { Value::Text(name) } else { Value::Maybe(name) }
        }
    }
}

fn subcommand(command: &SimpleCommand) -> Value<'_> {
    let after = command.words.get(1..).unwrap_or_default();
    let options = usize::try_from(command.global_options).unwrap_or(usize::MAX).min(after.len());
    let (passed, rest) = after.split_at(options);
    let may_follow = || rest.iter().any(|word| known_text(word).is_none_or(|text| !text.starts_with('-')));
    match rest.first() {
        None => Value::Text(""),
        Some(Word::Unknown | Word::Value) => Value::Unknown,
        // An alias may stand for any command of the program.
        Some(_) if command.alias => Value::Unknown,
        // The toolchain of `cargo +nightly publish`.
        Some(Word::Known(text)) if text.starts_with('+') => match rest.get(1) {
            Some(Word::Known(next)) => Value::Maybe(next),
            Some(_) => Value::Unknown,
            None => Value::Text(""),
        },
        // Which of its options take the next word, nobody says.
        Some(Word::Known(text)) if text.starts_with('-') => {
            if may_follow() {
                Value::Unknown
            } else {
                Value::Text("")
            }
        }
        Some(Word::Known(text)) if passed.iter().all(is_flag) => Value::Text(text),
        Some(Word::Known(text)) => Value::Maybe(text),
    }
}

fn sends(command: &SimpleCommand) -> Value<'_> {
    match command.verdict {
        _ if command.network => Value::Bool(true),
        Verdict::Send => Value::Bool(true),
        Verdict::Unknown => Value::Unknown,
        Verdict::Read | Verdict::Write | Verdict::Execute => Value::Bool(false),
    }
}

fn verdict(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Read => "read",
        Verdict::Write => "write",
        Verdict::Execute => "execute",
        Verdict::Send => "send",
        Verdict::Unknown => "unknown",
    }
}

/// A word of a text, in quotes where it has a space or a quote in it.
fn quoted(word: &str) -> String {
    let odd = word.is_empty() || word.chars().any(|letter| letter.is_whitespace() || letter == '\'');
    if odd { alloc::format!("'{}'", word.replace('\'', "'\\''")) } else { word.to_string() }
}
