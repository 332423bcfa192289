//! Commands: what a person, or an agent with a skill, says to the guard itself.

pub(crate) mod arguments;
pub mod slash_command;
pub(crate) mod target;
pub(crate) mod pending_content;
pub(crate) mod approving;
pub(crate) mod registering;
pub(crate) mod run_status;
pub(crate) mod steering;
pub(crate) mod halting;
pub(crate) mod managing;
pub(crate) mod control;
