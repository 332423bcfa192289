//! Why a task failed, as the text that is shown.

/// What a task returns.
pub type Result<T = ()> = std::result::Result<T, Failure>;

/// Why a task failed.
#[derive(Debug)]
pub struct Failure(String);

impl Failure {
    /// A failure with this text.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// An operation on a file that did not work.
    pub fn file(path: &std::path::Path, error: impl std::fmt::Display) -> Self {
        Self(format!("{}: {error}", path.display()))
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
