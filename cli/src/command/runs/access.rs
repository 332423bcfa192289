//! `phasegate access readonly|normal|admin`.

use owo_colors::OwoColorize as _;
use phasegate_core::Code;
use phasegate_core::policy::access::{AccessMode, Granted};
use phasegate_runtime::policies::policy_store::Current;
use phasegate_runtime::timestamp::timestamp;
use serde_json::{Value, json};

use super::control::give_project;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate access`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What calls may do at all: `readonly`, `normal` or `admin`; without it, the present access is shown
    #[arg(value_parser = AccessMode::ALL.map(|(word, _)| word))]
    access: Option<String>,
    /// For how long: `90s`, `30m`, `2h`; `admin` needs a time of at most a day
    #[arg(long = "for", value_name = "TIME", requires = "access")]
    lasts: Option<String>,
}

/// Sets the access of the project, or shows it.
///
/// # Errors
///
/// As for [`give_project`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let Some(access) = args.access.as_deref() else { return show(context) };
    let given = give_project(context, "set_access", json!({"access": access, "for": args.lasts}));
    let result = given.map_err(|failure| match failure.code {
        Some(Code::CommandInvalid) => failure.with_help("write for example `phasegate access admin --for 30m`"),
        _ => failure,
    })?;
    if context.out.value_if_asked(&result) {
        return Ok(Exit::Done);
    }
    let until = ends(result.get("until").and_then(Value::as_i64));
    let stays = match access {
        "normal" => args.lasts.is_none(),
        "admin" => true,
        _ => false,
    };
    if stays && readonly_by_config(context)? {
        let what = if access == "admin" { format!("no budget holds{until}, but it") } else { "it".to_owned() };
        context.out.line(format_args!("{what} stays {}: the config says so", "readonly".bold()));
        context.out.note("`phasegate access normal --for 30m` lifts that for a time");
        return Ok(Exit::Done);
    }
    context.out.line(format_args!("the access of the project is {}{until}", access.bold()));
    Ok(Exit::Done)
}

/// Prints the access that holds now, and who said so.
fn show(context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let now = (runtime.now)();
    let set = runtime.project_state(&project)?.project.access;
    let set = set.filter(|granted| granted.until.is_none_or(|until| now < until));
    let config = if readonly_by_config(context)? { AccessMode::Readonly } else { AccessMode::Normal };
    if context.out.value_if_asked(&json!({"config": config, "set": set})) {
        return Ok(Exit::Done);
    }
    let by_config = || format!("the access of the project is {}, by the config", config.word().bold());
    context.out.line(match set {
        Some(Granted { access: AccessMode::Admin, until }) if config == AccessMode::Readonly => {
            format!("{}, and no budget holds{}", by_config(), ends(until))
        }
        Some(Granted { access, until }) => {
            format!("the access of the project is {}{}, set by a person", access.word().bold(), ends(until))
        }
        None if config == AccessMode::Readonly => by_config(),
        None => format!("the access of the project is {}", config.word().bold()),
    });
    Ok(Exit::Done)
}

fn ends(until: Option<i64>) -> String {
    until.map(|until| format!(" until {}", timestamp(until))).unwrap_or_default()
}

/// Whether the project is read-only by its config. What a person says holds over that only as `normal` with a time.
fn readonly_by_config(context: &Context) -> Result<bool, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    Ok(match runtime.current(&project)? {
        Current::Ready(ready) => ready.policy.access == AccessMode::Readonly,
        Current::Invalid { .. } | Current::Unguarded => false,
    })
}
