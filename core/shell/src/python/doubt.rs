//! What is found out about a text: what it reads, or why it is in doubt.

/// Why a text is in doubt, as a lower-case fragment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Doubt {
    pub(crate) because: String,
}

impl Doubt {
    pub(super) fn new(because: impl Into<String>) -> Self {
        Self { because: because.into() }
    }
}

/// The paths that a text reads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reads {
    /// Those that it names.
    pub(crate) paths: Vec<String>,
    /// Whether it may read any other.
    pub(crate) anything: bool,
}

impl Reads {
    pub(super) fn add(&mut self, paths: Option<Vec<String>>) {
        match paths {
            Some(paths) => self.paths.extend(paths),
            None => self.anything = true,
        }
    }
}
