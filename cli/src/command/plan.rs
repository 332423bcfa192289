//! `phasegate plan`: plan mode, and the plans that a person approves.

mod found;

use clap::Subcommand;
use owo_colors::OwoColorize as _;
use phasegate_core::Code;
use phasegate_core::slash_command::{PLAN, PLAN_MODE};
use serde_json::{Value, json};

use self::found::{Plan, word};
use super::control::{Target, give};
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
    Approve(Session),
    /// Reject the plan as it is now: the agent stays in research
    Reject(Session),
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
            activate::run(&args, context).map_err(unused)
        }
        Command::Off(Session { session }) => {
            deactivate::run(&deactivate::Args { skill: Some(skill), session: session.clone() }, context)
        }
        Command::Approve(Session { session }) => {
            let args = approve::Args { name: Some(PLAN.to_owned()), revoke: false, session: session.clone() };
            approve::run(&args, context)
        }
        Command::Reject(Session { session }) => reject(session.clone(), context),
        Command::List => list(context),
        Command::Show(Named { path }) => show(path.as_deref(), context),
    }
}

/// Where the configs do not name the skill, says how they would.
fn unused(failure: Failure) -> Failure {
    if failure.code == Some(Code::SkillUnknown) {
        return failure.with_help(format!("add `use: [{PLAN_MODE}]` to `.phasegate/config.yaml`"));
    }
    failure
}

fn reject(session: Option<String>, context: &Context) -> Result<Exit, Failure> {
    let answer = give(context, &Target { session }, "reject", json!({"name": PLAN}))?;
    if context.out.json {
        context.out.value(&answer.result);
    } else {
        context.out.line(format_args!("the plan is rejected in session {}", answer.session));
    }
    Ok(Exit::Done)
}

fn list(context: &Context) -> Result<Exit, Failure> {
    let plans = found::all(context)?;
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
    let mut plans = found::all(context)?;
    let ends = |plan: &Plan, path: &str| {
        let plain = plan.path.rsplit_once('.').map_or(plan.path.as_str(), |(plain, _)| plain);
        plan.path.ends_with(path) || plain.ends_with(path)
    };
    plans.retain(|plan| path.is_none_or(|path| ends(plan, path)));
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
    context.out.line(format_args!("{} ({}) {}", plan.path.bold(), plan.version, plan.status));
    match &plan.steps {
        Err(fault) => context.out.line(format_args!("  it permits nothing and cannot be approved: {fault}")),
        Ok(steps) => {
            for step in steps {
                let (after, calls) = (step.after.iter().map(String::as_str).collect(), step.calls());
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
            json!({"id": step.id, "text": step.text, "permits": step.calls(), "after": step.after, "state": word(step.state)})
        });
        each.collect::<Value>()
    });
    json!({
        "path": plan.path, "status": plan.status, "version": plan.version, "stale": plan.stale, "session": plan.session,
        "changed": plan.changed, "steps": steps.as_ref().ok(), "fault": steps.as_ref().err(),
    })
}
