//! `phasegate workflow advance` and `phasegate workflow skip`.

use owo_colors::OwoColorize as _;
use serde_json::{Map, Value};

use super::found::{list, text};
use super::order::{About, order, who};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate workflow advance`.
#[derive(Debug, clap::Args)]
pub(super) struct Advance {
    /// The phase to go on to, or the skill of the run; default: the next phase. What lies between is recorded as skipped
    phase: Option<String>,
    /// Which run.
    #[command(flatten)]
    which: Which,
}

/// The arguments of `phasegate workflow skip`.
#[derive(Debug, clap::Args)]
pub(super) struct Skip {
    /// The phase; one that is still to come may then be passed over, once
    phase: String,
    /// Which run.
    #[command(flatten)]
    which: Which,
}

#[derive(Debug, clap::Args)]
pub(super) struct Which {
    /// The run; default: the one that began last
    #[arg(long, value_name = "ID")]
    pub(super) run: Option<String>,
    /// The session; default: the project, or the session that has the run
    #[arg(long, value_name = "ID")]
    pub(super) session: Option<String>,
}

/// Has a run go on.
///
/// # Errors
///
/// As for [`order`].
pub(super) fn advance(args: &Advance, context: &Context) -> Result<Exit, Failure> {
    let about = About {
        session: args.which.session.as_ref(),
        run: args.which.run.as_ref(),
        name: args.phase.as_ref(),
        ..About::default()
    };
    let answer = order(context, about, "advance", who().into_iter().collect())?;
    if context.out.json {
        context.out.value(&answer);
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

/// Skips a phase.
///
/// # Errors
///
/// As for [`order`].
pub(super) fn skip(args: &Skip, context: &Context) -> Result<Exit, Failure> {
    let about = About {
        session: args.which.session.as_ref(),
        run: args.which.run.as_ref(),
        phase: Some(&args.phase),
        ..About::default()
    };
    let answer = order(context, about, "skip_phase", who().into_iter().collect::<Map<_, _>>())?;
    if context.out.json {
        context.out.value(&answer);
        return Ok(Exit::Done);
    }
    let (skill, here) = (text(&answer, "skill"), text(&answer, "current_phase"));
    context.out.line(format_args!("{} is skipped; {} is in phase {}", args.phase.yellow(), skill.bold(), here.green()));
    if answer.get("phase").is_some() {
        context.out.line("  the run may pass over it, until it goes back before it");
    }
    Ok(Exit::Done)
}
