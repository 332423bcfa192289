//! `phasegate mode warn|block [SKILL]`.

use owo_colors::OwoColorize as _;
use serde_json::{Map, Value};

use super::control::{Target, give};
use crate::args::ModeArg;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate mode`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What violations lead to from now on
    pub mode: ModeArg,
    /// The skill; without it, the one that was activated last
    pub skill: Option<String>,
    /// Which session.
    #[command(flatten)]
    pub target: Target,
}

/// Changes what violations of a run lead to. Configs stay as they are.
///
/// # Errors
///
/// As for [`give`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let mut command = Map::from_iter([("mode".to_string(), Value::from(args.mode.word()))]);
    command.extend(args.skill.iter().map(|skill| ("skill_name".to_string(), Value::from(skill.clone()))));
    let answer = give(context, &args.target, "set_mode", Value::Object(command))?;
    if context.out.json {
        context.out.value(&answer.result);
        return Ok(Exit::Done);
    }
    let skill = answer.result.get("skill").and_then(Value::as_str).unwrap_or_default();
    context.out.line(format_args!("{} is in {} mode in session {}", skill.bold(), args.mode.word(), answer.session));
    Ok(Exit::Done)
}
