//! How a call and a line of the policy go together, in words.

use crate::answers::denial::Misplaced;
use crate::answers::doubt::NamedLine;
use crate::prelude::*;

/// A file that is none of the artifact's.
pub(super) fn misplaced_words(Misplaced { path, artifact, files }: &Misplaced) -> String {
    format!("Invalid artifact path: `{path}` is no file of the artifact `{artifact}` ({files})")
}

/// Why the call may be what the line means.
pub(super) fn because(line: &NamedLine) -> String {
    line.doubt.as_ref().map(|doubt| format!(" ({doubt})")).unwrap_or_default()
}

/// Which line may mean a call that no line lists; of a call that names no file, only why nobody knows.
pub(super) fn near(may: &NamedLine) -> String {
    match &may.doubt {
        Some(doubt) if may.is_about_no_name() => format!("; {doubt}"),
        _ => format!("; it may be what {} means{}", may.line, but(may)),
    }
}

fn but(line: &NamedLine) -> String {
    line.doubt.as_ref().map(|doubt| format!(", but {doubt}")).unwrap_or_default()
}
