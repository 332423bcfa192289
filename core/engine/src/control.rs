//! Control commands and skill invocations: beginning, ending and inspecting runs.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use serde_json::{Map, Value, json};

use crate::code::Code;
use crate::decision::{Decision, Effect, Gate};
use crate::eval::{World, texts};
use crate::event::By;
use crate::graph;
use crate::moves;
use crate::pins;
use crate::policy::{LeaveSkill, Mode, Policy, Scope, Skill};
use crate::spoken;
use crate::state::{KEPT, Record, Run, State, Status};
use crate::tool::SKILL;

/// A refusal of a command.
pub(crate) struct Refused {
    code: Code,
    text: String,
}

/// What a command led to: its answer, and the ids of runs that began or moved.
pub(crate) type Answer = Result<(Value, Vec<String>), Refused>;

/// Carries out a command.
pub(crate) fn command(
    world: &mut World<'_>,
    policy: &Policy,
    state: &mut State,
    (by, name, args): (By, &str, &Value),
    records: &mut Vec<Record>,
) -> Answer {
    let only = |known: &[&str]| arguments(name, args, known);
    match name {
        "activate_skill" => {
            let args = only(&["skill_name", "mode"])?;
            let skill = args.text("skill_name")?.ok_or_else(|| invalid("`activate_skill` needs `skill_name`"))?;
            let mode = args.text("mode")?.map(mode_of).transpose()?;
            activate(policy, state, (skill, mode, by), records)
        }
        "deactivate_skill" => {
            let args = only(&["skill_name"])?;
            deactivate(world, policy, state, (args.text("skill_name")?, by), records)
        }
        "get_skill_phase" => {
            only(&[])?;
            Ok((status(world, policy, state), Vec::new()))
        }
        "approve" => {
            let args = only(&["name"])?;
            human(by, name)?;
            let name = args.text("name")?.ok_or_else(|| invalid("`approve` needs `name`"))?;
            match pins::accept(&mut state.project, name) {
                Some(Err(text)) => return Err(invalid(&text)),
                Some(Ok(())) => {}
                None => {
                    state.project.approvals.insert(name.to_string(), by);
                    world.approved(name, by);
                }
            }
            records.push(Record::Approved { name: name.to_string() });
            Ok((json!({"status": "approved", "name": name}), Vec::new()))
        }
        "skip_phase" => {
            let args = only(&["skill_name"])?;
            human(by, name)?;
            skip(policy, state, args.text("skill_name")?, records)
        }
        "set_mode" => {
            let args = only(&["skill_name", "mode"])?;
            human(by, name)?;
            let mode = mode_of(args.text("mode")?.ok_or_else(|| invalid("`set_mode` needs `mode`"))?)?;
            let id = target(state, args.text("skill_name")?).map(|run| run.id.clone());
            let run = id.and_then(|id| state.run_mut(&id)).ok_or_else(|| invalid("no skill is active"))?;
            run.mode = mode;
            Ok((json!({"status": "mode_set", "skill": run.skill, "mode": word(mode)}), alloc::vec![run.id.clone()]))
        }
        // The runtime has chosen the policy anew before it stepped this.
        "reload" => {
            only(&[])?;
            human(by, name)?;
            Ok((json!({"status": "reloaded", "policy_version": policy.version}), Vec::new()))
        }
        _ => Err(Refused { code: Code::CommandUnknown, text: format!("there is no command `{name}`") }),
    }
}

/// Carries out the command that a prompt is, for a person who typed it; `None` if the prompt is addressed to others.
pub(crate) fn spoken(
    world: &mut World<'_>,
    policy: &Policy,
    state: &mut State,
    (prompt, typed): (&str, bool),
    records: &mut Vec<Record>,
) -> Option<Answer> {
    let spoken = match spoken::command(prompt)? {
        Ok(spoken) => spoken,
        Err(text) => return Some(Err(invalid(&text))),
    };
    if !typed {
        let text = format!("`{}` counts only where a person types it into a session in a terminal", prompt.trim_end());
        return Some(Err(Refused { code: Code::CommandRefused, text }));
    }
    let answer = command(world, policy, state, (By::Human, spoken.name, &spoken.args), records);
    Some(answer.map(|(mut told, runs)| {
        let skill = runs.first().and_then(|id| state.run(id)).map(|run| run.skill.clone());
        let text = spoken::told(spoken.name, &told, skill.as_deref());
        if let Value::Object(fields) = &mut told {
            fields.insert("text".to_string(), Value::from(text));
        }
        (told, runs)
    }))
}

/// The names of all commands.
pub const COMMANDS: [&str; 7] =
    ["activate_skill", "deactivate_skill", "get_skill_phase", "approve", "skip_phase", "set_mode", "reload"];

impl Refused {
    pub(crate) fn decision(&self) -> Decision {
        Decision::problem(Effect::Deny, Gate::Control, self.code, self.text.clone())
    }

    pub(crate) fn result(&self) -> Value {
        json!({"is_error": true, "code": self.code.id(), "text": self.text})
    }
}

