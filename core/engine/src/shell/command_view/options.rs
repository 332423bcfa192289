//! The options of a simple command as rules see them: what its words surely are, and what they may stand for.

use phasegate_rules::{Piece, Shape, Value};

use crate::calls::analysis::{SimpleCommand, Word};
use crate::prelude::*;

/// Programs that take an option by its whole name alone. Most others also take the beginning of a long option's name, if no
/// other option begins so.
const WHOLE_NAMES: [&str; 33] = [
    "argocd",
    "bun",
    "cargo",
    "consul",
    "deno",
    "docker",
    "docker-compose",
    "esbuild",
    "fd",
    "flux",
    "fly",
    "flyctl",
    "gh",
    "glab",
    "go",
    "helm",
    "just",
    "kubectl",
    "kustomize",
    "minikube",
    "nomad",
    "packer",
    "pnpm",
    "podman",
    "pulumi",
    "rg",
    "rustc",
    "rustup",
    "terraform",
    "tofu",
    "uv",
    "vault",
    "yarn",
];
/// Options that take no value with the programs that have them.
const FLAGS: [&str; 29] = [
    "--add",
    "--all",
    "--debug",
    "--delete",
    "--dry-run",
    "--follow-tags",
    "--force",
    "--force-with-lease",
    "--global",
    "--json",
    "--local",
    "--locked",
    "--offline",
    "--quiet",
    "--set-upstream",
    "--silent",
    "--tags",
    "--verbose",
    "--yes",
    "-a",
    "-f",
    "-i",
    "-l",
    "-n",
    "-q",
    "-r",
    "-u",
    "-v",
    "-y",
];
/// Values that turn an option off.
const OFF: [&str; 8] = ["", "0", "f", "false", "n", "no", "none", "off"];

/// What options the words of a command are and may be.
pub(super) struct Options {
    /// Those that are surely given.
    given: Vec<String>,
    /// Those that may be given: `-f` of `-fu`, `--auto-approve` for `-auto-approve`, one that a later word turns off.
    maybe: Vec<String>,
    /// What long options begin with: `--force-w` may be `--force-with-lease`.
    begun: Vec<[Piece; 2]>,
    /// Whether more may be given.
    open: bool,
}

impl Options {
    pub(super) fn of(command: &SimpleCommand) -> Self {
        let mut all = Self { given: Vec::new(), maybe: Vec::new(), begun: Vec::new(), open: command.alias };
        let begins = !program(command).is_some_and(|name| WHOLE_NAMES.contains(&name));
        let words: Vec<&Word> = before_operands(command).collect();
        for (at, word) in words.iter().enumerate() {
            let Some(text) = word.known() else {
                // A word that begins as no option is none.
                let number = u32::try_from(at.saturating_add(1)).ok();
                let operand = |(of, start): &(u32, String)| Some(*of) == number && !start.starts_with('-');
                all.open |= matches!(word, Word::Unknown) && !command.starts.iter().any(operand);
                continue;
            };
            if text.len() < 2 || !text.starts_with('-') {
                continue;
            }
            let taken = at.checked_sub(1).and_then(|before| words.get(before)).is_some_and(|before| takes_next(before));
            let (name, value) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
            let next = words.get(at.saturating_add(1)).and_then(|next| next.known());
            let off = value.map_or(next == Some("false"), is_off);
            let undone = || words.iter().any(|other| other.known().is_some_and(|other| undoes(other, name)));
            let sure = !taken && !off && !undone();
            if value.is_some() {
                all.given.push(text.to_string());
            }
            if sure {
                all.given.push(name.to_string())
            } else {
                all.maybe.push(name.to_string())
            }
            all.maybe.extend(letters(text).chain(twin(name)));
            if begins && name.len() > 2 && name.starts_with("--") {
                all.begun.push([Piece::Text(name.to_string()), Piece::Any(())]);
            }
        }
        all
    }

    /// Them, as a set.
    pub(super) fn value(&self) -> Value<'_> {
        let begun = self.begun.iter().map(|pieces| Value::Shape(Shape { pieces, hidden: true, flat: false }));
        let given = self.given.iter().map(|text| Value::Text(text));
        let maybe = self.maybe.iter().map(|text| Value::Maybe(text));
        Value::set(given.chain(maybe).chain(begun).chain(self.open.then_some(Value::Unknown)))
    }
}

/// The words after the program and before `--`.
fn before_operands(command: &SimpleCommand) -> impl Iterator<Item = &Word> {
    command.words.iter().skip(1).take_while(|word| word.known() != Some("--"))
}

fn program(command: &SimpleCommand) -> Option<&str> {
    let name = command.words.first()?.known()?;
    Some(name.rsplit_once('/').map_or(name, |(_, name)| name))
}

/// Whether the word after this one may be its value, even if that looks like an option.
fn takes_next(word: &Word) -> bool {
    word.known().is_some_and(takes_value)
}

/// Whether a text is an option that may take the next word for its value.
pub(super) fn takes_value(text: &str) -> bool {
    let is_option = text.len() > 1 && text.starts_with('-') && !text.contains('=');
    is_option && !text.starts_with("--no-") && !FLAGS.contains(&text)
}

fn is_off(value: &str) -> bool {
    OFF.iter().any(|off| off.eq_ignore_ascii_case(value))
}

/// Whether a word turns an option off: `--no-dry-run`, or the beginning of it, does that for `--dry-run`.
fn undoes(word: &str, option: &str) -> bool {
    // The one letter that many programs have for a long option, which its long form turns off.
    let option = if option == "-n" { "--dry-run" } else { option };
    let Some(name) = option.strip_prefix("--") else { return false };
    let Some(word) = word.strip_prefix("--").filter(|word| !word.is_empty()) else { return false };
    match (name.strip_prefix("no-"), word.strip_prefix("no-")) {
        (Some(name), None) => name.starts_with(word),
        (None, Some(word)) => !word.is_empty() && name.starts_with(word),
        _ => false,
    }
}

/// The options that letters behind one dash may stand for.
fn letters(option: &str) -> impl Iterator<Item = String> {
    let bundle = option.strip_prefix('-').filter(|rest| rest.len() > 1 && !rest.starts_with('-')).unwrap_or_default();
    bundle.chars().filter(char::is_ascii_alphanumeric).map(|letter| ['-', letter].iter().collect())
}

/// The same name with the other number of dashes: programs written in Go take both.
fn twin(name: &str) -> Option<String> {
    let bare = name.trim_start_matches('-');
    match name.len().saturating_sub(bare.len()) {
        1 if bare.len() > 1 => Some(["--", bare].concat()),
        2 if bare.len() > 1 => Some(["-", bare].concat()),
        _ => None,
    }
}
