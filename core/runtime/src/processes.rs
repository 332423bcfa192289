//! Processes: who started whom, who sent a message, and who gives a command.

pub mod ancestors;
pub(crate) mod sender;
pub mod connections;
pub mod attribution;
