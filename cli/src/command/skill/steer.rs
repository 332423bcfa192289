//! `phasegate skill next`, `branch`, `complete`, `halt` and `resume`. A run moves on evidence; to halt one, to resume it and to
//! skip a phase is a person's.

use owo_colors::OwoColorize as _;
use phasegate_core::state::Status;
use serde_json::{Map, Value, json};

use super::execution::state;
use super::runs::{Root, Runs};
use crate::command::control::{Target, about, give};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// Which run.
#[derive(Debug, clap::Args)]
pub(super) struct Which {
    /// The skill; default: the one that began last
    skill: Option<String>,
    /// The session; default: any, those that go on first
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// The arguments of `phasegate skill halt`.
#[derive(Debug, clap::Args)]
pub(super) struct Halt {
    /// Which run.
    #[command(flatten)]
    which: Which,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    why: String,
}

/// Prints what the agent is told of each run that judges its calls.
///
/// # Errors
///
/// The session is not known, or none has had a run.
pub(super) fn next(args: &Which, context: &Context) -> Result<Exit, Failure> {
    let found = Runs::found(context, args.session.as_ref())?;
    let root = found.root(args.skill.as_ref())?;
    print_directives(context, &found, Some(root))
}

/// Prints the directives of a run; without one, those of the first session.
pub(super) fn print_directives(context: &Context, found: &Runs, root: Option<Root<'_>>) -> Result<Exit, Failure> {
    let session = root.map(|root| root.session).or(found.sessions.first());
    let all = found.runtime.directives(&found.project, session)?;
    let mine =
        |one: &&Value| root.is_none_or(|root| one.get("root").and_then(Value::as_str) == Some(root.run.id.as_str()));
    let told: Vec<&Value> = all.as_array().into_iter().flatten().filter(mine).collect();
    for one in &told {
        if context.out.json {
            context.out.row(one);
        } else {
            context.out.line(one.get("text").and_then(Value::as_str).unwrap_or_default());
        }
    }
    if told.is_empty() && !context.out.json {
        let run = root.map(|root| format!("{} has ended: ", root.run.skill)).unwrap_or_default();
        context.out.line(format_args!("{run}there is nothing to do; `phasegate skill status` shows what was done"));
    }
    Ok(if told.is_empty() { Exit::No } else { Exit::Done })
}

/// Shows the runs that the phases of a run consist of.
///
/// # Errors
///
/// As for [`next`].
pub(super) fn branch(args: &Which, context: &Context) -> Result<Exit, Failure> {
    let found = Runs::found(context, args.session.as_ref())?;
    let root = found.root(args.skill.as_ref())?;
    let skill = found.skill(root.run);
    for part in root.parts(root.run) {
        let at = part.branch.as_ref();
        let name = at.map(|at| at.name.as_str()).filter(|name| !name.is_empty()).unwrap_or(&part.skill);
        let agent = at.and_then(|at| at.agent.as_deref());
        let phase = skill.as_ref().and_then(|skill| root.run.phase_of(skill, part)).unwrap_or_default();
        let state = part.progress();
        if context.out.json {
            context.out.row(&json!({
                "phase": phase, "branch": name, "skill": part.skill, "run": part.id, "state": state, "agent": agent,
                "fail_on_error": at.is_none_or(|at| !at.may_fail),
            }));
            continue;
        }
        let agent = agent.map(|agent| format!(", subagent {agent}")).unwrap_or_default();
        context.out.line(format_args!("{state:<11} {phase} {}, run {}{agent}", name.bold(), part.id));
    }
    Ok(Exit::Done)
}

/// Ends a run that is done. One that is not done says what is missing.
///
/// # Errors
///
/// As for [`next`] and [`give`].
pub(super) fn complete(args: &Which, context: &Context) -> Result<Exit, Failure> {
    let found = Runs::found(context, args.session.as_ref())?;
    let root = found.root(args.skill.as_ref())?;
    if root.run.status == Status::Active {
        let answer = found.answer(root).unwrap_or_default();
        if answer.get("finished") != Some(&Value::Bool(true)) {
            let needs = crate::command::status::words(answer.get("needs")).join("; ");
            let why = answer.get("stopped").and_then(Value::as_str).map_or(needs, ToOwned::to_owned);
            let skill = &root.run.skill;
            let message = format!("`{skill}` is not done, in phase \"{}\": {why}", root.run.phase);
            let next = || {
                let advance = format!("a person may count its phase as done by `phasegate workflow advance {skill}`");
                format!("`phasegate skill next` says what to do; {advance}")
            };
            let ways = answer.get("ways_on").and_then(Value::as_str).map_or_else(next, ToOwned::to_owned);
            return Err(Failure { exit: Exit::No, ..Failure::new(message) }.with_help(ways));
        }
        let target = Target { session: Some(root.session.id.clone()) };
        give(context, &target, "deactivate_skill", about(Some(&root.run.skill)).into())?;
    }
    let found = Runs::found(context, Some(&root.session.id))?;
    let ended = found.roots().into_iter().find(|one| one.run.id == root.run.id).unwrap_or(root);
    let state = state(&found, ended)?;
    let completed = state.get("status").and_then(Value::as_str) == Some("completed");
    if context.out.json {
        context.out.value(&state);
    } else {
        summary(context, &state, completed);
    }
    Ok(if completed { Exit::Done } else { Exit::No })
}

/// What the phases of a run left, and that it is complete.
fn summary(context: &Context, state: &Value, completed: bool) {
    for (phase, outputs) in state.get("phase_outputs").and_then(Value::as_object).into_iter().flatten() {
        for output in outputs.as_array().into_iter().flatten() {
            let files = output.get("files").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
            let skill = output.get("skill").and_then(Value::as_str).unwrap_or_default();
            context.out.line(format_args!("{phase}: {skill} {}", files.collect::<Vec<_>>().join(", ")));
        }
    }
    let skill = state.get("skill_name").and_then(Value::as_str).unwrap_or_default();
    if completed {
        context.out.line(format_args!("{} {skill}", "SKILL_COMPLETE".green()));
    } else {
        let why = state.get("halt_reason").and_then(Value::as_str).unwrap_or_default();
        context.out.line(format_args!("{skill} is not complete: {why}"));
    }
}

/// Has a run stand still.
///
/// # Errors
///
/// As for [`give`].
pub(super) fn halt(args: &Halt, context: &Context) -> Result<Exit, Failure> {
    let root = order(&args.which, context, "halt_run", Some(&args.why))?;
    if !context.out.json {
        context.out.line(format_args!("{root} stands still; `phasegate skill resume {root}` has it go on"));
    }
    Ok(Exit::Done)
}

/// Has a run go on, and prints what to do next.
///
/// # Errors
///
/// As for [`give`].
pub(super) fn resume(args: &Which, context: &Context) -> Result<Exit, Failure> {
    let found = Runs::found(context, args.session.as_ref())?;
    let root = found.root(args.skill.as_ref())?;
    let halted = root.run.halted.is_some()
        || root.parts(root.run).any(|part| part.status == Status::Active && part.halted.is_some());
    let answer = ordered(root, context, "resume_run", None)?;
    if !halted {
        let skill = &root.run.skill;
        let answer = found.answer(root);
        let said = |key: &str| Some(answer.as_ref()?.get(key)?.as_str()?.to_owned());
        let why = said("stopped").map(|why| format!(": {why}")).unwrap_or_default();
        let help = "`phasegate status` says how you have it go on, or end it";
        return Err(Failure { exit: Exit::No, ..Failure::new(format!("nobody halted `{skill}`{why}")) }
            .with_help(said("ways_on").unwrap_or_else(|| help.to_owned())));
    }
    if context.out.json {
        context.out.value(&answer);
    }
    next(args, context)
}

fn order(which: &Which, context: &Context, name: &str, why: Option<&String>) -> Result<String, Failure> {
    let found = Runs::found(context, which.session.as_ref())?;
    let root = found.root(which.skill.as_ref())?;
    let answer = ordered(root, context, name, why)?;
    if context.out.json {
        context.out.value(&answer);
    }
    Ok(root.run.skill.clone())
}

/// The answer to a command about a run.
fn ordered(root: Root<'_>, context: &Context, name: &str, why: Option<&String>) -> Result<Value, Failure> {
    let mut args = Map::from_iter([("run".to_string(), Value::from(root.run.id.clone()))]);
    args.extend(why.map(|why| ("why".to_string(), Value::from(why.clone()))));
    Ok(give(context, &Target { session: Some(root.session.id.clone()) }, name, args.into())?.result)
}
