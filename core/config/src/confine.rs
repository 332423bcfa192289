//! Whether the kernel holds shell lines.

use serde::{Deserialize, Serialize};

/// Whether the client's shell runs lines of a phase that only reads so that nothing of them stays, where it can. Of several
/// levels the strictest holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Confine {
    /// Lines run as without, and only those that are known to read.
    Off,
    /// Lines run so where the system can hold them. Elsewhere only those run that are known to read.
    #[default]
    Auto,
}

impl Confine {
    /// Whether nothing was said.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::Auto
    }
}
