//! Where the variables and options of a line say that git works.

use crate::field::{Bit, Field};

/// What a line says of where git works.
#[derive(Debug, Default)]
pub(crate) struct GitPlaces {
    /// The folders.
    pub(crate) places: Vec<Place>,
    /// The commands.
    pub(crate) sites: Vec<Site>,
    /// Whether there are more sites than are kept.
    pub(crate) crowded: bool,
}

/// A folder that git may work in.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) folder: Field,
    /// Whether it is the one that the command runs in, where another would be the root of the working tree.
    pub(crate) here: bool,
}

/// A command of git that may change the working tree.
#[derive(Clone, Debug)]
pub(crate) struct Site {
    /// The folder that its options enter.
    pub(crate) folder: Field,
    pub(crate) folders: Vec<Vec<Bit>>,
    pub(crate) operands: Vec<Field>,
}

impl Site {
    /// Whether it runs in the folder in which the line starts.
    pub(crate) fn is_at_start(&self) -> bool {
        self.folder.known() == Some(".") && self.folders.iter().all(Vec::is_empty)
    }
}
