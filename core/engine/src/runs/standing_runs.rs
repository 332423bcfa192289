//! Skills in force: a person put them there before any agent came, so each session has a live run of them (rules 3.1).

use serde_json::{Value, json};

use crate::answers::denial::{DenialKind, InvalidCommand};
use crate::calls::cause::By;
use crate::decide::run_verdict::RunVerdict;
use crate::events::event::{Event, EventKind};
use crate::evidence::eval::World;
use crate::policy::input::Values;
use crate::policy::{Mode, Policy, Scope};
use crate::prelude::*;
use crate::runs::activation::{self, Beginning};
use crate::runs::inputs;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::{Run, State, Status};

/// A skill that is in force.
pub(crate) struct InForce {
    pub(crate) skill: String,
    /// The least strict mode of its runs.
    pub(crate) mode: Mode,
}

/// The skills that are in force in the session, by name.
pub(crate) fn all(state: &State) -> Vec<InForce> {
    let (own, shared) = (&state.session.in_force, &state.project.in_force);
    let names = own.keys().chain(shared.keys().filter(|name| !own.contains_key(*name)));
    names.filter_map(|name| Some(InForce { skill: name.clone(), mode: mode(state, name)? })).collect()
}

/// The least strict mode of the skill's runs; `None`: it is not in force in the session.
pub(crate) fn mode(state: &State, skill: &str) -> Option<Mode> {
    let own = state.session.in_force.get(skill).copied();
    own.unwrap_or_else(|| state.project.in_force.get(skill).copied())
}

/// The skill in force that a command means: the one of this name, or the only one.
pub(crate) fn named(state: &State, name: Option<&str>) -> Option<String> {
    let mut all = all(state).into_iter().filter(|found| name.is_none_or(|name| found.skill == name));
    all.next().filter(|_| all.next().is_none()).map(|found| found.skill)
}

/// The values of the inputs of a skill in force: those that were given for the project.
fn values(state: &State, skill: &str) -> Values {
    let own = state.session.in_force.get(skill).is_some_and(Option::is_some);
    let given = state.project.in_force_inputs.get(skill).filter(|_| !own);
    given.cloned().unwrap_or_default()
}

/// The skills in force that the policy does not have, or not with inputs that take the values.
pub(crate) fn missing(policy: &Policy, state: &State) -> Option<InForce> {
    let has = |found: &InForce| {
        policy.skill(&found.skill).is_some_and(|skill| inputs::fit(skill, &values(state, &found.skill)))
    };
    let absent =
        |found: &InForce| !has(found) && !state.live_runs().any(|run| run.branch.is_none() && run.skill == found.skill);
    all(state).into_iter().filter(absent).max_by_key(|found| found.mode)
}

/// Brings the live runs in line with what is in force, before an event of the session is answered. A command of a person
/// finds them as they are.
pub(crate) fn uphold(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, event: &Event) {
    let state = draft.state();
    let waits = match event.kind {
        EventKind::Join { .. } | EventKind::SessionEnd {} | EventKind::State { .. } => true,
        EventKind::Command { by, .. } => by == By::Human,
        _ => false,
    };
    let nothing = state.project.in_force.is_empty() && state.session.in_force.is_empty();
    if waits || (nothing && !state.live_runs().any(|run| run.in_force)) {
        return;
    }
    let lifted = |run: &&Run| run.in_force && mode(draft.state(), &run.skill).is_none();
    let ended: Vec<String> = draft.state().live_runs().filter(lifted).map(|run| run.id.clone()).collect();
    for id in ended {
        activation::end(draft, &id, Status::Left, By::Human);
        draft.announce(&id);
    }
    hold_all(world, policy, draft);
}

/// Begins a run of each skill in force of which none is live.
pub(crate) fn hold_all(world: &mut World<'_>, policy: &Policy, draft: &mut Draft) {
    all(draft.state()).into_iter().for_each(|found| hold(world, policy, draft, &found));
}

