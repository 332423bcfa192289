//! Events: what a platform tells, and what each leads to.

pub mod event;
pub mod file_effects;
pub(crate) mod observe;
pub mod agent_message;
pub(crate) mod call;