/// A skill was invoked: its run begins, unless it is under way.
pub(crate) fn invoked(
    world: &mut World<'_>,
    policy: &Policy,
    state: &mut State,
    (name, by): (&str, By),
    records: &mut Vec<Record>,
) -> Vec<String> {
    let Some(skill) = policy.invoked(name) else { return Vec::new() };
    let live = state.live_runs().find(|run| run.skill == skill.name).map(|run| run.id.clone());
    if let Some(id) = live {
        if !finished(world, policy, state, &id) {
            return alloc::vec![id];
        }
        end(state, &id, Status::Finished, (by, records));
    }
    let id = begin(state, skill, None, (by, records));
    let call = state.session.calls.last().filter(|call| by == By::Agent && call.tool == SKILL);
    let call = call.and_then(|call| call.id.clone());
    if let Some(run) = state.run_mut(&id) {
        run.call = call;
    }
    alloc::vec![id]
}

fn activate(
    policy: &Policy,
    state: &mut State,
    (name, mode, by): (&str, Option<Mode>, By),
    records: &mut Vec<Record>,
) -> Answer {
    if let Some(run) = state.live_runs().last() {
        let text = format!("skill \"{}\" is already active; call deactivate_skill first", run.skill);
        return Err(Refused { code: Code::SkillActive, text });
    }
    let Some(skill) = policy.skill(name) else {
        let text = format!("unknown skill \"{name}\"; available skills: [{}]", available(policy).join(", "));
        return Err(Refused { code: Code::SkillUnknown, text });
    };
    let id = begin(state, skill, mode, (by, records));
    let mode = state.run(&id).map_or(Mode::Block, |run| run.mode);
    let first = skill.phases.first();
    let answer = json!({
        "status": "activated",
        "skill": skill.name,
        "mode": word(mode),
        "current_phase": first.map(|phase| phase.name.as_str()),
        "total_phases": skill.phases.len(),
        "allowed_tools": first.map(|phase| texts(&phase.allowed)),
        "forbidden_tools": first.map(|phase| forbidden(skill, &phase.forbidden)),
    });
    Ok((answer, alloc::vec![id]))
}

/// Begins a run: it gets the stricter of the skill's mode and the one asked for, and no evidence.
pub(crate) fn begin(
    state: &mut State,
    skill: &Skill,
    mode: Option<Mode>,
    (by, records): (By, &mut Vec<Record>),
) -> String {
    let (letter, begun) = match skill.scope {
        Scope::Session => ('r', &mut state.session.runs_begun),
        Scope::Project => ('p', &mut state.project.runs_begun),
    };
    *begun = begun.saturating_add(1);
    let id = format!("{letter}{begun}");
    let phase = skill.phases.first().map(|phase| phase.name.clone()).unwrap_or_default();
    let run = Run {
        id: id.clone(),
        skill: skill.name.clone(),
        version: skill.version.clone(),
        mode: mode.unwrap_or(Mode::Warn).max(skill.mode.unwrap_or(Mode::Warn)),
        scope: skill.scope,
        parent: None,
        by,
        call: None,
        status: Status::Active,
        phase_before: phase.clone(),
        phase,
        visit: 1,
        visits: 1,
        kept: [(0, 1)].into(),
        provisional: None,
        evidence: Vec::new(),
        skipped: Vec::new(),
        backs: Vec::new(),
        failed: false,
        variables: Default::default(),
        history: Default::default(),
    };
    records.push(Record::ActivateSkill {
        run: id.clone(),
        skill: run.skill.clone(),
        phase: run.phase.clone(),
        mode: run.mode,
        by,
    });
    let runs = state.runs_mut(skill.scope);
    runs.push(run);
    if runs.len() > KEPT
        && let Some(oldest) = runs.iter().position(|run| run.status != Status::Active)
    {
        runs.remove(oldest);
    }
    id
}

fn deactivate(
    world: &mut World<'_>,
    policy: &Policy,
    state: &mut State,
    (name, by): (Option<&str>, By),
    records: &mut Vec<Record>,
) -> Answer {
    let Some((id, skill_name, version)) =
        target(state, name).map(|run| (run.id.clone(), run.skill.clone(), run.version.clone()))
    else {
        return Ok((json!({"status": "deactivated"}), Vec::new()));
    };
    let done = finished(world, policy, state, &id);
    let leave = policy.skill_version(&skill_name, &version).map_or(LeaveSkill::Human, |skill| skill.leave_skill);
    let may = match (by, leave) {
        (By::Human, _) | (By::Agent, LeaveSkill::Agent) => true,
        (By::Agent | By::Platform, LeaveSkill::Finished) => done,
        (By::Platform, LeaveSkill::Agent) => true,
        (By::Agent | By::Platform, LeaveSkill::Human) => false,
    };
    if !may {
        let who =
            if leave == LeaveSkill::Human { "only a person may deactivate it" } else { "its last phase is not done" };
        return Err(Refused { code: Code::SkillNotLeft, text: format!("skill \"{skill_name}\" stays active: {who}") });
    }
    end(state, &id, if done { Status::Finished } else { Status::Left }, (by, records));
    Ok((json!({"status": "deactivated"}), alloc::vec![id]))
}

