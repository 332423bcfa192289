//! `phasegate access readonly|normal|admin`.

use owo_colors::OwoColorize as _;
use phasegate_core::access::AccessMode;
use phasegate_runtime::timestamp::timestamp;
use serde_json::{Value, json};

use super::control::give_project;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate access`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What calls may do at all: `readonly`, `normal` or `admin`
    #[arg(value_parser = AccessMode::ALL.map(|(word, _)| word))]
    access: String,
    /// For how long: `90s`, `30m`, `2h`; `admin` needs a time of at most a day
    #[arg(long = "for", value_name = "TIME")]
    lasts: Option<String>,
}

/// Sets the access of the project.
///
/// # Errors
///
/// As for [`give_project`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let result = give_project(context, "set_access", json!({"access": args.access, "for": args.lasts}))?;
    if context.out.json {
        context.out.value(&result);
        return Ok(Exit::Done);
    }
    let until = result.get("until").and_then(Value::as_i64);
    let until = until.map(|until| format!(" until {}", timestamp(until))).unwrap_or_default();
    context.out.line(format_args!("the access of the project is {}{until}", args.access.bold()));
    Ok(Exit::Done)
}
