//! `phasegate mcp serve`: the skill tools, as a server of their own, and the guard as a validator that others ask.

use phasegate_mcp::interceptor::Mode;

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
    /// Also serve as an interceptor: a validator that a gateway or host asks before it forwards a tool call (draft
    /// SEP-2624). With `audit` every call runs, and the journal records what would have been blocked
    #[arg(long, value_name = "MODE", num_args = 0..=1, default_missing_value = "enforce")]
    pub interceptor: Option<How>,
}

/// What those who ask do with the answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum How {
    /// An invalid call does not run
    Enforce,
    /// Every call runs
    Audit,
}

impl From<How> for Mode {
    fn from(how: How) -> Self {
        match how {
            How::Enforce => Self::Enforce,
            How::Audit => Self::Audit,
        }
    }
}

/// Serves until the client is gone.
///
/// # Errors
///
/// Standard input or output cannot be used, or the address not be served.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let listening = args.http.settings()?;
    let mut setting = Setting::of(context, &mut [], &args.in_force)?;
    setting.options.interceptor = args.interceptor.map(Mode::from);
    match listening {
        Some(listening) => listen::serve(listening.address, listening.settings, Vec::new(), setting, context),
        None => serve_here(&[], setting),
    }
}
