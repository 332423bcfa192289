//! What rules are, once they are read, and what may be wrong with them.

use serde::Serialize;

/// A line and a column, each counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) line: usize,
    pub(super) column: usize,
}

/// What keeps rules from being loaded: when it is found, its code, and what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mistake {
    pub(super) stage: &'static str,
    pub(super) code: &'static str,
    pub(super) message: String,
    pub(super) at: Spot,
}

impl Mistake {
    pub(super) fn syntax(message: impl Into<String>, at: Spot) -> Self {
        Self { stage: "parse", code: "syntax", message: message.into(), at }
    }

    pub(super) fn check(code: &'static str, message: impl Into<String>, at: Spot) -> Self {
        Self { stage: "validate", code, message: message.into(), at }
    }
}

/// A rule. Its JSON has no places, so that it does not depend on the layout.
#[derive(Debug, Serialize)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) guards: Vec<Guard>,
    pub(super) effects: Vec<Effect>,
    #[serde(skip)]
    pub(super) at: Spot,
}

#[derive(Debug, Serialize)]
pub(super) struct Guard {
    /// `None`: `else`.
    pub(super) when: Option<Expr>,
    /// Why it rejects; `None`: it admits.
    pub(super) rejects: Option<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Effect {
    pub(super) name: String,
    pub(super) arguments: Vec<Expr>,
    #[serde(skip)]
    pub(super) at: Spot,
}

#[derive(Debug, Serialize)]
pub(super) struct Expr {
    pub(super) what: What,
    #[serde(skip)]
    pub(super) at: Spot,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum What {
    Number(u64),
    Truth(bool),
    Text(String),
    /// A name, or several with dots between them.
    Variable(String),
    Call(String, Vec<Expr>),
    Not(Box<Expr>),
    Minus(Box<Expr>),
    Both(&'static str, Box<Expr>, Box<Expr>),
}
