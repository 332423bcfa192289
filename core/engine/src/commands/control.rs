//! Control commands and skill invocations: beginning, ending and inspecting runs.

use serde_json::{Value, json};

use crate::answers::denial::{BegunBy, DenialKind};
use crate::answers::directive;
use crate::calls::cause::By;
use crate::calls::tool::SKILL;
use crate::commands::approving::{self, Answered, Word};
use crate::commands::arguments::{Arguments, arguments};
use crate::commands::halting;
use crate::commands::registering::{self, Registrar};
use crate::commands::run_status;
use crate::commands::slash_command;
use crate::commands::steering::{self, Act, Order};
use crate::commands::target::{self, Named, Words, not_active, target, to_end};
use crate::decide::graph::{self, Here};
use crate::decide::reach;
use crate::events::observe;
use crate::evidence::eval::{World, texts};
use crate::gates::permitting;
use crate::gates::question;
use crate::policy::{LeaveSkill, Mode, Policy, Scope, Skill, Start};
use crate::prelude::*;
use crate::runs::activation::{Beginning, available, begin, end, known};
use crate::runs::import::{self, Imported};
use crate::runs::inputs;
use crate::runs::standing_runs;
use crate::runs::tree;
use crate::shell::safety::REGISTER;
use crate::state::change::Change;
use crate::state::draft::Draft;
use crate::state::pins::MANAGE;
use crate::state::{Run, State, Status};

/// The answer of a command.
pub(crate) type Answer = Result<Value, DenialKind>;

/// A command to phasegate.
pub(crate) struct Command<'a> {
    /// Who gives it.
    pub(crate) by: By,
    pub(crate) name: &'a str,
    pub(crate) args: &'a Value,
    /// When, in milliseconds since 1970-01-01 UTC, where known.
    pub(crate) at: Option<i64>,
    /// Whether a subagent gives it.
    pub(crate) subagent: bool,
}

/// Carries out a command.
#[expect(clippy::too_many_lines, reason = "an arm for each command")]
pub(crate) fn command(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, command: &Command<'_>) -> Answer {
    let Command { by, name, args, at, .. } = *command;
    let only = |known: &[&str]| arguments(name, args, known);
    match name {
        "activate_skill" => {
            activate_by(world, policy, draft, by, &only(&["skill_name", "mode", "scope", "inputs", "state"])?)
        }
        "deactivate_skill" => {
            let args = only(&["skill_name", "scope"])?;
            let skill = args.text("skill_name")?;
            match args.scope()? {
                Some(scope) => human(by, name).and_then(|()| standing_runs::end(draft, skill, scope)),
                None => deactivate(world, policy, draft, skill, by),
            }
        }
        "approve" | "reject" => {
            let args = only(&["name", "path"])?;
            human(by, name)?;
            let word = if name == "approve" { Word::Yes } else { Word::No };
            let answered = Answered { name: args.required("name")?, word, path: args.text("path")?, at };
            approving::answer(world, policy, draft, &answered)
        }
        "allow" => {
            let args = only(&["why"])?;
            human(by, name)?;
            question::allow(draft, args.text("why")?, at)
        }
        "revoke" => {
            let args = only(&["name"])?;
            human(by, name)?;
            approving::revoke(world, policy, draft, args.required("name")?)
        }
        "skip_phase" | "advance" => {
            let args = only(&["skill_name", "phase", "run", "name", "who", "confirmed"])?;
            human(by, name)?;
            let (act, words) = (steering::act(name), Words::of(&args)?);
            if act == Act::Skip
                && let Some(element) = target::of_element(policy, draft.state(), &words)
            {
                return steering::element(draft, act, element);
            }
            steering::phase(
                world,
                policy,
                draft,
                &Order { act, words, who: args.text("who")?, confirmed: args.text("confirmed")?.is_some() },
            )
        }
        "halt_run" | "resume_run" => {
            let args = only(&["skill_name", "run", "why"])?;
            human(by, name)?;
            let why = (name == "halt_run").then(|| args.text("why").map(Option::unwrap_or_default)).transpose()?;
            halting::halt(policy, draft, &Words::of(&args)?, why, by)
        }
        "retry_element" | "skip_element" => {
            let args = only(&["id", "run"])?;
            human(by, name)?;
            let element = Named { id: args.required("id")?, run: args.text("run")? };
            steering::element(draft, steering::act(name), element)
        }
        "set_access" => {
            let args = only(&["access", "for"])?;
            human(by, name)?;
            permitting::set(draft, &args, at)
        }
        "set_mode" => {
            let args = only(&["skill_name", "mode"])?;
            human(by, name)?;
            let mode = mode_of(args.required("mode")?)?;
            set_mode(policy, draft, args.text("skill_name")?, mode)
        }
        REGISTER | "approve_program" | "revoke_program" | "safety" => safety(policy, draft, command),
        "get_skill_phase" | "runs" | "approvals" | "directives" | "end_session" | "reload" => {
            only(&[])?;
            without_arguments(world, policy, draft, by, name)
        }
        _ => Err(DenialKind::CommandUnknown { name: name.to_string() }),
    }
}

