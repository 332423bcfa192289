//! The live runs of a project, which of them a command means, and the runs that are part of no other.

pub(super) mod found;
pub(super) mod order;
pub(super) mod roots;
