//! `phasegate skip [SKILL]`.

use owo_colors::OwoColorize as _;
use serde_json::Value;

use super::control::{Target, about, give};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate skip`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The skill; default: the one that was activated last. Where a part of it has a phase that follows, too, name one
    pub skill: Option<String>,
    /// Which session.
    #[command(flatten)]
    pub target: Target,
}

/// Leaves the current phase of a run for the next one, done or not.
///
/// # Errors
///
/// As for [`give`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let answer = give(context, &args.target, "skip_phase", about(args.skill.as_ref()).into())?;
    if context.out.json {
        context.out.value(&answer.result);
        return Ok(Exit::Done);
    }
    let text = |key: &str| answer.result.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    context.out.line(format_args!(
        "{} is in phase {} in session {}",
        text("skill").bold(),
        text("current_phase").green(),
        answer.session
    ));
    Ok(Exit::Done)
}
