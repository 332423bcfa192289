//! `phasegate safety approve`.

use owo_colors::OwoColorize as _;
use serde_json::{Value, json};

use crate::command::runs::control::give_project;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate safety approve`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The name of the program, for example `gcloud`
    pub program: String,
    /// Let agents classify it no more; what they registered as READ counts no more either
    #[arg(long)]
    pub revoke: bool,
}

/// Lets agents classify the commands of a program, or no more.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let command = if args.revoke { "revoke_program" } else { "approve_program" };
    let answer = give_project(context, command, json!({"program": args.program}))?;
    if context.out.value_if_asked(&answer) {
        return Ok(Exit::Done);
    }
    let program = answer.get("program").and_then(Value::as_str).unwrap_or_default();
    if args.revoke && answer.get("before") == Some(&Value::Bool(false)) {
        context.out.line(format_args!("no person let agents classify {}", program.bold()));
        return Ok(Exit::No);
    }
    let more = if args.revoke { " no more" } else { "" };
    context.out.line(format_args!("agents may classify {}{more}", program.bold()));
    if answer.get("never_read") == Some(&Value::Bool(true)) {
        context.out.note(format_args!(
            "{}: {program} runs or writes what it is given, so no agent registers a command of it as READ; the settings can \
             say otherwise: `safety: {{override: [{program}]}}`",
            "warning".yellow()
        ));
    }
    Ok(Exit::Done)
}
