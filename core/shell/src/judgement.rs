//! What a line was judged to be, and why.

use std::collections::BTreeSet;

use phasegate_core::calls::analysis::{Access, SimpleCommand, Status, Verdict, Word};
use phasegate_core::shell::words::command;
use serde::{Deserialize, Serialize};

use crate::obeyed::Readers;
use crate::syntax::is_one_word;
use crate::tree::Span;

/// How far the reader may trust what lies in the folder the line runs in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trust {
    /// The repository's own configuration names no program that a human did not choose. A clone does not
    /// bring that configuration along, so this is the default. Where it is false, `git status` and its like only read
    /// in a hardened form.
    pub repository: bool,
    /// The commands that obey something that calls have changed; they only read in a hardened form, if at all.
    pub lost: BTreeSet<Readers>,
    /// The line is run by zsh. It is read as bash reads it, and what zsh reads otherwise is unknown.
    pub zsh: bool,
    /// The path of the folder that the line runs in may hold what a shell reads as a command.
    pub odd_folder: bool,
    /// The branch that the folder is on, where its name is plain: `git branch --show-current` prints it.
    pub branch: Option<String>,
}

impl Default for Trust {
    fn default() -> Self {
        Self { repository: true, lost: BTreeSet::new(), zsh: false, odd_folder: false, branch: None }
    }
}

impl Trust {
    /// The same, of a line that runs in this folder.
    #[must_use]
    pub fn in_folder(self, folder: &str) -> Self {
        // A blank only makes several words of it.
        Self { odd_folder: !is_one_word(&folder.replace(' ', "")), ..self }
    }
}

/// A line, judged: the worst of its parts, with the parts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Judgement {
    /// What the line can do at most; `read` only where every part only reads.
    pub verdict: Verdict,
    /// Why, as a lower-case fragment.
    pub because: String,
    /// First and one-past-last byte of the word that decided; equal for "nothing in particular".
    pub span: (u32, u32),
    /// The simple commands, in order of their place in the line, wrapped and nested ones included.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// The paths that the line would touch, as far as they are known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub touches: Vec<Touch>,
    /// Whether a program of the line asks a service on the network, though it changes nothing there.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub network: bool,
    /// Whether it shows what runs on the machine, or asks a service there, and runs nothing that a repository names.
    #[serde(skip)]
    pub outside: bool,
    /// Whether something of it goes on after it, or may, where it could not be read whole: `&`, `setsid`, `>(tee log)`.
    #[serde(skip)]
    pub leaves_running: bool,
    /// Why the line could not be read whole; the verdict is `unknown` then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
}

/// One simple command of a line, with its own verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The command, as the engine matches it.
    pub command: SimpleCommand,
    /// Its words with what is known of those that are not wholly known.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Pattern>,
    /// Why it has its verdict, as a lower-case fragment.
    pub because: String,
    /// First and one-past-last byte of the word that decided.
    pub decides: (u32, u32),
    /// Whether it changes files of which it names none.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unnamed: bool,
    /// Whether it reads files whose names it makes while it runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub computed: bool,
    /// The folders that it may run in, from the one that the line starts in, each with a slash at its end.
    #[serde(skip)]
    pub folders: Vec<Pattern>,
    /// What the line says of words that it makes when it runs, and of what it feeds the command; where no letter is known,
    /// there is more.
    #[serde(skip)]
    pub beside: Vec<Pattern>,
}

/// A path that a line would touch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Touch {
    /// The path, as far as it is known.
    pub path: Pattern,
    /// What is done to it.
    pub access: Access,
    /// Which of the parts does it, by its number; absent where a redirection of several commands does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u32>,
    /// Whether only a word says so of which nobody knows whether it is a path: `prod` of `cargo test --features prod`, and one
    /// that is made when the line runs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub guess: bool,
}

/// A text that may be known only in part: the pieces in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pattern(pub Vec<Piece>);

/// One piece of a [`Pattern`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Piece {
    /// This text.
    Text(String),
    /// Any text, also none, also with slashes: a variable, a substitution.
    Any,
    /// What a file name pattern can stand for: any text without a slash, also none.
    Glob,
    /// Any text, also with slashes, that makes this the path of something that exists: what a search finds at any depth.
    Tree,
    /// The home folder of the user.
    Home,
}

