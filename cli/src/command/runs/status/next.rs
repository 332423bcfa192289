//! `phasegate status next`: what the agent of a session has to do next.

use serde_json::Value;

use crate::command::runs::live::roots::{Root, Roots};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// Prints what the agent is told of each run that judges its calls.
///
/// # Errors
///
/// The session is not known, or none has had a run.
pub(super) fn run(name: Option<&String>, session: Option<&String>, context: &Context) -> Result<Exit, Failure> {
    let found = Roots::found(context, session)?;
    let root = found.root(name)?;
    print_directives(context, &found, Some(root))
}

/// Prints the directives of a run; without one, those of the first session.
pub(crate) fn print_directives(context: &Context, found: &Roots, root: Option<Root<'_>>) -> Result<Exit, Failure> {
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
        context.out.line(format_args!("{run}there is nothing to do; `phasegate status history` shows what was done"));
    }
    Ok(if told.is_empty() { Exit::No } else { Exit::Done })
}
