//! Paths of a call: among a tool's arguments, and as the words of a line name them.

pub(in crate::analysis) mod word_paths;
pub(in crate::analysis) mod in_project;
pub(in crate::analysis) mod pattern_matches;
pub(in crate::analysis) mod in_part;
pub(in crate::analysis) mod descendants;
pub(in crate::analysis) mod arguments;
pub(crate) mod read_folders;
