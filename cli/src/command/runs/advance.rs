//! `phasegate advance [PHASE]`.

use owo_colors::OwoColorize as _;
use serde_json::Value;

use super::live::found::{list, text};
use super::live::order::{About, Which, order, who};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate advance`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The phase to go on to, or the skill of the run; default: the next phase. What lies between is recorded as skipped
    pub phase: Option<String>,
    /// Skip the phases that lie between, also those that are not optional
    #[arg(long)]
    pub yes: bool,
    /// Which run.
    #[command(flatten)]
    pub which: Which,
}

/// Has a run go on.
///
/// # Errors
///
/// As for [`order`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let about = About {
        session: args.which.session.as_ref(),
        run: args.which.run.as_ref(),
        name: args.phase.as_ref(),
        ..About::default()
    };
    let confirmed = args.yes.then(|| ("confirmed".to_string(), Value::from("yes")));
    let answer = order(context, about, "advance", who().into_iter().chain(confirmed).collect())?;
    if context.out.value_if_asked(&answer) {
        return Ok(Exit::Done);
    }
    let (skill, run, left) = (text(&answer, "skill"), text(&answer, "run"), text(&answer, "phase"));
    match text(&answer, "current_phase") {
        "" => context.out.line(format_args!("{} ({run}) is over: {left} was its last phase", skill.bold())),
        here => context.out.line(format_args!("{} ({run}) is in phase {}", skill.bold(), here.green())),
    }
    if answer.get("was_done") == Some(&Value::Bool(false)) {
        context.out.line(format_args!("  {left} counts as done, as you said so"));
    }
    let skipped: Vec<&str> = list(&answer, "skipped").filter_map(Value::as_str).collect();
    if !skipped.is_empty() {
        context.out.line(format_args!("  skipped: {}", skipped.join(", ").yellow()));
    }
    Ok(Exit::Done)
}
