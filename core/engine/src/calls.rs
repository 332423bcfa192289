//! Calls of tools: under which names policies know them, what their arguments would do, and how they ended.

pub mod tool;
pub mod builtin_tools;
pub mod outcome;
pub mod cause;
pub mod exit_status;
pub mod analysis;
pub(crate) mod parts;
pub mod forbidden_change;
pub mod reported_numbers;
