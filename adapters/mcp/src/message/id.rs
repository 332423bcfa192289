//! The ids by which requests and their answers find each other.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The id of a request, as the one who asked chose it. Two spellings of one value (`"1"` and `"\u0031"`) are one id.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Id {
    /// A whole number.
    Number(i64),
    /// A text.
    Text(String),
}

impl Id {
    /// The id that this JSON text is; `None` if it is neither a text nor a whole number.
    pub fn read(json: &[u8]) -> Option<Self> {
        match serde_json::from_slice(json).ok()? {
            Value::String(text) => Some(Self::Text(text)),
            Value::Number(number) => number.as_i64().map(Self::Number),
            Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
        }
    }

    /// The id as JSON, always spelt in the same way.
    pub fn json(&self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => Value::from(text.as_str()).to_string(),
        }
    }
}

impl std::fmt::Display for Id {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.json())
    }
}
