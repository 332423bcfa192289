//! `phasegate mcp`: before a server of tools, or as one.

mod setting;
pub mod listen;
pub mod proxy;
pub mod serve;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate mcp`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// How.
    #[command(subcommand)]
    pub how: How,
}

/// How.
#[derive(Debug, clap::Subcommand)]
pub enum How {
    /// Proxy between a client and its servers: decide every call before forwarding it. Exit status 2: no server could be
    /// started, or the only one ended
    Proxy(proxy::Args),
    /// Serve only the skill tools, as an MCP server
    Serve(serve::Args),
}

/// Does it.
///
/// # Errors
///
/// It could not be begun, or not be ended as it should.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.how {
        How::Proxy(args) => proxy::run(args, context),
        How::Serve(args) => serve::run(args, context),
    }
}
