//! `phasegate skip [NAME]`.

use owo_colors::OwoColorize as _;

use super::live::found::text;
use super::live::order::{About, Which, order, who};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate skip`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The skill whose phase is left; or the phase, also one that is still to come; or the task, which counts as finished.
    /// Default: the phase of the run that began last
    pub name: Option<String>,
    /// Which run.
    #[command(flatten)]
    pub which: Which,
}

/// Leaves the current phase of a run for the next one, done or not; or passes over what is named.
///
/// # Errors
///
/// As for [`order`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (session, run) = (args.which.session.as_ref(), args.which.run.as_ref());
    let about = About { session, run, name: args.name.as_ref(), ..About::default() };
    let answer = order(context, about, "skip_phase", who().into_iter().collect())?;
    if context.out.value_if_asked(&answer) {
        return Ok(Exit::Done);
    }
    let (skill, here) = (text(&answer, "skill"), text(&answer, "current_phase"));
    match (text(&answer, "element"), text(&answer, "phase")) {
        ("", "") => context.out.line(format_args!("{} is in phase {}", skill.bold(), here.green())),
        ("", phase) => {
            context.out.line(format_args!(
                "{} is skipped; {} is in phase {}",
                phase.yellow(),
                skill.bold(),
                here.green()
            ));
            context.out.line("  the run may pass over it, until it goes back before it");
        }
        (task, _) => context.out.line(format_args!("{} is skipped in {}", task.yellow(), skill.bold())),
    }
    Ok(Exit::Done)
}
