//! Whether the kernel holds shell lines.

use serde::{Deserialize, Serialize};

/// Whether the client's shell runs lines of a phase that only reads so that nothing of them stays, and all lines so that the
/// guard's own files stay as they are. Of several levels the strictest holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Confine {
    /// Lines run as without: in a phase that only reads those that are known to read.
    Off,
    /// Lines run so where the system can hold them, and elsewhere as with `off`.
    #[default]
    Auto,
    /// As with `auto`; and where the system cannot hold lines, only those run that are known to read.
    Required,
}
