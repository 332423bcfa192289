//! Conditions of rules, as data.

use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

/// A condition, or a part of one. It means what it means in Cedar.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expr {
    /// A value that the rule states.
    #[serde(rename = "v")]
    Literal(Literal),
    /// What the call brings.
    Var(Var),
    /// `!a`.
    Not(Box<Self>),
    /// `-a`.
    Neg(Box<Self>),
    /// `a && b && c`.
    And(Vec<Self>),
    /// `a || b || c`.
    Or(Vec<Self>),
    /// An operator or a method with two sides.
    Of(Op, Box<Sides>),
    /// `a.isEmpty()`.
    IsEmpty(Box<Self>),
    /// `a.name`.
    #[serde(rename = "get")]
    Attr(Box<Self>, String),
    /// `a has name`.
    Has(Box<Self>, String),
    /// `a like "x*"`.
    Like(Box<Self>, Vec<Piece>),
    /// `a is Type`.
    Is(Box<Self>, String),
    /// `if a then b else c`.
    If(Box<Branches>),
    /// `[a, b]`.
    Set(Vec<Self>),
    /// `{name: a}`.
    Record(Vec<Named>),
    /// A condition that reads nothing but the arguments of a call, by its number in the rule.
    #[serde(rename = "t")]
    Test(u16, Box<Self>),
}

/// The sides of an operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Sides {
    /// The left one.
    #[serde(rename = "l")]
    pub left: Expr,
    /// The right one.
    #[serde(rename = "r")]
    pub right: Expr,
}

/// The parts of a choice.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Branches {
    /// What decides.
    pub test: Expr,
    /// The value where that holds.
    pub then: Expr,
    /// The value where it does not.
    pub otherwise: Expr,
}

/// A field of a record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Named {
    /// The name.
    pub name: String,
    /// The value.
    pub value: Expr,
}

/// A value that a rule states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Literal {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Long(i64),
    /// A text.
    Text(String),
    /// An entity.
    Entity {
        /// The type.
        #[serde(rename = "type")]
        kind: String,
        /// The id.
        id: String,
    },
}

/// What a call brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Var {
    /// Who calls.
    Principal,
    /// Which tool is called, as an action.
    Action,
    /// The tool.
    Resource,
    /// Everything else.
    Context,
}

/// An operator or a method with two sides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Op {
    /// `==`.
    #[serde(rename = "==")]
    Equal,
    /// `!=`.
    #[serde(rename = "!=")]
    Unequal,
    /// `in`.
    #[serde(rename = "in")]
    In,
    /// `<`.
    #[serde(rename = "<")]
    Less,
    /// `<=`.
    #[serde(rename = "<=")]
    AtMost,
    /// `>`.
    #[serde(rename = ">")]
    Greater,
    /// `>=`.
    #[serde(rename = ">=")]
    AtLeast,
    /// `+`.
    #[serde(rename = "+")]
    Add,
    /// `-`.
    #[serde(rename = "-")]
    Subtract,
    /// `*`.
    #[serde(rename = "*")]
    Multiply,
    /// `.contains(a)`.
    #[serde(rename = "contains")]
    Contains,
    /// `.containsAll(a)`.
    #[serde(rename = "containsAll")]
    ContainsAll,
    /// `.containsAny(a)`.
    #[serde(rename = "containsAny")]
    ContainsAny,
}

/// A piece of a pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Piece {
    /// This text.
    Text(String),
    /// Any characters, also none.
    Any(()),
}

/// Whether a text has the pattern.
pub(crate) fn is_like(text: &str, pattern: &[Piece]) -> bool {
    let Some((first, rest)) = pattern.split_first() else { return text.is_empty() };
    let Piece::Text(start) = first else { return ends_like(text, rest) };
    text.strip_prefix(start.as_str()).is_some_and(|text| is_like(text, rest))
}

