//! `phasegate plan`: plan mode, and the plans that a person approves.

mod found;

use std::collections::BTreeSet;

use clap::Subcommand;
use owo_colors::OwoColorize as _;
use phasegate_core::Code;
use phasegate_core::slash_command::{PLAN, PLAN_MODE};
use serde_json::{Value, json};

use self::found::{Plan, word};
use super::control::{Target, give, in_full};
use super::step_line::Line;
use super::{activate, approve, deactivate};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate plan`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Put plan mode in force for the project, or begin it in one session
    On(Session),
    /// End plan mode
    Off(Session),
    /// List the plans of the project, with what became of each
    List,
    /// Show the steps of a plan, and which call each permits
    Show(Named),
    /// Approve the plan as it is now: the agent may carry it out
    Approve(Meant),
    /// Reject the plan as it is now: the agent stays in research
    Reject(Meant),
}

/// Which session is meant.
#[derive(Debug, clap::Args)]
pub struct Session {
    /// Only in this session; default: as `activate`, `deactivate` and `approve` choose
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// Which plan is meant.
#[derive(Debug, clap::Args)]
pub struct Named {
    /// The path of the plan, or the end of it; default: the only one
    path: Option<String>,
}

/// Which plan is meant, or which session.
#[derive(Debug, clap::Args)]
pub struct Meant {
    /// The path of the plan, or the end of it; default: the only one that waits
    path: Option<String>,
    /// The session that wrote it
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// Does it.
///
/// # Errors
///
/// It could not be done.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let skill = PLAN_MODE.to_owned();
    match &args.command {
        Command::On(Session { session }) => {
            let args = activate::Args { skill, inputs: Vec::new(), mode: None, session: session.clone() };
            activate::run(&args, context).map_err(|failure| unused(failure, context, "activate"))
        }
        Command::Off(Session { session }) => {
            let args = deactivate::Args { skill: Some(skill), session: session.clone() };
            deactivate::run(&args, context).map_err(|failure| unused(failure, context, "deactivate"))
        }
        Command::Approve(meant) => {
            let Waiting { name, path, session } = waiting(meant, context)?;
            approve::run(&approve::Args { name: Some(name), revoke: false, session, path }, context)
        }
        Command::Reject(meant) => reject(waiting(meant, context)?, context),
        Command::List => list(context),
        Command::Show(Named { path }) => show(path.as_deref(), context),
    }
}

/// Where the configs do not name the skill, says how they would, and which other skills carry out plans.
fn unused(failure: Failure, context: &Context, command: &str) -> Failure {
    if failure.code != Some(Code::SkillUnknown) {
        return failure;
    }
    let others = found::skills(context).unwrap_or_default();
    let each: Vec<String> = others.iter().map(|skill| format!("`phasegate {command} {skill}`")).collect();
    let own = if each.is_empty() { String::new() } else { format!("; a skill of your own: {}", each.join(", ")) };
    failure.with_help(format!("add `use: [{PLAN_MODE}]` to `.phasegate/config.yaml`{own}"))
}

/// The plan that a person answers: the name of its approval, and as far as they are known its file and its session.
struct Waiting {
    name: String,
    path: Option<String>,
    session: Option<String>,
}

/// The plan that is meant among those that wait.
fn waiting(meant: &Meant, context: &Context) -> Result<Waiting, Failure> {
    let runtime = context.runtime()?;
    let session = in_full(&context.find_project(&runtime)?, meant.session.as_ref())?;
    let mut plans = found::all(context, meant.path.as_deref())?;
    let named = plans.first().map(|plan| (plan.path.clone(), plan.status, plan.session.clone()));
    let names: BTreeSet<String> = plans.iter().map(|plan| plan.artifact.clone()).collect();
    plans.retain(|plan| matches!(plan.status, "proposed" | "rejected"));
    plans.retain(|plan| session.is_none() || plan.session == session);
    // One that was rejected can be approved after all, and no longer waits.
    if plans.iter().any(|plan| plan.status == "proposed") {
        plans.retain(|plan| plan.status == "proposed");
    }
    let same = |plan: &Plan| plans.iter().all(|other| other.session == plan.session && other.artifact == plan.artifact);
    match (plans.as_slice(), &meant.path) {
        ([plan], _) => {
            let (name, path) = (plan.artifact.clone(), Some(plan.path.clone()));
            Ok(Waiting { name, path, session: plan.session.clone() })
        }
        ([], Some(path)) => Err(not_waiting(path, named)),
        // Nothing waits, or a session has written several: the engine says what is wrong.
        ([], None) => {
            let name = if names.len() == 1 { names.into_iter().next() } else { None };
            Ok(Waiting { name: name.unwrap_or_else(|| PLAN.to_owned()), path: None, session })
        }
        ([first, ..], _) if same(first) => {
            Ok(Waiting { name: first.artifact.clone(), path: None, session: first.session.clone() })
        }
        (several, _) => {
            let place =
                |plan: &Plan| format!("`{}` of session {}", plan.path, plan.session.as_deref().unwrap_or_default());
            let each: Vec<String> = several.iter().map(place).collect();
            Err(Failure::new(format!("{} plans wait: {}", each.len(), each.join(", ")))
                .with_help("say which one is meant, by its path or with `--session ID`"))
        }
    }
}

/// Why a plan of this path cannot be answered: no such plan waits.
fn not_waiting(path: &str, named: Option<(String, &str, Option<String>)>) -> Failure {
    let Some((path, status, session)) = named else {
        return Failure::new(format!("no plan is named `{path}`")).with_help("`phasegate plan list` lists all plans");
    };
    let of = session.map(|session| format!(", session {session}")).unwrap_or_default();
    let help = "`phasegate plan list` lists all plans; a draft was written by no session that goes on: have the agent write it";
    Failure {
        exit: Exit::No,
        ..Failure::new(format!("`{path}` does not wait for an answer ({status}{of})")).with_help(help)
    }
}

fn reject(waiting: Waiting, context: &Context) -> Result<Exit, Failure> {
    let Waiting { name, path, session } = waiting;
    let mut given = json!({"name": name});
    if let (Value::Object(fields), Some(path)) = (&mut given, &path) {
        fields.insert("path".to_owned(), json!(path));
    }
    let answer = give(context, &Target { session }, "reject", given)?;
    if context.out.json {
        context.out.value(&answer.result);
    } else {
        let which = path.map_or_else(|| "the plan".to_owned(), |path| format!("the plan {path}"));
        let session = &answer.session;
        context
            .out
            .line(format_args!("{which} is rejected in session {session}; the agent is told with its next prompt"));
    }
    Ok(Exit::Done)
}

fn list(context: &Context) -> Result<Exit, Failure> {
    let plans = found::all(context, None)?;
    if context.out.json {
        context.out.value(&plans.iter().map(as_json).collect());
        return Ok(Exit::Done);
    }
    if plans.is_empty() {
        context.out.line("no plan is there");
    }
    for plan in &plans {
        let stale = if plan.stale { ", stale" } else { "" };
        let changed = if plan.changed { ", changed since it was approved" } else { "" };
        let session = plan.session.as_ref().map(|id| format!(": session {id}")).unwrap_or_default();
        let unfit = if plan.steps.is_err() { ", cannot be approved" } else { "" };
        let (path, version, status) = (plan.path.bold(), &plan.version, plan.status);
        context.out.line(format_args!("{path} ({version}) {status}{unfit}{stale}{changed}{session}"));
    }
    Ok(Exit::Done)
}

fn show(path: Option<&str>, context: &Context) -> Result<Exit, Failure> {
    let plans = found::all(context, path)?;
    let [plan] = plans.as_slice() else {
        let paths: Vec<&str> = plans.iter().map(|plan| plan.path.as_str()).collect();
        let what = match (paths.as_slice(), path) {
            ([], None) => "no plan is there".to_owned(),
            ([], Some(path)) => format!("no plan is named `{path}`"),
            (several, _) => format!("{} plans are meant: [{}]", several.len(), several.join(", ")),
        };
        return Err(Failure::new(what).with_help("`phasegate plan list` lists all plans; name one"));
    };
    if context.out.json {
        context.out.value(&as_json(plan));
        return Ok(Exit::Done);
    }
    let session = plan.session.as_ref().map(|id| format!(": session {id}")).unwrap_or_default();
    context.out.line(format_args!("{} ({}) {}{session}", plan.path.bold(), plan.version, plan.status));
    match &plan.steps {
        Err(faults) => {
            context.out.line("  it permits nothing and cannot be approved:");
            faults.iter().for_each(|fault| context.out.line(format_args!("  - {fault}")));
        }
        Ok(steps) => {
            for step in steps {
                let (after, calls) = (step.after.iter().map(String::as_str).collect(), step.permits());
                let line = Line { id: &step.id, after, calls: calls.as_deref(), text: &step.text };
                context.out.line(line.shown(word(step.state)));
            }
        }
    }
    Ok(Exit::Done)
}

fn as_json(plan: &Plan) -> Value {
    let steps = plan.steps.as_ref().map(|steps| {
        let each = steps.iter().map(|step| {
            json!({"id": step.id, "text": step.text, "permits": step.permits(), "after": step.after, "state": word(step.state)})
        });
        each.collect::<Value>()
    });
    json!({
        "path": plan.path, "status": plan.status, "version": plan.version, "stale": plan.stale, "session": plan.session,
        "changed": plan.changed, "steps": steps.as_ref().ok(), "fault": steps.as_ref().err(),
    })
}
