//! What is known of a simple command: its words, its options, and what it does. Rules and matchers ask for it.

mod names;
mod options;
mod sending;
mod effects;

use phasegate_rules::{Piece, Shape, Truth, Value};

pub(crate) use self::effects::mentions;
use self::effects::{Effects, Seen, bounded};
use self::effects::{GENTLE, TEST};
pub use self::effects::{WORDS, rows_of_word};
use self::names::Names;
pub(crate) use self::names::of_server;
use self::options::Options;
use self::sending::may_send;
use crate::calls::analysis::{SimpleCommand, Verdict, Word};
use crate::prelude::*;
use crate::shell::npm;
use crate::shell::runner::only_tests;
use crate::shell::shell_word::quoted;
use crate::shell::words::{is_flag, is_of_system, is_plain, is_plain_but};

/// Commands that give those after them in a line variables.
const EXPORTS: [&str; 3] = ["export", "declare", "typeset"];

/// The program that runs another one with variables.
const ENV: &str = "env";

/// What of a command is no text of the call itself.
pub(crate) struct Words {
    /// The command as one text; `None`: a word of it is not known.
    pub(crate) text: Option<String>,
    /// The assignments before it, and those that the line exports before it, as one text; `None`: a value is not known.
    environment: Option<String>,
    /// The names of the variables in it.
    variables: Vec<String>,
    /// Whether there may be more of them.
    more_variables: bool,
    /// What words are made of of which the beginning is known, by their numbers.
    begun: Vec<(usize, [Piece; 2])>,
    /// The options that it is given, and those that it may be given.
    options: Options,
    /// The names in its words.
    names: Names,
}

impl Words {
    /// Them, of a command after these in its line.
    pub(crate) fn of(command: &SimpleCommand, before: &[SimpleCommand]) -> Self {
        let words: Option<Vec<&str>> = command.words.iter().map(Word::known).collect();
        let text = words.map(|words| {
            let text = |(at, word): (usize, &str)| shown(if at == 0 { bare(word).0 } else { word });
            words.into_iter().enumerate().map(text).collect::<Vec<_>>().join(" ")
        });
        // An alias may bring words along.
        let text = text.filter(|_| !command.alias);
        let assigned = |(name, value): &(String, Word)| Some([name, "=", value.known()?].concat());
        let exports = || before.iter().filter(|earlier| gives_variables(earlier, command));
        // Those of the command that runs it: `A=1 sh -c "git push"`.
        let around = before.iter().filter(|earlier| encloses(earlier, command)).flat_map(|outer| &outer.assignments);
        let exported = exports().flat_map(given).filter_map(Word::known);
        let exported = exported.filter(|word| word.contains('=')).map(|word| Some(word.to_string()));
        let environment: Option<Vec<String>> =
            exported.chain(around.chain(&command.assignments).map(assigned)).collect();
        let environment = environment.filter(|_| !exports().any(gives_unknown)).map(|assigned| assigned.join(" "));
        let around = before.iter().filter(|earlier| encloses(earlier, command)).chain([command]);
        let assigned = around.flat_map(|outer| &outer.assignments).map(|(name, _)| name.as_str());
        let variables = assigned.chain(exports().flat_map(variables)).map(String::from).collect();
        let more_variables = exports().any(|earlier| given(earlier).any(is_made) && begun(earlier).next().is_none());
        let number = |number: u32| usize::try_from(number).ok();
        let begun = command
            .starts
            .iter()
            .filter_map(|(at, start)| Some((number(*at)?, [Piece::Text(start.clone()), Piece::Any(())])));
        let begun = begun.collect();
        let (options, names) = (Options::of(command), Names::of(command, before));
        Self { text, environment, variables, more_variables, begun, options, names }
    }

    /// The words after the program. Of one that is made when the line runs, what is known of it.
    fn after<'a>(&'a self, command: &'a SimpleCommand) -> impl Iterator<Item = Value<'a>> {
        let value = |(at, word): (usize, &'a Word)| match word {
            Word::Known(text) => Value::Text(text),
            Word::Unknown | Word::Value => {
                let pieces = self.begun.iter().find(|(number, _)| *number == at).map(|(_, pieces)| pieces.as_slice());
                pieces.map_or(Value::Unknown, |pieces| Value::Shape(Shape { pieces, hidden: true, flat: false }))
            }
        };
        command.words.iter().enumerate().skip(1).map(value)
    }