/// Whether a text ends with the pattern: the first place of each piece is the best one.
fn ends_like(mut text: &str, mut pattern: &[Piece]) -> bool {
    loop {
        let Some((first, rest)) = pattern.split_first() else { return true };
        pattern = rest;
        let Piece::Text(wanted) = first else { continue };
        if rest.is_empty() {
            return text.ends_with(wanted.as_str());
        }
        // Pieces of text that follow each other were joined when the rule was compiled.
        let Some((_, after)) = text.split_once(wanted.as_str()) else { return false };
        text = after;
    }
}

/// Whether some text has both patterns. Where the first is flat, its stars stand for no slash.
pub(crate) fn may_meet(one: &[Piece], other: &[Piece], flat: bool) -> bool {
    let (one, other) = (letters(one), letters(other));
    // Whether what is left of the first and of the second from a place on can be the same text, from the ends.
    let mut after: Vec<bool> = alloc::vec![false; other.len() + 1];
    for at in (0..=one.len()).rev() {
        let mut row = alloc::vec![false; other.len() + 1];
        for place in (0..=other.len()).rev() {
            let of = |row: &[bool], place: usize| row.get(place).copied().unwrap_or_default();
            let meets = match (one.get(at), other.get(place)) {
                (None, None) => true,
                (Some(None), Some(None)) => of(&after, place) || of(&row, place + 1),
                // A star stands for nothing, or for one letter more.
                (Some(None), Some(Some(letter))) => {
                    of(&after, place) || (!(flat && *letter == '/') && of(&row, place + 1))
                }
                (Some(Some(_)), Some(None)) => of(&row, place + 1) || of(&after, place),
                (Some(None), None) => of(&after, place),
                (None, Some(None)) => of(&row, place + 1),
                (Some(Some(letter)), Some(Some(wanted))) => letter == wanted && of(&after, place + 1),
                (Some(Some(_)), None) | (None, Some(Some(_))) => false,
            };
            if let Some(slot) = row.get_mut(place) {
                *slot = meets;
            }
        }
        after = row;
    }
    after.first().copied().unwrap_or_default()
}