/// What is registered of commands: one registers, lists, or lets agents classify a program.
fn safety(policy: &Policy, draft: &mut Draft, command: &Command<'_>) -> Answer {
    let Command { by, name, args, at, subagent } = *command;
    let only = |known: &[&str]| arguments(name, args, known);
    match name {
        REGISTER => {
            let args = only(&["tool", "commands", "default", "scope"])?;
            registering::register(policy, draft, &Registrar { by, subagent, at }, &args)
        }
        "safety" => only(&[]).map(|_| registering::list(policy, draft.state())),
        _ => {
            let args = only(&["program"])?;
            human(by, name)?;
            registering::approve(draft, args.required("program")?, name == "approve_program")
        }
    }
}

/// Activates a skill for the session, or puts it in force, which a person does.
fn activate_by(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, by: By, args: &Arguments<'_>) -> Answer {
    let name = "activate_skill";
    let skill = args.required("skill_name")?;
    let mode = args.text("mode")?.map(mode_of).transpose()?;
    let state = Some(args.value("state")).filter(|state| !state.is_null());
    if state.is_some() {
        human(by, name)?;
    }
    match args.scope()? {
        Some(scope) => {
            human(by, name)?;
            let asked = standing_runs::Asked { name: skill, mode, scope, inputs: args.inputs() };
            standing_runs::begin(world, policy, draft, &asked)
        }
        None => activate(policy, draft, skill, Asked { mode, by, inputs: args.inputs(), state }),
    }
}

fn without_arguments(world: &mut World<'_>, policy: &Policy, draft: &mut Draft, by: By, name: &str) -> Answer {
    match name {
        "get_skill_phase" => {
            let inactive = || json!({"active": false, "available_skills": available(policy)});
            let mut answer = run_status::newest(world, policy, draft.state()).unwrap_or_else(inactive);
            if let (Value::Object(fields), Some(next)) = (&mut answer, directive::next(policy, draft.state())) {
                fields.insert("directive".to_string(), Value::from(next));
            }
            return Ok(answer);
        }
        "runs" => return Ok(run_status::all(world, policy, draft.state())),
        "directives" => return Ok(directive::all(policy, draft.state())),
        "approvals" => return Ok(approving::list(world, policy, draft.state())),
        _ => human(by, name)?,
    }
    if name == "end_session" {
        observe::ended(draft);
        return Ok(json!({"status": "ended"}));
    }
    // The runtime has chosen the policy anew before it stepped `reload`. A run keeps its skill, and gets the mode that the
    // policy asks for now, where that is stricter.
    let asked = |run: &Run| policy.skill(&run.skill).and_then(|skill| skill.mode).filter(|mode| *mode > run.mode);
    let stricter: Vec<(String, Mode)> =
        draft.state().live_runs().filter_map(|run| Some((run.id.clone(), asked(run)?))).collect();
    for (run, mode) in stricter {
        draft.announce(&run);
        draft.change(Change::RunMode { run, mode });
    }
    Ok(json!({"status": "reloaded", "policy_version": policy.version}))
}

/// A prompt that may be a command.
pub(crate) struct Typed<'a> {
    pub(crate) prompt: &'a str,
    /// Whether a person typed it.
    pub(crate) typed: bool,
    /// When, in milliseconds since 1970-01-01 UTC, where known.
    pub(crate) at: Option<i64>,
}

