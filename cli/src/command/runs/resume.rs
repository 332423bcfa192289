//! `phasegate resume [SKILL]`.

use phasegate_core::state::Status;

use super::halt::{Which, ordered};
use super::live::roots::Roots;
use super::status::next::print_directives;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate resume`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which run.
    #[command(flatten)]
    pub which: Which,
}

/// Has a run go on, and prints what to do next.
///
/// # Errors
///
/// As for [`give`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let found = Roots::found(context, args.which.session.as_ref())?;
    let root = found.root(args.which.skill.as_ref())?;
    let halted = root.run.halted.is_some()
        || root.parts(root.run).any(|part| part.status == Status::Active && part.halted.is_some());
    let answer = ordered(root, context, "resume_run", None)?;
    if !halted {
        let skill = &root.run.skill;
        let answer = found.answer(root);
        let said = |key: &str| Some(answer.as_ref()?.get(key)?.as_str()?.to_owned());
        let why = said("stopped").map(|why| format!(": {why}")).unwrap_or_default();
        let help = "`phasegate status` says how you have it go on, or end it";
        return Err(Failure { exit: Exit::No, ..Failure::new(format!("nobody halted `{skill}`{why}")) }
            .with_help(said("ways_on").unwrap_or_else(|| help.to_owned())));
    }
    if context.out.json {
        context.out.value(&answer);
    }
    let found = Roots::found(context, args.which.session.as_ref())?;
    let root = found.root(args.which.skill.as_ref())?;
    print_directives(context, &found, Some(root))
}
