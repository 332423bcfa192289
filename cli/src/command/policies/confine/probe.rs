//! `phasegate confine probe`: which levels work here.

use owo_colors::OwoColorize as _;
use phasegate_confine::{Level, Probed, mechanism, probe};
use serde_json::json;

use super::request::{as_json, request};
use crate::context::Context;
use crate::exit::NOT_CONFINED;
use crate::output::Failure;

/// The arguments of `phasegate confine probe`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Tries each level for the home and the project. Ends with 125 if none holds a command that is to keep nothing.
pub(super) fn run(_: &Args, context: &Context) -> Result<u8, Failure> {
    let mut request = request(Level::Overlay, context)?;
    request.protected.clone_from(&request.overlaid);
    let probed = probe(&Level::ALL, &request);
    let profile = mechanism().profile(&request);
    if context.out.json {
        let rows: Vec<_> = probed.iter().map(as_json).collect();
        context.out.value(&json!({"levels": rows, "untried_profile": profile}));
    } else {
        probed.iter().for_each(|row| print(context, row));
        if let Some(profile) = profile {
            context.out.line("A profile that would hold the command here, from documentation and never tried:");
            context.out.line(profile);
        }
    }
    let holds = probed.iter().any(|row| Level::READ_ONLY.contains(&row.level) && row.refused.is_none());
    Ok(if holds { 0 } else { NOT_CONFINED })
}

fn print(context: &Context, row: &Probed) {
    let (word, why) = match &row.refused {
        None => ("yes".green().to_string(), String::new()),
        Some(cause) => ("no ".red().to_string(), format!(" ({cause})")),
    };
    context.out.line(format_args!("{word}  {:<9} {}{why}", row.level.name(), row.level.what()));
}
