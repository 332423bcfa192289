//! The guard that adapters in a long-running process are handed: the runtime, bound to one project.

use async_trait::async_trait;
use phasegate_adapter::{Guard, Problem};
use phasegate_core::{Code, Event, Step};

use crate::project::Project;
use crate::runtime::Runtime;

/// A runtime bound to one project.
#[derive(Clone, Debug)]
pub struct ProjectGuard {
    /// The runtime.
    pub runtime: Runtime,
    /// The project.
    pub project: Project,
}

#[async_trait]
impl Guard for ProjectGuard {
    /// Decides one event. It blocks the thread while it waits for locks, for half of the deadline at most.
    async fn handle(&self, session: &str, event: Event) -> Result<Step, Problem> {
        let unguarded = || Problem::new(Code::PolicyMissing, "no config guards this project");
        self.runtime.handle_event(self.project.clone(), session, event)?.ok_or_else(unguarded)
    }
}