/// Carries out the command that a prompt is, for a person who typed it; `None` if the prompt is addressed to others.
pub(crate) fn slash_command(
    world: &mut World<'_>,
    policy: &Policy,
    draft: &mut Draft,
    prompt: Typed<'_>,
) -> Option<Answer> {
    let Typed { prompt, typed, at } = prompt;
    let spoken = match slash_command::command(prompt)? {
        Ok(spoken) => spoken,
        Err(invalid) => return Some(Err(DenialKind::CommandInvalid(invalid))),
    };
    if !typed {
        return Some(Err(DenialKind::NotTyped { prompt: prompt.trim_end().to_string() }));
    }
    let given = Command { by: By::Human, name: spoken.name, args: &spoken.args, at, subagent: false };
    let already = draft.announced().len();
    let answer = command(world, policy, draft, &given);
    Some(answer.map(|mut told| {
        let skill = draft.announced().get(already).and_then(|id| draft.run(id)).map(|run| run.skill.clone());
        let text = slash_command::reported(spoken.name, &told, skill.as_deref());
        if let Value::Object(fields) = &mut told {
            fields.insert("text".to_string(), Value::from(text));
        }
        told
    }))
}

/// The names of all commands.
pub const COMMANDS: [&str; 25] = [
    "activate_skill",
    "deactivate_skill",
    "get_skill_phase",
    "runs",
    "allow",
    "approve",
    "reject",
    "revoke",
    "approvals",
    "directives",
    "skip_phase",
    "advance",
    "halt_run",
    "resume_run",
    "retry_element",
    "skip_element",
    "set_mode",
    "set_access",
    "end_session",
    "reload",
    MANAGE,
    REGISTER,
    "approve_program",
    "revoke_program",
    "safety",
];

/// An invocation of a skill.
#[derive(Clone, Copy)]
pub(crate) struct Invoked<'a> {
    pub(crate) name: &'a str,
    pub(crate) args: Option<&'a Value>,
    pub(crate) by: By,
}

/// A skill was invoked: its run begins, unless it is live.
///
/// # Errors
///
/// `inputs-missing`: it has inputs, and the invocation gives no values for them.
pub(crate) fn invoked(
    world: &mut World<'_>,
    policy: &Policy,
    draft: &mut Draft,
    invocation: &Invoked<'_>,
) -> Result<(), DenialKind> {
    let Invoked { name, args, by } = *invocation;
    let Some(skill) = policy.invoked(name) else { return Ok(()) };
    let live = draft.state().live_runs().find(|run| run.skill == skill.name).map(|run| run.id.clone());
    if let Some(id) = live {
        if !finished(world, policy, draft.state(), &id) {
            // To the agent, which was told where the run stands, this is nothing new.
            if by == By::Human {
                draft.announce(&id);
            }
            return Ok(());
        }
        end(draft, &id, Status::Finished, by);
    }
    if !skill.start.contains(&Start::Invocation) || reach::is_part(policy, draft.state(), &skill.name) {
        return Ok(());
    }
    // Words after the name of a skill without inputs are for the agent.
    let args = args.filter(|_| !skill.inputs.is_empty()).unwrap_or(&Value::Null);
    let values = inputs::given(skill, args);
    let skill = inputs::instance(policy, skill, &values).map_err(|_| inputs::refused(skill, &values, args))?;
    let call = draft.state().session.calls.last().filter(|call| by == By::Agent && call.tool == SKILL);
    let call = call.and_then(|call| call.id.clone());
    begin(draft, skill, Beginning { call, ..Beginning::asked(by, None) });
    Ok(())
}

/// How a run is to begin.
struct Asked<'a> {
    mode: Option<Mode>,
    by: By,
    /// The values of its inputs.
    inputs: &'a Value,
    /// The state of another system, where the run is to stand as that one did.
    state: Option<&'a Value>,
}

fn activate(policy: &Policy, draft: &mut Draft, name: &str, asked: Asked<'_>) -> Answer {
    let Asked { mode, by, inputs, state } = asked;
    // What a person put in force for others goes on beside it.
    let other = |run: &&Run| !run.in_force || run.skill == name;
    if let Some(run) = tree::roots(draft.state()).filter(other).last() {
        let by = if by == By::Human { BegunBy::Person } else { BegunBy::Tool };
        return Err(DenialKind::SkillActive { skill: run.skill.clone(), by });
    }
    let skill = known(policy, name)?;
    let values = inputs::given(skill, inputs);
    let skill = inputs::instance(policy, skill, &values).map_err(|_| inputs::refused(skill, &values, inputs))?;
    if let Some(state) = state {
        let text = |key: &str| state.get(key).and_then(Value::as_str);
        let value = state.get("value").unwrap_or(&Value::Null);
        let format = text("format").unwrap_or_default();
        return import::begin(draft, skill, Imported { format, value, path: text("path"), mode });
    }
    let mode = begin(draft, skill, Beginning::asked(by, mode));
    let first = skill.phases.first();
    Ok(json!({
        "status": "activated",
        "skill": skill.name,
        "mode": mode.word(),
        "current_phase": first.map(|phase| phase.name.as_str()),
        "total_phases": skill.phases.len(),
        "allowed_tools": first.map(|phase| texts(&phase.allowed)),
        "forbidden_tools": first.map(|phase| texts(&run_status::forbidden(skill, phase))),
    }))
}

