//! One decision: `step`, asked again until every fact that it asks for was gathered. Hook, bridge, session cache, replay,
//! probe, status and `audit why` all decide through this function.

use std::sync::Arc;

use phasegate_adapter::Problem;
use phasegate_config::instance;
use phasegate_core::policy::Skill;
use phasegate_core::policy::input::Instance;
use phasegate_core::{Code, Event, FactKey, Facts, Outcome, Policy, State, step};

use crate::facts::says;
/// How often facts may be asked for in a phase: which files there are, what is counted in them, what is at a place in them,
/// and whether they have their format.
const ROUNDS_PER_PHASE: usize = 4;

/// What an event leads to, and the facts that were used.
#[derive(Debug)]
pub struct Decided {
    /// The engine's answer.
    pub outcome: Outcome,
    /// The facts that it asked for.
    pub facts: Facts,
}

/// Decides an event. `gather` answers the keys that the facts so far do not answer. Skills with values that the engine asks
/// for are added to the policy, after `keep` was called with each.
///
/// # Errors
///
/// What `keep` fails with. `config-value`: an element of a plan has a value that cannot be put into its skill. `internal`: the engine asks for facts without end, more often than the phases of the policy can.
pub fn decide(
    policy: &mut Arc<Policy>,
    state: &State,
    event: &Event,
    mut gather: impl FnMut(&Policy, &[FactKey], &mut Facts),
    mut keep: impl FnMut(&Skill) -> Result<(), Problem>,
) -> Result<Decided, Problem> {
    let mut facts = Facts::new();
    let phases: usize = policy.skills.iter().chain(&policy.earlier).map(|skill| skill.phases.len()).sum();
    for _ in 0..ROUNDS_PER_PHASE * (phases + 1) {
        let outcome = step(policy, state, event, &facts);
        if outcome.needs.is_empty() && outcome.instances.is_empty() {
            return Ok(Decided { outcome, facts });
        }
        let needs = says::answer(event, &outcome.needs, &mut facts);
        gather(policy, &needs, &mut facts);
        for wanted in &outcome.instances {
            let made = instance_of(policy, wanted)?;
            keep(&made)?;
            Arc::make_mut(policy).earlier.push(made);
        }
    }
    Err(Problem::new(Code::Internal, "the decision kept asking for facts"))
}

/// What an event leads to by these facts alone. Skills with values are made anew; what a skill cannot be given is left out.
pub(crate) fn decided_by(policy: &Policy, state: &State, event: &Event, facts: &Facts) -> Outcome {
    let mut outcome = step(policy, state, event, facts);
    let mut with_values: Option<Policy> = None;
    while !outcome.instances.is_empty() {
        let policy = with_values.get_or_insert_with(|| policy.clone());
        let made: Vec<Skill> = outcome.instances.iter().filter_map(|wanted| instance_of(policy, wanted).ok()).collect();
        if made.is_empty() {
            break;
        }
        policy.earlier.extend(made);
        outcome = step(policy, state, event, facts);
    }
    outcome
}

/// The skill with the values.
fn instance_of(policy: &Policy, wanted: &Instance) -> Result<Skill, Problem> {
    let skill = policy.skill_version(&wanted.skill, &wanted.version);
    skill.and_then(|skill| instance(skill, &wanted.values)).ok_or_else(|| {
        let message = format!("the skill `{}` cannot be given the values {:?}", wanted.skill, wanted.values);
        Problem::new(Code::ConfigValue, message)
    })
}

/// Keeps nothing of a skill with values: what the event leads to is not recorded.
///
/// # Errors
///
/// None.
#[expect(clippy::unnecessary_wraps, reason = "it stands where others fail")]
pub(crate) fn not_kept(_: &Skill) -> Result<(), Problem> {
    Ok(())
}