/// Begins a run of the skill if none is live. A run that the agent began is at least as strict; one with other values ends.
fn hold(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, found: &InForce) {
    let wanted = values(draft.state(), &found.skill);
    let others = |run: &&Run| {
        let skill = policy.skill_version(&run.skill, &run.version);
        run.branch.is_none() && run.skill == found.skill && skill.is_some_and(|skill| skill.values() != wanted)
    };
    let others: Vec<String> = draft.state().live_runs().filter(others).map(|run| run.id.clone()).collect();
    for id in others {
        activation::end(draft, &id, Status::Left, By::Human);
        draft.announce(&id);
    }
    // A run that another one consists of is none of its own.
    let live = draft.state().live_runs().find(|run| run.branch.is_none() && run.skill == found.skill);
    if let Some(run) = live {
        if !run.in_force && run.mode < found.mode {
            let run = run.id.clone();
            draft.change(Change::RunMode { run, mode: found.mode });
        }
        return;
    }
    let skill = policy.skill(&found.skill).filter(|skill| inputs::fit(skill, &wanted));
    if let Some(skill) = skill.and_then(|skill| inputs::made(world, policy, skill, &wanted)) {
        let beginning = Beginning { in_force: true, ..Beginning::asked(By::Human, Some(found.mode)) };
        activation::begin(draft, skill, beginning);
    }
}

/// Ends the runs of skills in force that the call would end, and begins them anew. Returns whether there were any: the
/// call is then to be judged again.
pub(crate) fn renew(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, verdicts: &[RunVerdict<'_>]) -> bool {
    let over = verdicts.iter().filter(|verdict| verdict.over).map(|verdict| verdict.run.clone());
    let over: Vec<String> = over.collect();
    let mut renewed = false;
    for id in over {
        let skill = draft.run(&id).map(|run| run.skill.clone()).unwrap_or_default();
        if let Some(mode) = mode(draft.state(), &skill) {
            activation::end(draft, &id, Status::Finished, By::Agent);
            hold(world, policy, draft, &InForce { skill, mode });
            renewed = true;
        }
    }
    renewed
}

/// What a person puts in force.
pub(crate) struct Asked<'a> {
    pub(crate) name: &'a str,
    pub(crate) mode: Option<Mode>,
    pub(crate) scope: Scope,
    /// The values of its inputs, which only the project gives.
    pub(crate) inputs: &'a Value,
}

/// Puts a skill in force.
pub(crate) fn begin(
    world: &mut World<'_>,
    policy: &Policy,
    draft: &mut Draft,
    asked: &Asked<'_>,
) -> Result<Value, DenialKind> {
    let Asked { name, mode, scope, inputs } = *asked;
    let skill = activation::known(policy, name)?;
    let values = if scope == Scope::Project { inputs::given(skill, inputs) } else { Values::new() };
    if !inputs::fit(skill, &values) {
        return Err(inputs::refused(skill, &values, inputs));
    }
    // What is asked for here is there when the command is carried out.
    inputs::made(world, policy, skill, &values);
    let mode = mode.max(skill.mode).unwrap_or(Mode::Warn);
    let mut answer = json!({"status": "in_force", "skill": skill.name, "mode": mode.word()});
    if let (Value::Object(fields), false) = (&mut answer, values.is_empty()) {
        fields.insert("inputs".to_string(), json!(values));
    }
    draft.change(Change::SkillInForce { skill: skill.name.clone(), mode, scope, inputs: values });
    Ok(answer)
}

/// Ends that a skill is in force. Runs that began because of it end with the next event of their session.
pub(crate) fn end(draft: &mut Draft, name: Option<&str>, scope: Scope) -> Result<Value, DenialKind> {
    let state = draft.state();
    let known: Vec<String> = match scope {
        Scope::Project => state.project.in_force.keys().cloned().collect(),
        Scope::Session => all(state).into_iter().map(|found| found.skill).collect(),
    };
    let mut meant = known.iter().filter(|skill| name.is_none_or(|name| *skill == name));
    let Some(skill) = meant.next().filter(|_| meant.next().is_none()).cloned() else {
        let skill = name.map(|name| name.to_string());
        return Err(DenialKind::CommandInvalid(InvalidCommand::NotInForce { skill, in_force: known }));
    };
    draft.change(Change::SkillNotInForce { skill: skill.clone(), scope });
    Ok(json!({"status": "not_in_force", "skill": skill}))
}
