//! The guard as adapters see it that live inside a long-running process.

use async_trait::async_trait;
use phasegate_core::{Event, Step};

use crate::Problem;

/// Decides events. Implemented by the runtime, handed to adapters by the CLI; they never see store, clock or config.
#[async_trait]
pub trait Guard: Send + Sync {
    /// Decides one event of a session.
    ///
    /// # Errors
    ///
    /// The guard could not work; the caller must answer with a denial.
    async fn handle(&self, session: &str, event: Event) -> Result<Step, Problem>;
}
