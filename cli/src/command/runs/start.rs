//! `phasegate start SKILL`: for the project, or in one session.

mod import;

use std::path::PathBuf;

use owo_colors::OwoColorize as _;
use phasegate_core::commands::slash_command::PLAN_MODE;
use phasegate_core::policy::Scope;
use phasegate_core::{Code, Policy};
use phasegate_runtime::sessions::sessions;
use serde_json::{Map, Value};

use super::control::{Target, activation, give, give_project};
use super::live::found::{Found, found, text};
use super::live::roots::Roots;
use super::status::next::print_directives;
use crate::args::ModeArg;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate start`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The skill. One of `scope: project` has one run for all sessions, another one run in each session, also in those to come
    pub skill: String,
    /// A value of each of its inputs
    #[arg(value_name = "NAME=VALUE", value_parser = pair)]
    pub inputs: Vec<(String, String)>,
    /// The mode; never less strict than the configs require
    #[arg(long)]
    pub mode: Option<ModeArg>,
    /// One run in this session, from now on
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Begin where this `active_task_graph.json` stands
    #[arg(long, value_name = "FILE")]
    pub import: Option<PathBuf>,
}

/// Begins a run of the project or of one session, or puts the skill in force in every session.
///
/// # Errors
///
/// As for [`give`]. The file cannot be imported, or the skill has no run of the project for it.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let found = found(context, args.session.as_ref())?;
    let policy = found.policy()?;
    let of_project = policy.skill(&args.skill).is_some_and(|skill| skill.scope == Scope::Project);
    let mut command = activation(&args.skill, &args.inputs, args.mode);
    match (&args.import, &args.session) {
        _ if of_project => return in_project(args, &found, command, context),
        (Some(_), _) => {
            return Err(Failure::new(format!("a run of `{}` belongs to a session: nothing is imported", args.skill))
                .with_help("only a skill with `scope: project` begins where a file stands"));
        }
        (None, Some(session)) => return in_session(session, command, context),
        (None, None) => {}
    }
    command.insert("scope".to_string(), Value::from("project"));
    let result = give_project(context, "activate_skill", command.into()).map_err(|failure| unused(failure, args))?;
    if context.out.value_if_asked(&result) {
        return Ok(Exit::Done);
    }
    let (skill, mode) = (text(&result, "skill"), text(&result, "mode"));
    let given = super::status::given(result.get("inputs"));
    context.out.line(format_args!("{}{given} is in force in this project ({mode} mode)", skill.bold()));
    context.out.line("  each session has a run of it from its next event on, and so has each session to come");
    context.out.line(format_args!("  `phasegate end {skill}` ends that"));
    let older = with_older_configs(skill, context)?;
    if !older.is_empty() {
        let which = older.join(", ");
        context.out.note(format_args!(
            "{}: the config of `{skill}` came or changed after these sessions began, so it is not in force in them as it \
             is now: {which}; `phasegate reload` has them read it",
            "warning".yellow()
        ));
    }
    Ok(Exit::Done)
}

/// A name and its value.
fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("write `NAME=VALUE`, not `{text}`"))?;
    Ok((name.to_string(), value.to_string()))
}

/// Begins the one run of the project, and tells the agent of a session that goes on.
fn in_project(args: &Args, found: &Found, mut command: Map<String, Value>, context: &Context) -> Result<Exit, Failure> {
    if let Some(file) = &args.import {
        command.insert("state".to_string(), import::state(file, &found.project.root)?);
    }
    let through = args.session.clone().or(found.shared.id().map(ToString::to_string));
    let answer = match through {
        Some(session) => give(context, &Target { session: Some(session) }, "activate_skill", command.into())?.result,
        None => give_project(context, "activate_skill", command.into())?,
    };
    if context.out.value_if_asked(&answer) {
        return Ok(Exit::Done);
    }
    let (skill, mode, phase) = (text(&answer, "skill"), text(&answer, "mode"), text(&answer, "current_phase"));
    let how = if args.import.is_some() { "goes on" } else { "begins" };
    context.out.line(format_args!("{} {how} in phase {}, {mode} mode", skill.bold(), phase.green()));
    context.out.line("  one run for every session of the project; `phasegate status runs` shows where it stands");
    Ok(Exit::Done)
}

/// Begins a run in one session, and prints what its agent has to do first.
fn in_session(session: &str, command: Map<String, Value>, context: &Context) -> Result<Exit, Failure> {
    let answer = give(context, &Target { session: Some(session.to_owned()) }, "activate_skill", command.into())?;
    if context.out.value_if_asked(&answer.result) {
        return Ok(Exit::Done);
    }
    let result = &answer.result;
    let (skill, phase, mode) = (text(result, "skill"), text(result, "current_phase"), text(result, "mode"));
    let session = &answer.session;
    context.out.line(format_args!(
        "{} begins in session {session}, phase {}, {mode} mode",
        skill.bold(),
        phase.green()
    ));
    print_directives(context, &Roots::found(context, Some(session))?, None)
}

/// Where the configs do not name plan mode, says how they would.
fn unused(failure: Failure, args: &Args) -> Failure {
    if failure.code != Some(Code::SkillUnknown) || args.skill != PLAN_MODE {
        return failure;
    }
    failure.with_help(format!("add `use: [{PLAN_MODE}]` to `.phasegate/config.yaml`"))
}

/// The sessions that go on and use an earlier config of the skill, or none.
fn with_older_configs(skill: &str, context: &Context) -> Result<Vec<String>, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let live = sessions(&project)?.known.into_iter().filter(|session| !session.state.session.ended);
    let live: Vec<String> = live.map(|session| session.id).collect();
    let due = runtime.reloads(&project, None)?.into_iter().filter(|reload| live.contains(&reload.session));
    let other = due.filter(|reload| reload.added.iter().chain(&reload.changed).any(|name| name == skill));
    Ok(other.map(|reload| reload.session).collect())
}

/// Fails if the configs do not have one of these skills.
pub(crate) fn known(skills: &[String], policy: &Policy) -> Result<(), Failure> {
    let Some(unknown) = skills.iter().find(|skill| policy.skill(skill).is_none()) else { return Ok(()) };
    let names: Vec<String> = policy.skills.iter().map(|skill| format!("`{}`", skill.name)).collect();
    let help = match names.as_slice() {
        [] => "the configs of this project have no skill".to_owned(),
        names => format!("the skills of this project: {}", names.join(", ")),
    };
    Err(Failure::new(format!("there is no skill `{unknown}`")).with_help(help))
}
