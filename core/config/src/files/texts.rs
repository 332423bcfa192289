//! The files that the configs of one level may name.

use crate::files::formats::Formats;
use crate::files::prompts::Prompts;
use crate::input::{Level, SourceFile};

/// What the configs of one level may name.
#[derive(Default)]
pub(crate) struct Texts<'f> {
    pub(crate) prompts: Prompts<'f>,
    pub(crate) formats: Formats<'f>,
}

impl<'f> Texts<'f> {
    /// Those of a level.
    pub(crate) fn of(files: &[&'f SourceFile], level: Level) -> Self {
        Self { prompts: Prompts::of(files, level), formats: Formats::of(files, level) }
    }
}
