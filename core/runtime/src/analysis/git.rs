//! What a line does to the repository, and what the repository makes of a line.

pub(in crate::analysis) mod branch;
pub(in crate::analysis) mod no_index;
pub(in crate::analysis) mod embedded;
pub(in crate::analysis) mod pushed;
