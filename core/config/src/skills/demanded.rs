//! Skills of the client that a skill cannot be finished without.

use std::collections::BTreeSet;

use phasegate_core::calls::analysis::Invocation;
use phasegate_core::evidence::condition::Condition;
use phasegate_core::policy::{Phase, Skill};

/// A skill of the client whose invocation a phase asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demanded {
    /// Its name.
    pub name: String,
    /// The name of the skill that asks for it.
    pub by: String,
    /// The name of the phase.
    pub phase: String,
    /// What the phase is for; may be empty.
    pub task: String,
    /// All that the phase asks for, in words.
    pub wanted: String,
    /// Whether it is asked for at the end of each wave of a plan.
    pub gate: bool,
}

/// The skills of the client that a skill asks for, and the skills that it runs: where the client has none of the name, the
/// condition never holds. Each name once.
pub fn demanded(skill: &Skill) -> Vec<Demanded> {
    let mut found: Vec<Demanded> = Vec::new();
    collect(skill, &mut found);
    found
}

fn collect(skill: &Skill, found: &mut Vec<Demanded>) {
    for phase in &skill.phases {
        for condition in phase.done_when.iter().chain(&phase.requires) {
            for name in names(condition) {
                if !found.iter().any(|one| one.name == name) {
                    found.push(of_phase(skill, phase, condition, name));
                }
            }
        }
    }
    skill.children.iter().for_each(|child| collect(child, found));
}

fn of_phase(skill: &Skill, phase: &Phase, condition: &Condition, name: String) -> Demanded {
    Demanded {
        name,
        by: skill.name.clone(),
        phase: phase.name.clone(),
        task: phase.task.clone(),
        wanted: condition.wanted(),
        gate: phase.run.as_ref().is_some_and(|runs| runs.gate),
    }
}

/// The names without whose invocation the condition never holds.
fn names(condition: &Condition) -> Vec<String> {
    let mut asked: Vec<(String, u32)> = Vec::new();
    condition.each_call(&mut |test| {
        if let Some(Invocation::Skill(name)) = test.matcher.invokes.as_deref() {
            asked.push((name.clone(), test.atom));
        }
    });
    let mut all: Vec<String> = asked.iter().map(|(name, _)| name.clone()).collect();
    all.dedup();
    all.retain(|name| {
        let of_name = asked.iter().filter(|(asked, _)| asked == name).map(|(_, atom)| *atom);
        !name.contains(['*', '$', ':']) && !can_hold(condition, &of_name.collect::<BTreeSet<u32>>())
    });
    all
}

/// Whether a condition can hold where these call tests never do.
fn can_hold(condition: &Condition, dead: &BTreeSet<u32>) -> bool {
    match condition {
        Condition::All(parts) => parts.iter().all(|part| can_hold(part, dead)),
        Condition::Any(parts) => parts.is_empty() || parts.iter().any(|part| can_hold(part, dead)),
        Condition::Call(test) => !dead.contains(&test.atom),
        _ => true,
    }
}
