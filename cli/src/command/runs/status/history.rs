//! `phasegate status history`: the runs of each session, live and ended.

pub(crate) mod execution;

use owo_colors::OwoColorize as _;
use serde_json::Value;

use self::execution::state;
use crate::command::runs::live::roots::Roots;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// Shows each run: with `--json` as `SkillExecutionState`, one a line. The answer is no where there is none.
///
/// # Errors
///
/// The session is not known, or a journal cannot be read.
pub(super) fn run(name: Option<&String>, session: Option<&String>, context: &Context) -> Result<Exit, Failure> {
    let found = Roots::found(context, session)?;
    let mut roots = found.roots();
    roots.retain(|root| name.is_none_or(|skill| root.run.skill == *skill));
    if let Some(skill) = name.filter(|_| roots.is_empty()) {
        return Err(found.none(Some(skill.as_str())));
    }
    for root in &roots {
        let state = state(&found, *root)?;
        if context.out.json {
            context.out.row(&state);
            continue;
        }
        let skill = found.skill(root.run);
        let order: Vec<&str> = skill.iter().flat_map(|skill| &skill.phases).map(|phase| phase.name.as_str()).collect();
        print(context, &state, &root.run.id, &order);
    }
    if roots.is_empty() && !context.out.json {
        context.out.line("no session has had a run; `phasegate start NAME` begins one");
    }
    Ok(if roots.is_empty() { Exit::No } else { Exit::Done })
}

/// `order`: the names of the phases as the skill has them.
fn print(context: &Context, state: &Value, run: &str, order: &[&str]) {
    let text = |key: &str| state.get(key).and_then(Value::as_str).unwrap_or_default();
    let task = match text("task_id") {
        "" => String::new(),
        task => format!(", task {task}"),
    };
    let at = |pointer: &str| state.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    let status = match (text("status"), at("/metadata/halt")) {
        ("completed", _) => "completed".green().to_string(),
        (other, "") => other.cyan().to_string(),
        (_, halt) => halt.red().to_string(),
    };
    let session = text("execution_session_id");
    context.out.line(format_args!("{} {status}{task}, run {run}, session {session}", text("skill_name").bold()));
    if !text("halt_reason").is_empty() {
        context.out.line(format_args!("  why: {}", text("halt_reason")));
        context.out.line(format_args!("  {}", at("/metadata/ways_on")));
    }
    let phases = state.pointer("/fsm/phase_info");
    for (phase, info) in order.iter().filter_map(|phase| Some((*phase, phases?.get(*phase)?))) {
        let at = info.get("status").and_then(Value::as_str).unwrap_or_default();
        let outputs = state.pointer(&format!("/phase_outputs/{phase}")).and_then(Value::as_array);
        let files = outputs.into_iter().flatten().filter_map(|one| one.get("files")).filter_map(Value::as_array);
        // What comes again after a failure makes the same files; what is still to come has made none.
        let made = files.flatten().filter_map(Value::as_str).filter(|_| at != "pending");
        let mut files: Vec<&str> = Vec::new();
        for file in made {
            if !files.contains(&file) {
                files.push(file);
            }
        }
        context.out.line(format_args!("  {at:<11} {phase}{}", listed(&files)));
    }
}

fn listed(files: &[&str]) -> String {
    if files.is_empty() { String::new() } else { format!("  {}", files.join(", ")) }
}