fn end(state: &mut State, id: &str, status: Status, (by, records): (By, &mut Vec<Record>)) {
    if let Some(run) = state.run_mut(id) {
        run.status = status;
        records.push(moves::ended(run, by));
    }
}

fn skip(policy: &Policy, state: &mut State, name: Option<&str>, records: &mut Vec<Record>) -> Answer {
    let id = target(state, name).map(|run| run.id.clone());
    let run = id.and_then(|id| state.run_mut(&id)).ok_or_else(|| invalid("no skill is active"))?;
    let moved = policy.skill_version(&run.skill, &run.version).and_then(|skill| moves::skip(run, skill));
    let record = moved.ok_or_else(|| invalid("no phase follows the current one"))?;
    records.push(record);
    Ok((json!({"status": "skipped", "skill": run.skill, "current_phase": run.phase}), alloc::vec![run.id.clone()]))
}

/// Whether a run may end as finished.
fn finished(world: &mut World<'_>, policy: &Policy, state: &State, id: &str) -> bool {
    state.run(id).is_some_and(|run| {
        let Some(skill) = policy.skill_version(&run.skill, &run.version) else { return false };
        let here = skill.phase_index(&run.phase).unwrap_or_default();
        let Some(phase) = skill.phases.get(here) else { return false };
        let done = world.done(run, phase);
        graph::can_finish(world, skill, run, (here, done))
    })
}

/// The answer of `get_skill_phase`: the seed's fields, and what is missing.
fn status(world: &mut World<'_>, policy: &Policy, state: &State) -> Value {
    let found = target(state, None).and_then(|run| Some((run, policy.skill_version(&run.skill, &run.version)?)));
    let Some((run, skill)) = found else {
        return json!({"active": false, "available_skills": available(policy)});
    };
    let index = skill.phase_index(&run.phase).unwrap_or_default();
    let Some(phase) = skill.phases.get(index) else { return json!({"active": false}) };
    let mut answer = json!({
        "active": true,
        "skill_name": skill.name,
        "current_phase": phase.name,
        "phase_index": index,
        "total_phases": skill.phases.len(),
        "mode": word(run.mode),
        "allowed_tools": texts(&phase.allowed),
        "forbidden_tools": forbidden(skill, &phase.forbidden),
        "tool_history": run.history,
    });
    if let (Value::Object(fields), Some(condition)) = (&mut answer, &phase.done_when) {
        let missing = world.missing_here(run, condition).words;
        if !missing.is_empty() {
            fields.insert("missing".to_string(), json!(missing));
        }
    }
    answer
}

/// The run that a command without a skill's name means: the one that began last.
fn target<'a>(state: &'a State, name: Option<&str>) -> Option<&'a Run> {
    state.live_runs().filter(|run| name.is_none_or(|name| run.skill == name)).last()
}

fn available(policy: &Policy) -> Vec<&str> {
    policy.skills.iter().map(|skill| skill.name.as_str()).collect()
}

fn forbidden(skill: &Skill, own: &[crate::matcher::Matcher]) -> Vec<String> {
    texts(own).into_iter().chain(texts(&skill.global_forbidden)).collect()
}

fn human(by: By, name: &str) -> Result<(), Refused> {
    match by {
        By::Human => Ok(()),
        By::Agent | By::Platform => {
            Err(Refused { code: Code::CommandRefused, text: format!("`{name}` is for a person to say") })
        }
    }
}

fn mode_of(text: &str) -> Result<Mode, Refused> {
    match text {
        "warn" => Ok(Mode::Warn),
        "block" => Ok(Mode::Block),
        _ => Err(Refused { code: Code::ModeUnknown, text: format!("unknown mode \"{text}\"; modes: [warn, block]") }),
    }
}

/// The word of a mode.
pub(crate) fn word(mode: Mode) -> &'static str {
    match mode {
        Mode::Warn => "warn",
        Mode::Block => "block",
    }
}

fn invalid(text: &str) -> Refused {
    Refused { code: Code::CommandInvalid, text: text.to_string() }
}

/// The arguments of a command, none of them unknown.
struct Arguments<'a>(Option<&'a Map<String, Value>>);

fn arguments<'a>(name: &str, args: &'a Value, known: &[&str]) -> Result<Arguments<'a>, Refused> {
    let fields = match args {
        Value::Null => return Ok(Arguments(None)),
        Value::Object(fields) => fields,
        _ => return Err(invalid(&format!("the arguments of `{name}` are an object"))),
    };
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => Err(invalid(&format!("`{name}` has no argument `{key}`"))),
        None => Ok(Arguments(Some(fields))),
    }
}

impl<'a> Arguments<'a> {
    fn text(&self, key: &str) -> Result<Option<&'a str>, Refused> {
        match self.0.and_then(|fields| fields.get(key)) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(invalid(&format!("`{key}` is a text"))),
        }
    }
}
