//! phasegate-service: the guard in a process that stays.
//!
//! Events and frames are queued, decided in batches by sessions that stay loaded, and made durable together. The modules
//! stand in reading order; each uses those above it.

mod oneshot;
mod batch;
mod pending;
mod small_files;
mod own_writes;
mod session_cache;
mod project_router;
mod dispatcher;
mod host;
mod patience;
pub mod guard;
mod bridge_probe;
mod bridge_lines;
mod bridge_answers;
pub mod bridge;

#[cfg(test)]
mod crash;

pub use guard::ProjectGuard;
