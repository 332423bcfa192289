//! What a client writes of its sessions.

pub(crate) mod transcript;
pub(crate) mod rollout;
pub(crate) mod rollout_lines;
pub(crate) mod session_lines;
