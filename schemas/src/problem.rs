//! What is wrong with a document, as data.

/// One place where a document differs from its schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The place: keys and list positions from the root.
    pub pointer: Vec<String>,
    /// What is wrong there.
    pub kind: ProblemKind,
}

/// What is wrong at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ProblemKind {
    /// The object there has a key that means nothing.
    UnknownKey {
        /// The key.
        key: String,
        /// The keys that mean something there.
        known: Vec<String>,
    },
    /// The object there lacks a key.
    MissingKey(String),
    /// The value has another type than one of these: `object`, `array`, `string`, `number`, `integer`, `boolean`.
    WrongType(Vec<String>),
    /// The value is none of these words.
    NotOneOf(Vec<String>),
    /// The value breaks a rule that the fragment names.
    Other(String),
}