pub(crate) fn deactivate(
    world: &mut World<'_>,
    policy: &Policy,
    draft: &mut Draft,
    name: Option<&str>,
    by: By,
) -> Answer {
    let in_force = standing_runs::named(draft.state(), name).filter(|_| by == By::Human);
    let lifted = in_force.is_some();
    if let Some(skill) = in_force {
        draft.change(Change::SkillNotInForce { skill, scope: Scope::Session });
    }
    let state = draft.state();
    let Some(run) = to_end(state, name) else {
        return match name {
            Some(_) if !lifted => Err(not_active(policy, state, name)),
            _ => Ok(json!({"status": "deactivated"})),
        };
    };
    let done = finished(world, policy, state, &run.id);
    let leave = policy.skill_version(&run.skill, &run.version).map_or(LeaveSkill::Human, |skill| skill.leave_skill);
    let leave = if standing_runs::mode(state, &run.skill).is_some() { leave.max(LeaveSkill::Finished) } else { leave };
    // A run that only warns keeps nobody.
    let only_warns = run.mode == Mode::Warn && standing_runs::mode(state, &run.skill).is_none();
    let may = match (by, leave) {
        (By::Human, _) | (By::Agent, LeaveSkill::Agent) => true,
        (By::Agent, LeaveSkill::Finished) if only_warns => true,
        (By::Agent | By::Platform, LeaveSkill::Finished) => done,
        (By::Platform, LeaveSkill::Agent) => true,
        (By::Agent | By::Platform, LeaveSkill::Human) => false,
    };
    if !may {
        let (id, skill, person_only) = (run.id.clone(), run.skill.clone(), leave == LeaveSkill::Human);
        let missing = if person_only { Vec::new() } else { run_status::missing(world, policy, draft.state(), &id) };
        return Err(DenialKind::SkillNotLeft { skill, person_only, missing });
    }
    let (id, skill) = (run.id.clone(), run.skill.clone());
    let whole = Some(tree::root(state, run)).filter(|root| root.id != id).map(|root| root.skill.clone());
    end(draft, &id, if done { Status::Finished } else { Status::Left }, by);
    draft.announce(&id);
    let alone = policy.skill(&skill).is_some_and(Skill::starts_by_itself);
    if by == By::Human && alone && !lifted {
        // Nor does it begin again by itself.
        draft.change(Change::SkillNotInForce { skill: skill.clone(), scope: Scope::Session });
    }
    // The agent gets the answer of the original.
    Ok(match (by, whole) {
        (By::Human, None) => json!({"status": "deactivated", "skill": skill}),
        (By::Human, Some(whole)) => json!({"status": "deactivated", "skill": skill, "part_of": whole}),
        (By::Agent | By::Platform, _) => json!({"status": "deactivated"}),
    })
}

fn set_mode(policy: &Policy, draft: &mut Draft, name: Option<&str>, mode: Mode) -> Answer {
    let run = target(draft.state(), name).ok_or_else(|| not_active(policy, draft.state(), name))?;
    let (id, skill) = (run.id.clone(), run.skill.clone());
    draft.announce(&id);
    draft.change(Change::RunMode { run: id, mode });
    Ok(json!({"status": "mode_set", "skill": skill, "mode": mode.word()}))
}

/// Whether a run may end as finished.
pub(crate) fn finished(world: &mut World<'_>, policy: &Policy, state: &State, id: &str) -> bool {
    state.run(id).is_some_and(|run| {
        let Some(skill) = policy.skill_version(&run.skill, &run.version) else { return false };
        let here = skill.phase_index(&run.phase).unwrap_or_default();
        let Some(phase) = skill.phases.get(here) else { return false };
        let done = world.done(run, phase);
        graph::can_finish(world, skill, run, Here { index: here, done: Some(done) })
    })
}

fn human(by: By, name: &str) -> Result<(), DenialKind> {
    match by {
        By::Human => Ok(()),
        By::Agent | By::Platform => Err(DenialKind::CommandRefused { name: name.to_string() }),
    }
}

fn mode_of(text: &str) -> Result<Mode, DenialKind> {
    match text {
        "warn" => Ok(Mode::Warn),
        "block" => Ok(Mode::Block),
        _ => Err(DenialKind::ModeUnknown { name: text.to_string() }),
    }
}
