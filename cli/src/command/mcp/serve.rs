//! `phasegate mcp serve`: the skill tools, as a server of their own.

use super::{Setting, serve_here};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate mcp serve`.
#[derive(Debug, clap::Args)]
pub struct Args {}

/// Serves until the client is gone.
///
/// # Errors
///
/// Standard input or output cannot be used.
pub fn run(_: &Args, context: &Context) -> Result<Exit, Failure> {
    let setting = Setting::of(context, &mut [])?;
    serve_here(&[], setting)
}
