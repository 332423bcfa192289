//! Source types to policy types. What cannot be built is reported and left out, so that all mistakes are found at once.

pub(crate) mod builder;
mod pattern;
mod object;
pub(crate) mod matcher;
mod tests;
mod bounds;
mod says;
mod files;
mod format;
mod artifact;
mod inputs;
pub(crate) mod condition;
mod done_by;
mod runs;
mod allowed;
mod unlisted;
mod prompt_parts;
mod phase;
pub(crate) mod skill;