    /// What it does.
    fn effects<'a>(&'a self, command: &'a SimpleCommand) -> Effects {
        let brought = || command.alias.then_some(Value::Unknown);
        let word = |(word, value): (&Word, Value<'a>)| if *word == Word::Value { Value::Text("") } else { value };
        let words: Vec<Value<'_>> =
            command.words.iter().skip(1).zip(self.after(command)).map(word).chain(brought()).collect();
        let passed = usize::try_from(command.global_options).unwrap_or(usize::MAX);
        let mut operands = bounded(words.iter().skip(passed));
        // Options with their values in the same word leave no doubt where the subcommand stands.
        let plain = |word: &Word| word.known().is_some_and(|text| text.starts_with('-') && text.contains('='));
        let placed = command.words.iter().skip(1).take(passed).all(|word| plain(word) || is_flag(word));
        match (operands.first_mut(), subcommand(command)) {
            (_, Value::Among(_)) | (None, _) => {}
            (Some(first), Value::Maybe(named)) if placed && !command.unplaced => *first = Value::Text(named),
            (Some(first), named) => *first = named,
        }
        let (variables, more_variables) = (self.variables.as_slice(), self.more_variables);
        let (program, options) = (program(command), self.options.value());
        let seen = Seen { command, program, operands, words, plain: None, options, variables, more_variables };
        let tests = Value::Bool(only_tests(command));
        Effects::of(&seen).with("send", &sends(command)).with(TEST, &tests)
    }

    /// The command. A text that it may be stands for a program that may be another one, for a subcommand that may stand
    /// elsewhere, and for an option that may be given.
    pub(crate) fn value<'a>(&'a self, command: &'a SimpleCommand) -> Value<'a> {
        // What stands before the program, and where its output goes, are no part of the text.
        let text = if is_plain(command) { Value::Text } else { Value::Maybe };
        let brought = || command.alias.then_some(Value::Unknown);
        Value::record(vec![
            ("program", program(command)),
            ("subcommand", subcommand(command)),
            ("words", Value::set(self.after(command).chain(brought()))),
            ("does", self.effects(command).value()),
            ("options", self.options.value()),
            ("text", self.text.as_deref().map_or(Value::Unknown, text)),
            ("verdict", Value::Text(verdict(command.verdict))),
            ("sends", sends(command)),
            ("pushes_other", Value::Bool(command.pushes_other)),
            ("names", self.names.value()),
            ("hosts", self.names.of_hosts()),
            ("environment", self.environment.as_deref().map_or(Value::Unknown, Value::Text)),
        ])
    }
}

/// Whether a command, after these in its line, does what a word says.
pub(crate) fn does(command: &SimpleCommand, before: &[SimpleCommand], word: &str) -> Truth {
    let found = Words::of(command, before).effects(command).truth(word);
    // A variable, or a file that it writes, may make another thing of what it does by itself. What stands beside a run of
    // tests is looked at already.
    if is_plain_but(command, true) || !GENTLE.contains(&word) || word == TEST {
        found
    } else {
        found.min(Truth::Unknown)
    }
}

/// The command of a line that runs none.
pub(crate) fn none<'a>() -> Value<'a> {
    let empty = || Value::Text("");
    Value::record(vec![
        ("program", empty()),
        ("subcommand", empty()),
        ("words", Value::set([])),
        ("options", Value::set([])),
        ("text", empty()),
        ("verdict", Value::Text(verdict(Verdict::Read))),
        ("sends", Value::Bool(false)),
        ("pushes_other", Value::Bool(false)),
        ("does", Value::set([Value::Text("read")])),
        ("names", Value::set([])),
        ("hosts", Value::set([])),
        ("environment", empty()),
    ])
}

