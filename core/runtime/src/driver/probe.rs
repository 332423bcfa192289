//! Probing: what calls would be answered now. The driver decides them on a store in memory, so nothing is written but
//! compiled policies.

use std::sync::Arc;

use phasegate_adapter::Problem;
use phasegate_core::{Decision, Event};
use phasegate_store::memory_store::MemoryStore;

use crate::deadline::{Deadline, limit_from_environment};
use crate::driver::Driver;
use crate::project::Project;
use crate::runtime::Runtime;
use crate::sessions::lineage::Origin;

impl Runtime {
    /// What each of these calls would be answered if it were the session's next event. A call whose `input` is null stands
    /// for every call of its tool: it is denied only where each of them is. Journals are read without their locks. An
    /// event that is no call is allowed. `None`: nothing guards the project and nothing ever did.
    ///
    /// # Errors
    ///
    /// What would keep the event from being decided.
    pub fn probe(
        &self,
        project: &Project,
        session: &str,
        events: Vec<Event>,
    ) -> Result<Option<Vec<Decision>>, Problem> {
        let store = MemoryStore::over(Arc::clone(&self.store));
        let deadline = Deadline::new(limit_from_environment());
        let driver = Driver::open(self, &store, project.clone(), session, &deadline);
        let Some(mut driver) = driver.map_err(|refusal| refusal.problem)? else { return Ok(None) };
        if let Some(first) = events.first() {
            let mut inherited = driver.inherit(&Origin::default(), vec![first.clone()])?;
            inherited.pop();
            for join in inherited {
                let _ = driver.decide(join)?;
            }
        }
        probe(&mut driver, events).map(Some)
    }
}

/// What each of these events would be answered if it were the next one.
///
/// # Errors
///
/// What would keep the event from being decided.
pub fn probe(driver: &mut Driver<'_>, events: Vec<Event>) -> Result<Vec<Decision>, Problem> {
    let decide = |event| Ok(driver.probe(event)?.decision.unwrap_or_else(Decision::allow));
    events.into_iter().map(decide).collect()
}
