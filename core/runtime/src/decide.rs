//! One decision: `step`, asked again until every fact that it asks for was gathered. Hook, bridge, session cache, replay,
//! probe, status and `audit why` all decide through this function.

use phasegate_adapter::Problem;
use phasegate_core::{Code, Event, FactKey, Facts, Outcome, Policy, State, step};

/// What an event leads to, and the facts that were used.
#[derive(Debug)]
pub struct Decided {
    /// The engine's answer.
    pub outcome: Outcome,
    /// The facts that it asked for.
    pub facts: Facts,
}

/// Decides an event. `gather` answers the keys that the facts so far do not answer.
///
/// # Errors
///
/// `internal`: the engine asks for facts without end, more often than the policy has phases.
pub fn decide(
    policy: &Policy,
    state: &State,
    event: &Event,
    mut gather: impl FnMut(&[FactKey], &mut Facts),
) -> Result<Decided, Problem> {
    let mut facts = Facts::new();
    let phases: usize = policy.skills.iter().chain(&policy.earlier).map(|skill| skill.phases.len()).sum();
    for _ in 0..phases + 2 {
        let outcome = step(policy, state, event, &facts);
        if outcome.needs.is_empty() {
            return Ok(Decided { outcome, facts });
        }
        gather(&outcome.needs, &mut facts);
    }
    Err(Problem::new(Code::Internal, "the decision kept asking for facts"))
}
