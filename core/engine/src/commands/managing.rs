//! What an agent does with skills and their runs by one tool: the actions of `phasegate skill`, but for `start`, which is
//! `activate_skill`. A run moves on evidence; to resume a run that was halted is a person's.

use serde_json::{Map, Value, json};

use crate::answers::completion;
use crate::answers::denial::{DenialKind, InvalidCommand};
use crate::answers::directive;
use crate::answers::phrase;
use crate::calls::cause::By;
use crate::commands::arguments::arguments;
use crate::commands::control::{self, Answer, Command};
use crate::commands::halting;
use crate::commands::run_status;
use crate::commands::target::{self, Words};
use crate::evidence::eval::World;
use crate::policy::{Phase, Policy, Scope, Skill};
use crate::prelude::*;
use crate::runs::activation::known;
use crate::runs::tree;
use crate::state::draft::Draft;
use crate::state::pins::{ACTIONS, MANAGE};
use crate::state::{Run, State, Status};

/// Does what an agent asks for.
pub(crate) fn manage(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, command: &Command<'_>) -> Answer {
    let args = &arguments(MANAGE, command.args, &["action", "skill_name", "why"])?;
    let skill = args.text("skill_name")?;
    let state = draft.state();
    match args.required("action")? {
        "list" => Ok(json!({"skills": policy.skills.iter().map(listed).collect::<Vec<_>>()})),
        "show" => match (skill, meant_root(state, None)) {
            (None, Some(run)) => known(policy, &run.skill).map(shown),
            _ => known(policy, args.required("skill_name")?).map(shown),
        },
        "next" => match skill {
            Some(skill) => known(policy, skill).map(|_| next(policy, state)),
            None => Ok(next(policy, state)),
        },
        "branch" => Ok(json!({"branches": branches(policy, state, skill)})),
        "complete" => complete(world, policy, draft, command.by, skill),
        "halt" => halt(policy, draft, command, skill, args.text("why")?.unwrap_or_default()),
        // A run goes on where it stood, unless one has it stand still.
        "resume" if command.by != By::Human && state.live_runs().any(|run| run.halted.is_some()) => Err(refused()),
        "resume" => Ok(next(policy, state)),
        "status" => Ok(json!({"runs": run_status::all(world, policy, state)})),
        action => Err(DenialKind::CommandInvalid(InvalidCommand::ActionUnknown {
            command: MANAGE.to_string(),
            action: action.to_string(),
            known: ACTIONS.iter().map(|(name, _)| (*name).to_string()).collect(),
        })),
    }
}

fn refused() -> DenialKind {
    DenialKind::CommandRefused { name: "resume_run".to_string() }
}

fn next(policy: &Policy, state: &State) -> Value {
    json!({"directives": directive::all(policy, state)})
}

fn listed(skill: &Skill) -> Value {
    json!({
        "skill": skill.name, "kind": skill.kind(), "phases": skill.phases.len(), "description": skill.description,
    })
}

/// A skill as an agent reads it: what each phase allows and asks for.
fn shown(skill: &Skill) -> Value {
    let inputs: Vec<&str> = skill.inputs.iter().map(|input| input.name.as_str()).collect();
    json!({
        "skill": skill.name, "kind": skill.kind(), "description": skill.description, "inputs": inputs,
        "phases": skill.phases.iter().map(|phase| self::phase(skill, phase)).collect::<Vec<_>>(),
    })
}

fn phase(skill: &Skill, phase: &Phase) -> Value {
    let name = |index: &usize| skill.phases.get(*index).map(|phase| phase.name.as_str());
    let next: Vec<&str> = phase.next.iter().filter_map(|edge| name(&edge.to)).collect();
    let back: Vec<&str> = phase.back.iter().filter_map(|edge| name(&edge.to)).collect();
    let runs = phase.run.iter().flat_map(|runs| &runs.each).map(|run| run.skill.as_str());
    let mut told = Map::new();
    let mut tell = |key: &str, value: Value| told.extend(Some((key.to_string(), value)));
    tell("phase", json!(phase.name));
    tell("allows", json!(phrase::lines(&phase.allowed)));
    tell("forbids", json!(phrase::lines(&run_status::forbidden(skill, phase))));
    tell("requires", json!(phase.requires.as_ref().map(phrase::wanted)));
    tell("done_when", json!(phase.done_when.as_ref().map(phrase::wanted)));
    tell("runs", json!(runs.collect::<Vec<_>>()));
    tell("done_by", json!(phase.done_by));
    tell("next", json!(next));
    tell("back", json!(back));
    let is_told = |value: &Value| !value.is_null() && *value != json!("") && *value != json!([]);
    told.into_iter().filter(|(_, value)| is_told(value)).collect::<Map<_, _>>().into()
}

