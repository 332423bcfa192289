//! How much the kernel holds.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How a command is confined, from the most that it can do without keeping anything to nothing at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Read-only: the command writes to a layer over its folders, which is thrown away.
    Overlay,
    /// Read-only: every folder is mounted read-only, but for private temporary ones.
    Binds,
    /// Read-only: the command's own rights are cut, in the namespaces that it finds.
    Landlock,
    /// Some folders are read-only; everything else is as without.
    Protect,
    /// Nothing is held.
    None,
}

impl Level {
    /// The levels at which a command keeps nothing, the best first.
    pub const READ_ONLY: [Self; 3] = [Self::Overlay, Self::Binds, Self::Landlock];

    /// Every level that holds something.
    pub const ALL: [Self; 4] = [Self::Overlay, Self::Binds, Self::Landlock, Self::Protect];

    /// Its name, as it is written in settings and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Overlay => "overlay",
            Self::Binds => "binds",
            Self::Landlock => "landlock",
            Self::Protect => "protect",
            Self::None => "none",
        }
    }

    /// The level of a name.
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.into_iter().chain([Self::None]).find(|level| level.name() == name)
    }

    /// What it is made of, for a person.
    pub fn what(self) -> &'static str {
        match self {
            Self::Overlay => "read-only: changes go to a layer that is thrown away",
            Self::Binds => "read-only: every folder is mounted read-only",
            Self::Landlock => "read-only: rights to change files are taken away",
            Self::Protect => "some folders are mounted read-only",
            Self::None => "nothing is held",
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}
