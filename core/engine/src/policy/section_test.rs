//! Sections: what has to stand below a heading of an argument that is Markdown. The runtime counts the words.

use core::fmt::{self, Display};

use serde::{Deserialize, Serialize};

use crate::prelude::*;

/// What has to stand below a heading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionTest {
    /// The heading, without its marks.
    pub heading: String,
    /// The least number of words.
    pub min_words: u64,
}

impl Display for SectionTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { heading, min_words } = self;
        let words = if *min_words == 1 { "word" } else { "words" };
        write!(f, "\"## {heading}\" above {min_words} {words}")
    }
}