/// The runs that are part of no other, live ones last.
fn roots(state: &State) -> impl Iterator<Item = &Run> {
    let all = || state.project.runs.iter().chain(&state.session.runs).filter(|run| run.parent.is_none());
    let ended = all().filter(|run| run.status != Status::Active);
    ended.chain(all().filter(|run| run.status == Status::Active))
}

/// The run that an agent means: of this skill or of any, a live one, else the one that ended last.
pub(crate) fn meant_root<'s>(state: &'s State, skill: Option<&str>) -> Option<&'s Run> {
    roots(state).filter(|run| skill.is_none_or(|skill| run.skill == skill)).last()
}

/// The runs that a run's phases consist of or consisted of; without a skill, those of every run.
fn branches(policy: &Policy, state: &State, skill: Option<&str>) -> Vec<Value> {
    let meant = roots(state).filter(|run| skill.is_none_or(|skill| run.skill == skill));
    meant.flat_map(|root| completion::parts(state, root).map(|part| branch(policy, root, part))).collect()
}

fn branch(policy: &Policy, root: &Run, part: &Run) -> Value {
    let at = part.branch.as_ref();
    let name = at.map(|at| at.name.as_str()).filter(|name| !name.is_empty()).unwrap_or(&part.skill);
    let skill = policy.skill_version(&root.skill, &root.version);
    json!({
        "run": part.id, "of": root.skill, "phase": skill.and_then(|skill| root.phase_of(skill, part)), "branch": name, "skill": part.skill,
        "state": part.progress(), "agent": at.and_then(|at| at.agent.as_deref()),
        "fail_on_error": at.is_none_or(|at| !at.may_fail),
    })
}

/// Ends a run that is done; one that has ended says again what it left.
fn complete(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, by: By, skill: Option<&str>) -> Answer {
    let state = draft.state();
    let found = meant_root(state, skill).ok_or_else(|| target::not_active(policy, state, skill))?;
    let (id, name) = (found.id.clone(), found.skill.clone());
    if found.status == Status::Active {
        if !control::finished(world, policy, draft.state(), &id) {
            let missing = run_status::missing(world, policy, draft.state(), &id);
            return Err(DenialKind::SkillNotLeft { skill: name, person_only: false, missing });
        }
        control::deactivate(world, policy, draft, Some(&name), by)?;
    }
    let run = draft.run(&id).filter(|run| run.status == Status::Finished);
    let run = run.ok_or_else(|| target::not_active(policy, draft.state(), Some(&name)))?;
    let outputs = completion::outputs(world, policy, draft.state(), run);
    let text = completion::words(&name);
    Ok(json!({"status": "completed", "skill": name, "run": id, "outputs": outputs, "text": text}))
}

/// An agent has a run of its own session stand still. It goes on when a person says so.
fn halt(policy: &Policy, draft: &mut Draft, command: &Command<'_>, skill: Option<&str>, why: &str) -> Answer {
    let words = Words { skill, ..Words::default() };
    let meant = target::phase(policy, draft.state(), &words, true)?;
    let own = |run: &Run| tree::root(draft.state(), run).scope == Scope::Session && !run.in_force;
    let may = command.by == By::Human || (!command.subagent && draft.run(&meant.run).is_some_and(own));
    if !may {
        return Err(DenialKind::CommandRefused { name: "halt_run".to_string() });
    }
    // Why a person halted it stays said.
    let is_halted = draft.run(&meant.run).is_some_and(|run| run.halted.is_some());
    if is_halted && command.by != By::Human {
        let skill = draft.run(&meant.run).map(|run| run.skill.clone());
        return Ok(json!({"status": "halted", "skill": skill, "run": meant.run}));
    }
    halting::halt(policy, draft, &words, Some(why), command.by)
}
