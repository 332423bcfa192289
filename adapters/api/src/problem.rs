//! Problems: why a frame cannot be decided, or settings cannot be changed.

use phasegate_core::Code;
use serde::{Deserialize, Serialize};

/// Why a frame cannot be decided as usual.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The stable code of the reason.
    pub code: Code,
    /// What exactly is wrong, as a sentence without a full stop.
    pub message: String,
    /// What to do about it, where that is not what the code says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Problem {
    /// A problem of this kind.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), remedy: None }
    }

    /// The same problem with a remedy of its own, as a sentence without a full stop.
    #[must_use]
    pub fn with_remedy(self, remedy: impl Into<String>) -> Self {
        Self { remedy: Some(remedy.into()), ..self }
    }

    /// What to do about it, as a sentence without a full stop.
    #[must_use]
    pub fn remedy(&self) -> &str {
        self.remedy.as_deref().unwrap_or_else(|| self.code.remedy())
    }

    /// The text for an agent or a user: code, message and remedy.
    #[must_use]
    pub fn text(&self) -> String {
        format!("phasegate [{}]: {}. {}.", self.code, self.message, capitalised(self.remedy()))
    }
}

impl std::fmt::Display for Problem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} [{}]", self.message, self.code)
    }
}

impl std::error::Error for Problem {}

impl<E: phasegate_core::answers::code::Coded> From<E> for Problem {
    fn from(error: E) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
