//! `phasegate mode warn|block [SKILL]`.

use owo_colors::OwoColorize as _;
use serde_json::Value;

use super::control::{Target, about, give};
use crate::args::ModeArg;
use crate::command::keep::init::mode::renew;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate mode`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The new mode
    pub mode: ModeArg,
    /// The skill; default: the one that was activated last
    pub skill: Option<String>,
    /// Which session.
    #[command(flatten)]
    pub target: Target,
}

/// Changes what violations of a run lead to, and what hooks and plugins do without the guard. Configs stay as they are.
///
/// # Errors
///
/// As for [`give`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let mut command = about(args.skill.as_ref());
    command.insert("mode".to_string(), Value::from(args.mode.mode().word()));
    let answer = give(context, &args.target, "set_mode", command.into())?;
    let renewed = renew(context);
    if context.out.value_if_asked(&answer.result) {
        return Ok(Exit::Done);
    }
    let skill = answer.result.get("skill").and_then(Value::as_str).unwrap_or_default();
    context.out.line(format_args!(
        "{} is in {} mode in session {}",
        skill.bold(),
        args.mode.mode().word(),
        answer.session
    ));
    for path in renewed.as_deref().unwrap_or_default() {
        context.out.note(format_args!("`{}` was renewed for this mode", path.display()));
    }
    if let Err(failure) = renewed {
        let help = failure.help.map(|help| format!("; {help}")).unwrap_or_default();
        context.out.note(format_args!("the settings keep the mode that they had: {}{help}", failure.message));
    }
    Ok(Exit::Done)
}
