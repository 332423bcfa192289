//! `phasegate activate SKILL`.

use owo_colors::OwoColorize as _;
use phasegate_core::Policy;
use phasegate_runtime::sessions::sessions;
use serde_json::{Map, Value};

use super::control::{Target, activation, give, give_project};
use crate::args::ModeArg;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate activate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The skill
    pub skill: String,
    /// A value of each of its inputs
    #[arg(value_name = "NAME=VALUE", value_parser = pair)]
    pub inputs: Vec<(String, String)>,
    /// The mode; never less strict than the configs require
    #[arg(long)]
    pub mode: Option<ModeArg>,
    /// Only in this session; default: in every session of the project, also those that are still to begin
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// Puts the skill in force for the project, or begins a run of it in one session.
///
/// # Errors
///
/// As for [`give`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let command = activation(&args.skill, &args.inputs, args.mode);
    let Some(session) = args.session.clone() else {
        return put_in_force(command, context);
    };
    let target = Target { session: Some(session) };
    let answer = give(context, &target, "activate_skill", Value::Object(command))?;
    if context.out.json {
        context.out.value(&answer.result);
        return Ok(Exit::Done);
    }
    let text = |key: &str| answer.result.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    context.out.line(format_args!(
        "{} is active in session {} ({} mode), phase {}",
        text("skill").bold(),
        answer.session,
        text("mode"),
        text("current_phase").green()
    ));
    for (label, key) in [("allowed", "allowed_tools"), ("forbidden", "forbidden_tools")] {
        let tools = super::status::words(answer.result.get(key));
        if !tools.is_empty() {
            context.out.line(format_args!("  {label}: {}", tools.join(", ")));
        }
    }
    Ok(Exit::Done)
}

/// A name and its value.
pub(crate) fn pair(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or_else(|| format!("write `NAME=VALUE`, not `{text}`"))?;
    Ok((name.to_string(), value.to_string()))
}

fn put_in_force(mut command: Map<String, Value>, context: &Context) -> Result<Exit, Failure> {
    command.insert("scope".to_string(), Value::from("project"));
    let result = give_project(context, "activate_skill", Value::Object(command))?;
    if context.out.json {
        context.out.value(&result);
        return Ok(Exit::Done);
    }
    let text = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    let (skill, mode) = (text("skill"), text("mode"));
    let given = super::status::given(result.get("inputs"));
    context.out.line(format_args!("{}{given} is in force in this project ({mode} mode)", skill.bold()));
    context.out.line("  each session has a run of it from its next event on, and so has each session to come");
    context.out.line(format_args!("  `phasegate deactivate {skill}` ends that"));
    let older = with_older_configs(&skill, context)?;
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

/// The sessions that go on and use an earlier config of the skill, or none.
fn with_older_configs(skill: &str, context: &Context) -> Result<Vec<String>, Failure> {
    let runtime = context.runtime()?;
    let project = context.find_project(&runtime)?;
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
