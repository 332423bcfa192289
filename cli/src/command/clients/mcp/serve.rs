//! `phasegate mcp serve`: the skill tools, as a server of their own.

use super::listen;
use super::setting::{InForce, Setting, serve_here};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate mcp serve`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// What holds for clients that activate nothing.
    #[command(flatten)]
    pub in_force: InForce,
    /// How clients come over HTTP.
    #[command(flatten)]
    pub http: listen::Listening,
}

/// Serves until the client is gone.
///
/// # Errors
///
/// Standard input or output cannot be used, or the address not be served.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let listening = args.http.settings()?;
    let setting = Setting::of(context, &mut [], &args.in_force)?;
    match listening {
        Some(listening) => listen::serve(listening.address, listening.settings, Vec::new(), setting, context),
        None => serve_here(&[], setting),
    }
}
