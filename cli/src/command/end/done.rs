//! `phasegate end --done`: the end of a run that is done, and what it left.

use owo_colors::OwoColorize as _;
use phasegate_core::state::Status;
use serde_json::Value;

use crate::command::control::{Target, about, give};
use crate::command::live::roots::Roots;
use crate::command::status::history::execution::state;
use crate::command::status::words;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// Ends a run that is done. One that is not done says what is missing.
///
/// # Errors
///
/// There is no such run, it is not done, or as for [`give`].
pub(super) fn run(name: Option<&String>, session: Option<&String>, context: &Context) -> Result<Exit, Failure> {
    let found = Roots::found(context, session)?;
    let root = found.root(name)?;
    if root.run.status == Status::Active {
        let answer = found.answer(root).unwrap_or_default();
        if answer.get("finished") != Some(&Value::Bool(true)) {
            let needs = words(answer.get("needs")).join("; ");
            let why = answer.get("stopped").and_then(Value::as_str).map_or(needs, ToOwned::to_owned);
            let skill = &root.run.skill;
            let message = format!("`{skill}` is not done, in phase \"{}\": {why}", root.run.phase);
            let next = || {
                let advance = format!("a person may count its phase as done by `phasegate advance {skill}`");
                format!("`phasegate status next` says what to do; {advance}")
            };
            let ways = answer.get("ways_on").and_then(Value::as_str).map_or_else(next, ToOwned::to_owned);
            return Err(Failure { exit: Exit::No, ..Failure::new(message) }.with_help(ways));
        }
        let target = Target { session: Some(root.session.id.clone()) };
        give(context, &target, "deactivate_skill", about(Some(&root.run.skill)).into())?;
    }
    let found = Roots::found(context, Some(&root.session.id))?;
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
