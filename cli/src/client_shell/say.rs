//! What the agent reads with what its line prints.

use std::fmt::Display;

use crate::output::Output;

/// Says it on standard error.
pub(super) fn say(text: impl Display) {
    Output { json: false }.note(format_args!("phasegate: {text}"));
}
