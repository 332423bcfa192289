//! The guard as adapters see it that live inside a long-running process.

use async_trait::async_trait;
use phasegate_core::{Event, Step};

use crate::Problem;

/// Decides events. The runtime implements it for one project; an adapter that lives in a server is handed it and never
/// sees store, clock or config.
#[async_trait]
pub trait Guard: Send + Sync {
    /// Decides and records one event of the session with this platform id.
    ///
    /// # Errors
    ///
    /// The guard could not work; the caller must answer with a denial.
    async fn handle(&self, session: &str, event: Event) -> Result<Step, Problem>;
}
