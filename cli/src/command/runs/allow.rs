//! `phasegate allow [REASON]`.

use owo_colors::OwoColorize as _;
use serde_json::{Map, Value};

use super::control::{Target, give};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate allow`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Why, for the journal
    pub reason: Vec<String>,
    /// Which session.
    #[command(flatten)]
    pub target: Target,
}

/// Lets the call pass once that a skill or a rule denied last.
///
/// # Errors
///
/// As for [`give`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let why = (!args.reason.is_empty()).then(|| ("why".to_string(), Value::from(args.reason.join(" "))));
    let answer = give(context, &args.target, "allow", Map::from_iter(why).into())?;
    if context.out.value_if_asked(&answer.result) {
        return Ok(Exit::Done);
    }
    let of = answer.result.get("of").and_then(Value::as_str).unwrap_or_default();
    context.out.line(format_args!(
        "{} passes once in session {}, in the next 30 minutes: tell the agent to make the call again",
        of.bold(),
        answer.session
    ));
    Ok(Exit::Done)
}
