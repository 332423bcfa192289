//! A word after expansion, as far as it is known.

use phasegate_core::calls::analysis::Word as EngineWord;

use crate::judgement::{Pattern, Piece};
use crate::tree::Span;

/// One piece of a [`Field`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Bit {
    Text(String),
    /// What a file name pattern can stand for.
    Glob,
    /// The home folder.
    Home,
    /// The folder in which the line starts, from the root.
    Here,
    /// Any text.
    Any,
    /// Any text, slashes included, that makes the word the path of something that exists.
    Tree,
    /// Any text, given to the line by its environment.
    Given,
    /// One integer.
    Number,
    /// Integers with blanks between them, perhaps none.
    Numbers,
    /// Text with at least one character and no blank, whose first is no `-`, and no place that is a connection.
    Plain,
    /// Words with blanks between them, perhaps none; none starts with `-`.
    Tame,
}

impl Bit {
    /// Whether it may be any text that the line makes.
    pub(crate) fn is_made(&self) -> bool {
        matches!(self, Self::Any)
    }

    /// Whether it may be any text.
    pub(crate) fn is_open(&self) -> bool {
        matches!(self, Self::Any | Self::Given)
    }
}

/// A word after expansion; `many` says that it may be no word or several.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Field {
    pub(crate) bits: Vec<Bit>,
    pub(crate) many: bool,
    pub(crate) span: Span,
}

impl Field {
    pub(crate) fn text(text: &str, span: Span) -> Self {
        Self { bits: vec![Bit::Text(text.to_owned())], many: false, span }
    }

    pub(crate) fn any(span: Span) -> Self {
        Self { bits: vec![Bit::Any], many: true, span }
    }

    /// The text, where there is only one.
    pub(crate) fn known(&self) -> Option<&str> {
        match self.bits.as_slice() {
            _ if self.many => None,
            [] => Some(""),
            [Bit::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// How many bytes of it are known.
    pub(crate) fn letters(&self) -> usize {
        self.bits.iter().map(|bit| if let Bit::Text(text) = bit { text.len() } else { 1 }).sum()
    }

    /// The words that it is where each hole that may hold blanks holds some; `None` where it is one word in any case.
    pub(crate) fn words(&self) -> Option<Vec<Self>> {
        let blank = |bit: &Bit| bit.is_open() || matches!(bit, Bit::Tame | Bit::Numbers);
        if !self.many || self.bits.len() < 2 || !self.bits.iter().any(blank) {
            return None;
        }
        let one = |bits: &[Bit]| Self {
            bits: bits.to_vec(),
            many: bits.iter().any(|bit| blank(bit) || *bit == Bit::Glob),
            span: self.span,
        };
        Some(self.bits.chunk_by(|before, after| !blank(before) && !blank(after)).map(one).collect())
    }

    /// The text that the word starts with in any case.
    pub(crate) fn start(&self) -> &str {
        match self.bits.first() {
            Some(Bit::Text(text)) => text,
            _ => "",
        }
    }

    /// Whether the word, or one of the words, can start with `-`.
    pub(crate) fn may_be_option(&self) -> bool {
        let splits = self.many && self.bits.iter().any(Bit::is_open);
        for bit in &self.bits {
            match bit {
                // These can be no text at all, so that what follows starts the word.
                Bit::Tame | Bit::Numbers => {}
                Bit::Text(text) if text.is_empty() => {}
                Bit::Text(text) => return splits || text.starts_with('-'),
                Bit::Number | Bit::Plain | Bit::Home | Bit::Here | Bit::Glob => return splits,
                Bit::Any | Bit::Given | Bit::Tree => return true,
            }
        }
        splits
    }

    /// Whether it is one integer for sure.
    pub(crate) fn is_number(&self) -> bool {
        match self.bits.as_slice() {
            [Bit::Number | Bit::Numbers] => true,
            [Bit::Text(text)] => {
                let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
                !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
            }
            _ => false,
        }
    }

    /// The word without its first `bytes` bytes, which are known text.
    pub(crate) fn after(&self, bytes: usize) -> Self {
        let mut field = self.clone();
        if let Some(Bit::Text(text)) = field.bits.first_mut() {
            *text = text.get(bytes..).unwrap_or("").to_owned();
            if text.is_empty() {
                field.bits.remove(0);
            }
        }
        field
    }

    pub(crate) fn push_text(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if let Some(Bit::Text(last)) = self.bits.last_mut() {
            last.push_str(text);
        } else {
            self.bits.push(Bit::Text(text.to_owned()));
        }
    }

    /// The word as the engine keeps it.
    /// Adds another word without a blank.
    pub(crate) fn push(&mut self, other: &Self) {
        for bit in &other.bits {
            match bit {
                Bit::Text(text) => self.push_text(text),
                other => self.bits.push(other.clone()),
            }
        }
        self.many |= other.many;
    }

    /// Whether it is a path from the root.
    pub(crate) fn is_absolute(&self) -> bool {
        self.start().starts_with('/') || matches!(self.bits.first(), Some(Bit::Home | Bit::Here))
    }

    /// The path that the word names, seen from a folder.
    pub(crate) fn below(&self, folder: &Self) -> Self {
        if self.is_absolute() {
            return self.clone();
        }
        let mut whole = Self { many: self.many, span: self.span, ..folder.clone() };
        whole.push_text("/");
        whole.push(self);
        whole
    }

    pub(crate) fn to_word(&self) -> EngineWord {
        self.known().map_or(EngineWord::Unknown, |text| EngineWord::Known(text.to_owned()))
    }

    /// The word as a pattern.
    pub(crate) fn to_pattern(&self) -> Pattern {
        let begins = match self.bits.get(1) {
            None => true,
            Some(Bit::Text(text)) => text.starts_with('/'),
            Some(_) => false,
        };
        let piece = |(at, bit): (usize, &Bit)| match bit {
            // A path is seen from there.
            Bit::Here if at == 0 && begins => Piece::Text(".".to_owned()),
            Bit::Text(text) => Piece::Text(text.clone()),
            Bit::Glob => Piece::Glob,
            Bit::Home => Piece::Home,
            Bit::Tree => Piece::Tree,
            Bit::Any | Bit::Given | Bit::Here | Bit::Number | Bit::Numbers | Bit::Plain | Bit::Tame => Piece::Any,
        };
        let mut pieces: Vec<Piece> = self.bits.iter().enumerate().map(piece).collect();
        pieces.retain(|piece| !matches!(piece, Piece::Text(text) if text.is_empty()));
        let open = |piece: &Piece| matches!(piece, Piece::Any | Piece::Glob | Piece::Tree);
        if self.many && !pieces.iter().any(open) {
            pieces.push(Piece::Any);
        }
        Pattern(pieces)
    }

    /// The same word with every `mark` in its text replaced by a value.
    pub(crate) fn with_mark(&self, mark: &str, value: &Bit) -> Self {
        if mark.is_empty() {
            return self.clone();
        }
        let mut field = Self { bits: Vec::new(), many: self.many, span: self.span };
        for bit in &self.bits {
            let Bit::Text(text) = bit else {
                field.bits.push(bit.clone());
                continue;
            };
            for (number, part) in text.split(mark).enumerate() {
                if number > 0 {
                    field.bits.push(value.clone());
                }
                if !part.is_empty() {
                    field.push_text(part);
                }
            }
        }
        field
    }
}

/// A value of one unknown text.
pub(crate) fn any() -> Vec<Bit> {
    vec![Bit::Any]
}
