//! Repair: what cannot be read of a project's state is set aside, and the sessions go on by what a person says of it
//! (rules 8.9).
//!
//! A journal that cannot be used may hide a live run. So a person says which skill was active, and the journals record
//! what was set aside and what was said of it.

mod choice;
mod damage;
mod journals;

use phasegate_adapter::Problem;

pub use self::choice::{Choice, Sealed};
pub use self::damage::{Damage, DamagedSession, Damages};
use crate::project::Project;
use crate::runtime::Runtime;

impl Runtime {
    /// What cannot be used of the project's state; of all sessions, and of `named`, where nothing else tells its id.
    /// Nothing is locked or changed.
    ///
    /// # Errors
    ///
    /// `state-exposed`: a folder of the state is not the user's alone.
    pub fn damages(&self, project: &Project, named: Option<&str>) -> Result<Damages, Problem> {
        project.check_folders(&self.locations.state)?;
        Ok(damage::find(self, project, named))
    }

    /// Sets every damaged journal aside and begins another in its place.
    ///
    /// # Errors
    ///
    /// `skill-unknown`, `policy-missing`: a run that is to go on has no skill; `command-invalid`: none is live in the readable
    /// part, and that one goes on was said. Nothing was changed then. `state-not-saved`,
    /// `state-busy`: it stopped there; what is left can be repaired again.
    pub fn repair(&self, project: &Project, damages: &Damages, choice: &Choice) -> Result<Vec<Sealed>, Problem> {
        journals::seal(self, project, damages, choice)
    }
}
