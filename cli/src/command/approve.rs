//! `phasegate approve NAME`.

use owo_colors::OwoColorize as _;
use serde_json::json;

use super::control::{Target, give};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate approve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The name in the skill's condition (`approved: NAME`), or `tool:SERVER/TOOL`
    pub name: String,
    /// Which session.
    #[command(flatten)]
    pub target: Target,
}

/// Approves something, for the whole project.
///
/// # Errors
///
/// As for [`give`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let answer = give(context, &args.target, "approve", json!({"name": args.name}))?;
    if context.out.json {
        context.out.value(&answer.result);
    } else {
        context.out.line(format_args!("{} is approved", args.name.bold()));
    }
    Ok(Exit::Done)
}
