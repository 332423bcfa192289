//! The live runs of a project, which of them a command means, and the runs that are part of no other.

pub(in crate::command) mod found;
pub(in crate::command) mod order;
pub(in crate::command) mod roots;
