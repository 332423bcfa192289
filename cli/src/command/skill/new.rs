//! `phasegate skill new`.

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate skill new`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

pub(super) fn run(_args: &Args, _context: &Context) -> Result<Exit, Failure> {
    Ok(Exit::Done)
}