/// Whether every text that has the first pattern has the second: what the first leaves open stands where the second does too.
pub(crate) fn surely_has(one: &[Piece], other: &[Piece]) -> bool {
    let (one, other) = (letters(one), letters(other));
    // Which places of the second the letters so far can have reached.
    let mut reached: Vec<bool> = (0..=other.len()).map(|place| other.iter().take(place).all(Option::is_none)).collect();
    for letter in &one {
        let mut next = alloc::vec![false; other.len() + 1];
        for (place, slot) in next.iter_mut().enumerate() {
            let of = |place: usize| reached.get(place).copied().unwrap_or_default();
            let before = place.checked_sub(1).and_then(|before| Some((of(before), other.get(before)?)));
            // A star goes on; a letter stands for itself.
            *slot = (of(place) && other.get(place).is_some_and(Option::is_none))
                || before.is_some_and(|(of_before, wanted)| of_before && (wanted.is_none() || wanted == letter));
        }
        // A star stands for nothing too.
        for place in 0..other.len() {
            let goes_on = next.get(place) == Some(&true) && other.get(place).is_some_and(Option::is_none);
            if let Some(slot) = next.get_mut(place + 1).filter(|_| goes_on) {
                *slot = true;
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or_default()
}

/// The letters of a pattern; `None` stands for any letters, also none.
fn letters(pattern: &[Piece]) -> Vec<Option<char>> {
    let mut all = Vec::new();
    for piece in pattern {
        match piece {
            Piece::Text(text) => all.extend(text.chars().map(Some)),
            Piece::Any(()) => all.push(None),
        }
    }
    all
}

impl Expr {
    /// Whether it reads one of these fields of `context.command` or `context.path`.
    pub fn reads(&self, part: &str, names: &[&str]) -> bool {
        let mut found = false;
        self.each(&mut |expr| {
            let Self::Attr(of, name) = expr else { return };
            let Self::Attr(of, of_part) = of.as_ref() else { return };
            found |= **of == Self::Var(Var::Context) && of_part == part && names.contains(&name.as_str());
        });
        found
    }

    /// Whether it is `context.facts`.
    pub(crate) fn is_facts(&self) -> bool {
        matches!(self, Self::Attr(of, name) if **of == Self::Var(Var::Context) && name == "facts")
    }

    /// Calls `visit` with the expression and everything in it.
    pub fn each<'e>(&'e self, visit: &mut dyn FnMut(&'e Self)) {
        visit(self);
        match self {
            Self::Literal(_) | Self::Var(_) => {}
            Self::Not(of) | Self::Neg(of) | Self::IsEmpty(of) | Self::Test(_, of) => of.each(visit),
            Self::Attr(of, _) | Self::Has(of, _) | Self::Like(of, _) | Self::Is(of, _) => of.each(visit),
            Self::And(all) | Self::Or(all) | Self::Set(all) => all.iter().for_each(|one| one.each(visit)),
            Self::Of(_, sides) => {
                sides.left.each(visit);
                sides.right.each(visit);
            }
            Self::If(branches) => {
                branches.test.each(visit);
                branches.then.each(visit);
                branches.otherwise.each(visit);
            }
            Self::Record(fields) => fields.iter().for_each(|field| field.value.each(visit)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pattern(text: &str) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for (at, part) in text.split('*').enumerate() {
            if at > 0 {
                pieces.push(Piece::Any(()));
            }
            if !part.is_empty() {
                pieces.push(Piece::Text(part.into()));
            }
        }
        pieces
    }

    #[test]
    fn a_pattern_that_says_more_has_the_other_for_sure() {
        for (one, other, wanted) in [
            ("a", "a", true),
            ("a", "b", false),
            ("*.py", "*.py", true),
            ("x*.py", "*.py", true),
            ("*.py", "x*.py", false),
            ("*", "*.py", false),
            ("*", "*", true),
            ("a", "*", true),
            ("", "*", true),
            ("", "", true),
            (".env*", ".env.*", false),
            (".env.*", ".env*", true),
            ("a*b*c", "a*c", true),
            ("a*c", "a*b*c", false),
            ("abc", "a*b*c*", true),
            ("aab", "*ab", true),
            ("a*", "*a", false),
            ("**", "*", true),
        ] {
            assert_eq!(surely_has(&pattern(one), &pattern(other)), wanted, "{one} has {other}");
        }
    }

    #[test]
    fn two_patterns_meet_where_a_text_has_both() {
        for (one, other, meet) in [
            ("a*", "*b", true),
            ("a*", "b*", false),
            ("*.rs", "*.pem", false),
            ("*.rs", ".env", false),
            ("*", ".env", true),
            (".e*", ".env", true),
            (".e*", ".env.*", true),
            ("id_*", "id_rsa", true),
            ("x*y", "*xy*", true),
            ("x*y", "x", false),
            ("", "*", true),
            ("", "a", false),
            ("a*b*c", "abbc", true),
            ("a*b*c", "acb", false),
        ] {
            let (left, right) = (pattern(one), pattern(other));
            assert_eq!(
                (may_meet(&left, &right, false), may_meet(&right, &left, false)),
                (meet, meet),
                "{one} and {other}"
            );
        }
    }

    #[test]
    fn stars_stand_for_any_characters() {
        let cases = [
            ("", "", true),
            ("a", "", false),
            ("", "*", true),
            ("abc", "a*", true),
            ("abc", "*c", true),
            ("abc", "a*c", true),
            ("ac", "a*c", true),
            ("abab", "*ab", true),
            ("aba", "a*ba*", true),
            ("a", "a*a", false),
            ("xaxb", "*a*b", true),
            ("xaxb", "*b*a", false),
            ("git push -f", "git push*-f", true),
            ("ab", "ab*", true),
            ("ba", "ab*", false),
        ];
        for (text, wanted, is) in cases {
            assert_eq!(is_like(text, &pattern(wanted)), is, "{text} like {wanted}");
        }
    }
}
