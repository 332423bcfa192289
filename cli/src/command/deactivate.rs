//! `phasegate deactivate [SKILL]`.

use serde_json::{Map, Value};

use super::control::{Target, give};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate deactivate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The skill; without it, the one that was activated last
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
    let mut command = Map::new();
    if let Some(skill) = &args.skill {
        command.insert("skill_name".to_string(), Value::from(skill.clone()));
    }
    let answer = give(context, &args.target, "deactivate_skill", Value::Object(command))?;
    if context.out.json {
        context.out.value(&answer.result);
    } else {
        let skill = args.skill.as_deref().unwrap_or("the skill");
        context.out.line(format_args!("{skill} is not active any more in session {}", answer.session));
    }
    Ok(Exit::Done)
}
