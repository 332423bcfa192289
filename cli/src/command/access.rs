//! `phasegate access readonly|normal|admin`.

use owo_colors::OwoColorize as _;
use phasegate_core::access::AccessMode;
use phasegate_runtime::policy_store::Current;
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
    let stays = match args.access.as_str() {
        "normal" => args.lasts.is_none(),
        "admin" => true,
        _ => false,
    };
    if stays && readonly_by_config(context)? {
        let what = if args.access == "admin" { format!("no budget holds{until}, but it") } else { "it".to_owned() };
        context.out.line(format_args!("{what} stays {}: the config says so", "readonly".bold()));
        context.out.note("`phasegate access normal --for 30m` lifts that for a time");
        return Ok(Exit::Done);
    }
    context.out.line(format_args!("the access of the project is {}{until}", args.access.bold()));
    Ok(Exit::Done)
}

/// Whether the project is read-only by its config. What a person says holds over that only as `normal` with a time.
fn readonly_by_config(context: &Context) -> Result<bool, Failure> {
    let runtime = context.runtime()?;
    let project = context.find_project(&runtime)?;
    Ok(match runtime.current(&project)? {
        Current::Ready(ready) => ready.policy.access == AccessMode::Readonly,
        Current::Invalid { .. } | Current::Unguarded => false,
    })
}
