//! `phasegate deactivate [SKILL]`.

use super::control::{Target, about, give};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate deactivate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The skill; default: the one that was activated last
    pub skill: Option<String>,
    /// Which session.
    #[command(flatten)]
    pub target: Target,
}

/// Ends the run of the skill.
///
/// # Errors
///
/// As for [`give`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let answer = give(context, &args.target, "deactivate_skill", about(args.skill.as_ref()).into())?;
    if context.out.json {
        context.out.value(&answer.result);
    } else {
        let skill = args.skill.as_deref().unwrap_or("the skill");
        context.out.line(format_args!("{skill} is no longer active in session {}", answer.session));
    }
    Ok(Exit::Done)
}