/// Why a line could not be read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What is wrong, as a lower-case fragment.
    pub what: String,
    /// First and one-past-last byte of the place.
    pub span: (u32, u32),
}

impl Pattern {
    /// A pattern that stands for one text only.
    pub fn known(text: &str) -> Self {
        if text.is_empty() { Self(Vec::new()) } else { Self(vec![Piece::Text(text.to_owned())]) }
    }

    /// A pattern that stands for any text.
    pub fn open() -> Self {
        Self(vec![Piece::Any])
    }

    /// The text, where the pattern stands for one only.
    pub fn text(&self) -> Option<String> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(known) => text.push_str(known),
                Piece::Any | Piece::Glob | Piece::Tree | Piece::Home => return None,
            }
        }
        Some(text)
    }

    /// The folder that a path known in part is in; `None`: it may be anywhere.
    pub fn folder(&self) -> Option<String> {
        // What a search finds lies below the folder in which it starts.
        let below = |piece: &Piece| match piece {
            Piece::Text(text) => !text.contains(".."),
            Piece::Glob | Piece::Tree => true,
            Piece::Any | Piece::Home => false,
        };
        let Some(Piece::Text(start)) = self.0.first() else {
            return self.0.iter().all(below).then(|| ".".to_owned());
        };
        let rest = self.0.get(1..).unwrap_or(&[]);
        if !rest.iter().all(below) {
            return None;
        }
        Some(match start.rsplit_once('/') {
            Some(("", _)) => "/".to_owned(),
            Some((folder, _)) => folder.to_owned(),
            None => ".".to_owned(),
        })
    }

    /// This pattern and behind it another one, with texts that stand beside each other as one.
    pub fn then(&self, behind: &Self) -> Self {
        Self::joined(self.0.iter().chain(&behind.0).cloned())
    }

    /// These pieces, with texts that stand beside each other as one.
    pub fn joined(all: impl IntoIterator<Item = Piece>) -> Self {
        let mut pieces: Vec<Piece> = Vec::new();
        for piece in all {
            match (pieces.last_mut(), piece) {
                (Some(Piece::Text(last)), Piece::Text(text)) => last.push_str(&text),
                (_, piece) => pieces.push(piece),
            }
        }
        Self(pieces)
    }

    /// Whether the pattern can stand for `text`, where the home folder is `home` (any folder if absent).
    pub fn could_be(&self, text: &str, home: Option<&str>) -> bool {
        // The positions in `text` that the pieces so far can have reached, as in a simulation of an automaton.
        let bytes = text.as_bytes();
        let mut reached = vec![false; bytes.len().saturating_add(1)];
        if let Some(first) = reached.first_mut() {
            *first = true;
        }
        for piece in &self.0 {
            reached = match (piece, home) {
                (Piece::Text(known), _) => advance(&reached, bytes, known.as_bytes()),
                (Piece::Home, Some(home)) => advance(&reached, bytes, home.as_bytes()),
                (Piece::Any | Piece::Tree | Piece::Home, _) => spread(&reached, bytes, |_| true),
                (Piece::Glob, _) => spread(&reached, bytes, |byte| byte != b'/'),
            };
        }
        reached.last().copied().unwrap_or(false)
    }
}

fn advance(reached: &[bool], bytes: &[u8], known: &[u8]) -> Vec<bool> {
    let mut next = vec![false; reached.len()];
    for (at, _) in reached.iter().enumerate().filter(|(_, reached)| **reached) {
        let end = at.saturating_add(known.len());
        if bytes.get(at..end) == Some(known)
            && let Some(slot) = next.get_mut(end)
        {
            *slot = true;
        }
    }
    next
}

fn spread(reached: &[bool], bytes: &[u8], allowed: impl Fn(u8) -> bool) -> Vec<bool> {
    let mut next = Vec::with_capacity(reached.len());
    let mut carried = false;
    for (at, here) in reached.iter().enumerate() {
        let crossed = at.checked_sub(1).and_then(|before| bytes.get(before)).is_some_and(|byte| allowed(*byte));
        carried = *here || (carried && crossed);
        next.push(carried);
    }
    next
}

/// A command of which nothing but these is known.
pub(crate) fn engine_command(
    words: Vec<Word>,
    assignments: Vec<(String, Word)>,
    redirections: Vec<(String, Word)>,
    span: Span,
) -> SimpleCommand {
    SimpleCommand { assignments, redirections, span, status: Status::Lost, ..command(words) }
}
