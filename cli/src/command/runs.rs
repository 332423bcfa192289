//! Runs: what a person does with them every day.

pub mod control;
pub(in crate::command) mod live;
pub(in crate::command) mod step_line;
pub mod status;
pub mod start;
pub mod why;
pub mod approve;
pub mod allow;
pub mod skip;
pub mod end;
pub mod advance;
pub mod retry;
pub mod halt;
pub mod resume;
pub mod mode;
pub mod access;
pub mod restore;
