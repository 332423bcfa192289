//! Where the words come from that a line makes when it runs, as far as the line says it.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::expand::field::Field;
use crate::judgement::{Pattern, Piece};

/// The most texts that are kept of a command.
const MAX_TEXTS: usize = 64;
/// The most values that are kept of a variable.
const MAX_VALUES: usize = 64;

/// Texts that a command may be about, though they are none of its known words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Beside(Vec<Pattern>);

/// What the line gives to a variable, at any place before.
#[derive(Clone, Debug, Default)]
pub(crate) struct Told {
    /// The values.
    pub(crate) values: Vec<Field>,
    /// What the line says of them beside.
    pub(crate) beside: Beside,
}

/// What the walk keeps of the values that the line makes.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    /// Of the command that is judged.
    pub(crate) own: Beside,
    /// What is fed to the commands that are judged: by those before them in a pipeline, and by redirections around them.
    pub(crate) fed: Beside,
    /// Of each variable.
    pub(crate) told: BTreeMap<String, Told>,
    /// The parts that the body of each function is.
    pub(crate) bodies: BTreeMap<String, Range<usize>>,
}

impl Beside {
    /// These texts.
    pub(crate) fn of(texts: Vec<Pattern>) -> Self {
        Self(texts)
    }

    /// Takes note of a text, where a part of it is known.
    pub(crate) fn add(&mut self, text: Pattern) {
        if text.0.iter().any(|piece| matches!(piece, Piece::Text(_) | Piece::Glob)) {
            self.keep(text);
        }
    }

    /// Takes note that there are more than are kept.
    fn crowd(&mut self) {
        self.keep(Pattern::open());
    }

    fn keep(&mut self, text: Pattern) {
        let is_new = !self.0.contains(&text);
        match self.0.len() {
            MAX_TEXTS if is_new => self.0.push(Pattern::open()),
            more if more < MAX_TEXTS && is_new => self.0.push(text),
            _ => {}
        }
    }

    /// Takes note of other ones.
    pub(crate) fn extend(&mut self, other: &Self) {
        other.0.iter().for_each(|text| self.keep(text.clone()));
    }

    /// Them, in the order of the line.
    pub(crate) fn texts(&self) -> Vec<Pattern> {
        self.0.clone()
    }
}

impl Told {
    /// Takes note of a value.
    pub(crate) fn add(&mut self, field: &Field) {
        if self.values.len() < MAX_VALUES {
            self.values.push(field.clone());
        } else {
            self.beside.crowd();
        }
        self.beside.add(field.to_pattern());
    }
}
