//! `phasegate workflow tasks`: the elements of a run's plan, by wave.

use std::collections::BTreeMap;

use clap::Subcommand;
use owo_colors::OwoColorize as _;
use serde_json::{Map, Value, json};

use super::found::{Fits, found, list, text};
use super::order::{About, order};
use super::steer::Which;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, Output};

/// The arguments of `phasegate workflow tasks`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// What to do with one task; default: show them all
    #[command(subcommand)]
    act: Option<Act>,
    /// The run whose tasks are shown; default: the only one that has any
    #[arg(long, value_name = "ID")]
    run: Option<String>,
}

#[derive(Debug, Subcommand)]
enum Act {
    /// Begin a task anew, for example one that failed; the others of its wave go on
    Retry(Task),
    /// Skip a task: it counts as finished
    Skip(Task),
}

#[derive(Debug, clap::Args)]
struct Task {
    /// The task
    id: String,
    /// Which run.
    #[command(flatten)]
    which: Which,
}

/// Shows the tasks, or acts on one.
///
/// # Errors
///
/// As for [`order`]. No live run has tasks.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.act {
        None => show(args, context),
        Some(Act::Retry(task)) => act(context, "retry_element", task),
        Some(Act::Skip(task)) => act(context, "skip_element", task),
    }
}

fn act(context: &Context, command: &str, task: &Task) -> Result<Exit, Failure> {
    let about = About {
        session: task.which.session.as_ref(),
        run: task.which.run.as_ref(),
        task: Some(&task.id),
        ..About::default()
    };
    let answer = order(context, about, command, Map::new())?;
    if context.out.json {
        context.out.value(&answer);
        return Ok(Exit::Done);
    }
    let (skill, task) = (text(&answer, "skill"), text(&answer, "element"));
    match text(&answer, "status") {
        "skipped" => context.out.line(format_args!("{} is skipped in {}", task.yellow(), skill.bold())),
        _ => context.out.line(format_args!("{} begins anew in {}", task.green(), skill.bold())),
    }
    Ok(Exit::Done)
}

fn show(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let found = found(context, None)?;
    let has = |run: &Value| run.get("plan").is_some();
    let fits = Fits { test: &has, none: "no live run is in a phase with tasks" };
    let run = found.run(args.run.as_ref(), &fits)?;
    let Some(plan) = run.get("plan") else {
        let message = format!("the phase {} of {} has no tasks", text(run, "current_phase"), text(run, "skill_name"));
        return Err(Failure { exit: Exit::No, ..Failure::new(message) });
    };
    if context.out.json {
        let mut told =
            json!({"run": run.get("run"), "skill": run.get("skill_name"), "phase": run.get("current_phase")});
        if let (Value::Object(told), Value::Object(plan)) = (&mut told, plan.clone()) {
            told.extend(plan);
        }
        context.out.value(&told);
        return Ok(Exit::Done);
    }
    let (skill, phase) = (text(run, "skill_name"), text(run, "current_phase"));
    context.out.line(format_args!("{} in phase {}, tasks of {}", skill.bold(), phase.green(), text(plan, "path")));
    waves(context.out, plan, "  ");
    Ok(Exit::Done)
}

/// Prints the tasks by wave, each line after this margin.
pub(super) fn waves(out: Output, plan: &Value, margin: &str) {
    let present = plan.get("wave").and_then(Value::as_u64);
    let mut waves: BTreeMap<u64, Vec<&Value>> = BTreeMap::new();
    for element in list(plan, "elements") {
        waves.entry(element.get("wave").and_then(Value::as_u64).unwrap_or_default()).or_default().push(element);
    }
    let width = list(plan, "elements").map(|one| text(one, "id").chars().count()).max().unwrap_or_default();
    // What ended with a task that failed goes on when a person has said what becomes of that one.
    let stuck = if list(plan, "elements").any(|one| text(one, "state") == "failed") { "failed" } else { "left" };
    let at_gate = plan.get("gate") == Some(&Value::Bool(true));
    let asks = text(plan, "gate_asks");
    for (number, tasks) in waves {
        let done = present.is_some_and(|present| number < present);
        let state = match present == Some(number) {
            true if at_gate => format!("{}, which asks {asks}", "waits at its gate".yellow()),
            true => "now".cyan().to_string(),
            false if done => "done".green().to_string(),
            false => "waits for the wave before".dimmed().to_string(),
        };
        out.line(format_args!("{margin}{} {state}", format!("wave {number}:").bold()));
        for task in tasks {
            let name = format!("{:<width$}", text(task, "id"));
            out.line(format_args!("{margin}  {name}  {}", state_of(task, &notes(task, stuck).join("; "))));
        }
    }
    if !at_gate && !asks.is_empty() {
        out.line(format_args!("{margin}gate of each wave: {asks}"));
    }
}

/// The state of a task, and what is noted of it.
fn state_of(task: &Value, notes: &str) -> String {
    let word = text(task, "state");
    let shown = match word {
        "finished" => word.green().to_string(),
        "live" => word.cyan().to_string(),
        "failed" | "left" => word.red().to_string(),
        "skipped" => word.yellow().to_string(),
        _ => word.dimmed().to_string(),
    };
    if notes.is_empty() {
        shown
    } else {
        format!("{shown}{:width$}{notes}", "", width = 10_usize.saturating_sub(word.len()))
    }
}

/// What is noted of a task. In the state `stuck`, what a person can do.
fn notes(task: &Value, stuck: &str) -> Vec<String> {
    let (id, state) = (text(task, "id"), text(task, "state"));
    let mut notes = Vec::new();
    if !text(task, "phase").is_empty() {
        notes.push(format!("in phase {}", text(task, "phase")));
    }
    if !text(task, "agent").is_empty() {
        notes.push(format!("by subagent {} of session {}", text(task, "agent"), text(task, "session")));
    }
    let waits: Vec<&str> = list(task, "waits_for").filter_map(Value::as_str).collect();
    if !waits.is_empty() {
        notes.push(format!("after {}", waits.join(", ")));
    }
    let waits = task.get("stopped") == Some(&Value::Bool(true));
    if state == stuck || waits {
        let waits = if waits { "waits for you: " } else { "" };
        notes.push(format!("{waits}`phasegate workflow tasks retry {id}` begins it anew, `... skip {id}` skips it"));
    } else if state == "left" {
        notes.push("ended with the failed one, and goes on with it".to_string());
    }
    notes
}
