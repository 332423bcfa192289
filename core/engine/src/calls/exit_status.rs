//! What an exit status says.

use serde::{Deserialize, Serialize};

/// What the exit status of a line says about one of its commands (rules 3.3).
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Nothing: the command is in a condition, a loop or the background, or others follow it.
    #[default]
    Lost,
    /// Nothing, and what it prints goes through a pipe, of which the last command says how the line ends.
    Piped,
    /// If the line ends with 0, so did the command: it is joined to others by `&&`.
    Success,
    /// The line ends as the command does.
    Own,
}

impl Status {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn is_lost(&self) -> bool {
        *self == Self::Lost
    }

    /// Whether a line that ends with 0 says that the command did.
    pub fn tells(self) -> bool {
        self >= Self::Success
    }
}
