//! One event: observe, judge, move, record.

use alloc::vec::Vec;

use serde_json::Value;

use crate::decision::Decision;
use crate::event::Event;
use crate::fact::{FactKey, Facts};
use crate::policy::Policy;
use crate::state::{Obligation, Record, State};

/// What one event led to.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
pub struct Step {
    /// The answer; `None` for events that ask for none.
    pub decision: Option<Decision>,
    /// The state after the event.
    pub state: State,
    /// What changed, for the journal.
    pub records: Vec<Record>,
    /// What the host must be told, given again until it was taken up.
    pub obligations: Vec<Obligation>,
    /// The answer of a control command.
    pub result: Option<Value>,
    /// Facts that must be gathered before this step counts: call `step` again with them.
    pub needs: Vec<FactKey>,
}

/// The facts that `event` asks for: what [`step`] would want if it had none.
#[must_use]
pub fn needs(policy: &Policy, state: &State, event: &Event) -> Vec<FactKey> {
    step(policy, state, event, &Facts::new()).needs
}

/// Decides one event.
pub fn step(policy: &Policy, state: &State, event: &Event, facts: &Facts) -> Step {
    let _ = (policy, event, facts);
    Step { decision: None, state: state.clone(), records: Vec::new(), obligations: Vec::new(), result: None, needs: Vec::new() }
}
