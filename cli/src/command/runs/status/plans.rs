//! `phasegate status plans [PATH]`: the plans of a project, with what became of each, or the steps of one.

pub(in crate::command) mod found;

use owo_colors::OwoColorize as _;
use serde_json::{Value, json};

use self::found::{Plan, word};
use crate::command::runs::step_line::Line;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// Lists the plans, or shows the steps of the one that is named, and which call each permits.
///
/// # Errors
///
/// The plans cannot be read, or none is named so, or several are.
pub(super) fn run(path: Option<&String>, context: &Context) -> Result<Exit, Failure> {
    match path {
        None => list(context),
        Some(path) => show(path, context),
    }
}

fn list(context: &Context) -> Result<Exit, Failure> {
    let plans = found::all(context, None)?;
    if context.out.value_if_asked(&plans.iter().map(as_json).collect()) {
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

fn show(path: &str, context: &Context) -> Result<Exit, Failure> {
    let plans = found::all(context, Some(path))?;
    let [plan] = plans.as_slice() else {
        let paths: Vec<&str> = plans.iter().map(|plan| plan.path.as_str()).collect();
        let what = match paths.as_slice() {
            [] => format!("no plan is named `{path}`"),
            several => format!("{} plans are meant: [{}]", several.len(), several.join(", ")),
        };
        return Err(Failure::new(what).with_help("`phasegate status plans` lists all plans; name one"));
    };
    if context.out.value_if_asked(&as_json(plan)) {
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
