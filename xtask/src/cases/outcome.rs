//! How cases come out.

use serde::Serialize;

/// How a case came out.
#[derive(Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// As it says.
    Agrees,
    /// Otherwise; why, where that is known for all cases of its kind.
    Differs { expected: String, got: String, why: Option<String> },
    /// It asks for something that the program does not have.
    NotSupported { why: String },
}

impl Outcome {
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Self::Agrees => "agrees",
            Self::Differs { .. } => "differs",
            Self::NotSupported { .. } => "not supported",
        }
    }

    /// Compares values, not their text: the keys of an object have no order.
    pub(crate) fn of<E: ToString + PartialEq<G>, G: ToString>(expected: &E, got: &G) -> Self {
        if expected == got {
            Self::Agrees
        } else {
            Self::Differs { expected: expected.to_string(), got: got.to_string(), why: None }
        }
    }

    /// Why it differs, if it does.
    pub(crate) fn because(mut self, reason: &str) -> Self {
        if let Self::Differs { why, .. } = &mut self {
            *why = Some(reason.to_owned());
        }
        self
    }

    /// A case that the program refuses to play.
    pub(crate) fn refused(problem: &str) -> Self {
        Self::Differs { expected: "a case that can be played".to_owned(), got: problem.to_owned(), why: None }
    }

    pub(crate) fn not_supported(why: &str) -> Self {
        Self::NotSupported { why: why.to_owned() }
    }
}