/// Whether an earlier command of a line gives this one variables: it exports them, or is the `env` that runs it.
fn gives_variables(earlier: &SimpleCommand, command: &SimpleCommand) -> bool {
    let around = encloses(earlier, command);
    program_is(earlier, |name| EXPORTS.contains(&name) || (around && name == ENV))
}

/// Whether a command stands in the words of an earlier one.
fn encloses(earlier: &SimpleCommand, command: &SimpleCommand) -> bool {
    earlier.span.0 <= command.span.0 && command.span.1 <= earlier.span.1
}

/// The words by which such a command gives variables.
fn given(earlier: &SimpleCommand) -> impl Iterator<Item = &Word> {
    let runs = program_is(earlier, |name| name == ENV);
    let is_before =
        move |word: &&Word| !runs || word.known().is_none_or(|text| text.contains('=') || text.starts_with('-'));
    earlier.words.iter().skip(1).take_while(is_before)
}

/// Whether a command gives values that are made when the line runs, other than where programs are looked for.
fn gives_unknown(earlier: &SimpleCommand) -> bool {
    let mut begins = begun(earlier).peekable();
    given(earlier).any(is_made) && (begins.peek().is_none() || begins.any(|name| name != "PATH"))
}

fn is_made(word: &Word) -> bool {
    !matches!(word, Word::Known(_))
}

/// The names of the variables that a command gives.
fn variables(earlier: &SimpleCommand) -> impl Iterator<Item = &str> {
    given(earlier).filter_map(Word::known).filter_map(|text| Some(text.split_once('=')?.0)).chain(begun(earlier))
}

/// The names of those whose values are made when the line runs.
fn begun(earlier: &SimpleCommand) -> impl Iterator<Item = &str> {
    earlier.beside.iter().filter_map(Word::known).filter_map(|text| Some(text.split_once('=')?.0))
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
            if bare(text).1 && is_plain_but(command, true) { Value::Text(name) } else { Value::Maybe(name) }
        }
    }
}

fn program_is(command: &SimpleCommand, wanted: impl Fn(&str) -> bool) -> bool {
    let name =
        command.words.first().and_then(Word::known).map(|name| name.rsplit_once('/').map_or(name, |(_, last)| last));
    name.is_some_and(wanted)
}

fn subcommand(command: &SimpleCommand) -> Value<'_> {
    let after = command.words.get(1..).unwrap_or_default();
    let options = usize::try_from(command.global_options).unwrap_or(usize::MAX).min(after.len());
    let (passed, rest) = after.split_at(options);
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
        Some(Word::Known(text)) if text.starts_with('-') => one_of(command, rest),
        // The value of the option before it, or the command.
        Some(Word::Known(_)) if command.unplaced => one_of(command, rest),
        Some(Word::Known(text)) => {
            let text = meant(command, text);
            if command.led_plainly || passed.iter().all(is_flag) { Value::Text(text) } else { Value::Maybe(text) }
        }
    }
}

/// A subcommand that is one of these words, if there is one.
fn one_of<'a>(command: &SimpleCommand, words: &'a [Word]) -> Value<'a> {
    let texts = words.iter().map(Word::known).collect::<Option<Vec<_>>>();
    let Some(texts) = texts else { return Value::Unknown };
    let texts: Vec<&str> = texts.into_iter().filter(|text| !text.starts_with('-')).collect();
    match texts.as_slice() {
        [] => Value::Text(""),
        _ => Value::Among(texts.into_iter().map(|text| meant(command, text)).collect()),
    }
}

/// The subcommand that a word is.
fn meant<'a>(command: &SimpleCommand, word: &'a str) -> &'a str {
    if program_is(command, |name| name == "npm") { npm::meant(word) } else { word }
}

fn sends(command: &SimpleCommand) -> Value<'_> {
    match command.verdict {
        _ if command.network => Value::Bool(true),
        Verdict::Send => Value::Bool(true),
        Verdict::Unknown => Value::Unknown,
        Verdict::Write | Verdict::Execute if may_send(command) => Value::Unknown,
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
fn shown(word: &str) -> String {
    let odd = word.is_empty() || word.chars().any(|letter| letter.is_whitespace() || letter == '\'');
    if odd { quoted(word) } else { word.to_string() }
}
