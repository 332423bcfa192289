//! A text that something runs, with holes: a hole is what the line makes of the text when it runs.
//!
//! In the text, a sign stands for each hole and says what is known of it. A reader takes it for what its language has in
//! that place; the shell's takes it for a parameter of that name, in quotes of any kind.

use crate::expand::field::{Bit, Field};
use crate::judge::guard::{FIRST_SIGN, is_sign};
use crate::tree::Span;

/// What a hole can be, by the number of its sign.
const HOLES: [Bit; 10] = [
    Bit::Any,
    Bit::Given,
    Bit::Home,
    Bit::Here,
    Bit::Plain,
    Bit::Tame,
    Bit::Glob,
    Bit::Tree,
    Bit::Numbers,
    Bit::Number,
];

/// What may stand in a text beside what it says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Doubt {
    /// Nothing: each hole is a number, or a folder whose name nobody chose.
    #[default]
    Nothing,
    /// Words that come from outside or name what exists. In the language of the text they may be more.
    Words,
    /// Anything, also further commands.
    Commands,
}

/// A text that is run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Script {
    pub(crate) text: String,
    pub(crate) doubt: Doubt,
    pub(crate) span: Span,
}

impl Script {
    /// The text that words are, with a blank between them.
    pub(crate) fn of<'f>(fields: impl IntoIterator<Item = &'f Field>) -> Self {
        let mut script = Self::default();
        for (number, field) in fields.into_iter().enumerate() {
            if number == 0 {
                script.span = field.span;
            } else {
                script.text.push(' ');
            }
            for bit in &field.bits {
                match bit {
                    Bit::Text(text) => script.text.push_str(text),
                    Bit::Number => script.text.push('1'),
                    other => script.text.push(sign(other)),
                }
                script.doubt = script.doubt.max(doubt(bit, field.many));
            }
        }
        script
    }

    /// A text without holes.
    pub(crate) fn known(text: &str, span: Span) -> Self {
        Self { text: text.to_owned(), doubt: Doubt::Nothing, span }
    }

    /// Another text that was made of this one.
    pub(crate) fn with(&self, text: impl Into<String>) -> Self {
        Self { text: text.into(), doubt: self.doubt, span: self.span }
    }
}

/// A text out of a script as one word.
pub(crate) fn field(text: &str, span: Span) -> Field {
    let mut field = Field { bits: Vec::new(), many: false, span };
    for piece in text.split_inclusive(is_sign) {
        let sign = piece.chars().next_back().and_then(hole);
        let known = if sign.is_some() { piece.trim_end_matches(is_sign) } else { piece };
        if !known.is_empty() {
            field.push_text(known);
        }
        field.bits.extend(sign);
    }
    field
}

/// A text whose holes are filled, where no reader says what they are: each is some name, but for folders that are known.
pub(crate) fn filled(text: &str) -> String {
    let name =
        |letter| if hole(letter).is_some_and(|hole| doubt(&hole, false) > Doubt::Nothing) { 'x' } else { letter };
    text.chars().map(name).collect()
}

/// What the hole of this name is; `None`: it is no name of a hole.
pub(crate) fn named(name: &str) -> Option<Bit> {
    name.chars().next().and_then(hole)
}

fn hole(letter: char) -> Option<Bit> {
    let number = u32::from(letter).checked_sub(u32::from(FIRST_SIGN)).filter(|_| is_sign(letter))?;
    Some(usize::try_from(number).ok().and_then(|number| HOLES.get(number).cloned()).unwrap_or(Bit::Any))
}

fn sign(bit: &Bit) -> char {
    let number = (0..).zip(&HOLES).find(|(_, hole)| *hole == bit).map_or(0, |(number, _)| number);
    char::from_u32(u32::from(FIRST_SIGN).saturating_add(number)).unwrap_or(FIRST_SIGN)
}

fn doubt(bit: &Bit, splits: bool) -> Doubt {
    match bit {
        Bit::Text(_) | Bit::Number => Doubt::Nothing,
        Bit::Home | Bit::Here if !splits => Doubt::Nothing,
        Bit::Any => Doubt::Commands,
        _ => Doubt::Words,
    }
}
