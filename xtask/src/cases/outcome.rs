//! How cases come out.

use serde::Serialize;

/// How a case came out.
#[derive(Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub(crate) enum Outcome {
    /// As it says.
    Agrees,
    /// Otherwise.
    Differs { expected: String, got: String },
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

    pub(crate) fn of(expected: &impl ToString, got: &impl ToString) -> Self {
        let (expected, got) = (expected.to_string(), got.to_string());
        if expected == got { Self::Agrees } else { Self::Differs { expected, got } }
    }

    pub(crate) fn not_supported(why: &str) -> Self {
        Self::NotSupported { why: why.to_owned() }
    }
}
