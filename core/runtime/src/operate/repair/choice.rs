//! What a person says of what is damaged, and what comes of it.

use phasegate_core::policy::Mode;
use phasegate_store::aside::Aside;

/// What a person says of the part that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    /// The runs that are live in the readable part go on. They begin anew, without evidence.
    Keep,
    /// A run of this skill goes on, in each damaged session, or in the project where no session is damaged. It begins anew,
    /// in this mode or a stricter one that the skill asks for.
    Run {
        /// The name of the skill.
        skill: String,
        /// The mode.
        mode: Option<Mode>,
    },
    /// No run was live.
    NoRun,
}

/// A journal that was set aside, and what goes on in its place.
#[derive(Clone, Debug, PartialEq)]
pub struct Sealed {
    /// The session; `None` for the project's own journal.
    pub session: Option<String>,
    /// What was set aside; `None` where nothing was left of the journal.
    pub aside: Option<Aside>,
    /// The skills of the runs that go on.
    pub skills: Vec<String>,
}
