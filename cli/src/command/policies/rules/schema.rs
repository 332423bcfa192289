//! `phasegate rules schema`.

use phasegate_config::rule_schema;
use serde_json::json;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate rules schema`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Prints what rules can read.
pub(super) fn run(_: &Args, context: &Context) -> Result<Exit, Failure> {
    let runtime = context.runtime()?;
    let files = runtime.discover(&context.find_project(&runtime)?).files;
    let schema = rule_schema(&files).map_err(Failure::new)?;
    if context.out.json {
        context.out.value(&json!({"schema": schema}));
    } else {
        context.out.line(schema.trim_end());
    }
    Ok(Exit::Done)
}
