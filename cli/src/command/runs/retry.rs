//! `phasegate retry TASK`.

use owo_colors::OwoColorize as _;
use serde_json::Map;

use super::live::found::text;
use super::live::order::{About, Which, order};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate retry`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The task
    pub id: String,
    /// Which run.
    #[command(flatten)]
    pub which: Which,
}

/// Has a task begun anew, for example one that failed; the others of its wave go on.
///
/// # Errors
///
/// As for [`order`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (session, run) = (args.which.session.as_ref(), args.which.run.as_ref());
    let about = About { session, run, task: Some(&args.id), ..About::default() };
    let answer = order(context, about, "retry_element", Map::new())?;
    if context.out.json {
        context.out.value(&answer);
    } else {
        let (skill, task) = (text(&answer, "skill"), text(&answer, "element"));
        context.out.line(format_args!("{} begins anew in {}", task.green(), skill.bold()));
    }
    Ok(Exit::Done)
}
