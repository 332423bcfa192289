//! Commands of a shell line: which a pattern means, what they do in words, and what is registered of their safety.

pub mod shell_word;
pub mod same_line;
pub(crate) mod npm;
pub mod words;
pub mod common;
pub mod runner;
pub mod test_report;
pub(crate) mod command_view;
pub mod safety;
pub mod classifier;
