//! What the project's tasks share: where the workspace is, how programs are run, how a task fails.

pub mod failure;
pub mod root;
pub mod process;
pub mod seeds;
