//! `phasegate completions SHELL`.

use clap_complete::Shell;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate completions`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The shell
    pub shell: Shell,
}

/// Prints the script.
///
/// # Errors
///
/// None.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut (context.grammar)(), "phasegate", &mut script);
    context.out.line(String::from_utf8_lossy(&script).trim_end());
    Ok(Exit::Done)
}
