//! `phasegate skill start`.

use owo_colors::OwoColorize as _;
use serde_json::Value;

use super::runs::Runs;
use super::steer::print_directives;
use crate::args::ModeArg;
use crate::command::activate::pair;
use crate::command::control::{Target, activation, give};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate skill start`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The skill
    skill: String,
    /// A value of each of its inputs
    #[arg(value_name = "NAME=VALUE", value_parser = pair)]
    inputs: Vec<(String, String)>,
    /// The mode; never less strict than the configs require
    #[arg(long)]
    mode: Option<ModeArg>,
    /// The session; default: the one of the project that was active last
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// Begins a run in one session, and prints what its agent has to do first.
///
/// # Errors
///
/// As for [`give`].
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let command = activation(&args.skill, &args.inputs, args.mode);
    let found = Runs::found(context, args.session.as_ref())?;
    if let Some(session) = found.sessions.first().filter(|one| one.state.session.ended && args.session.is_none()) {
        return Err(Failure::new(format!("no session goes on: `{}`, the last one, has ended", session.id)).with_help(
            "start the client first; `--session ID` begins the run in a session that has ended, for when it is resumed",
        ));
    }
    let answer = give(context, &Target { session: args.session.clone() }, "activate_skill", command.into())?;
    if context.out.json {
        context.out.value(&answer.result);
        return Ok(Exit::Done);
    }
    let text = |key: &str| answer.result.get(key).and_then(Value::as_str).unwrap_or_default();
    let (skill, phase, mode) = (text("skill"), text("current_phase"), text("mode"));
    context.out.line(format_args!(
        "{} begins in session {}, phase {}, {mode} mode",
        skill.bold(),
        answer.session,
        phase.green()
    ));
    let found = Runs::found(context, Some(&answer.session))?;
    print_directives(context, &found, None)
}
