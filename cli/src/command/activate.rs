//! `phasegate activate SKILL`.

use owo_colors::OwoColorize as _;
use serde_json::{Map, Value};

use super::control::{Target, give};
use crate::args::ModeArg;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate activate`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The skill
    pub skill: String,
    /// The mode; never less strict than the configs require
    #[arg(long)]
    pub mode: Option<ModeArg>,
    /// Which session.
    #[command(flatten)]
    pub target: Target,
}

/// Begins a run of the skill.
///
/// # Errors
///
/// As for [`give`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let mut command = Map::new();
    command.insert("skill_name".to_string(), Value::from(args.skill.clone()));
    if let Some(mode) = args.mode {
        command.insert("mode".to_string(), Value::from(mode.word()));
    }
    let answer = give(context, &args.target, "activate_skill", Value::Object(command))?;
    if context.out.json {
        context.out.value(&answer.result);
        return Ok(Exit::Done);
    }
    let text = |key: &str| answer.result.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    context.out.line(format_args!(
        "{} is active in session {} ({} mode), phase {}",
        text("skill").bold(),
        answer.session,
        text("mode"),
        text("current_phase").green()
    ));
    for (label, key) in [("allowed", "allowed_tools"), ("forbidden", "forbidden_tools")] {
        let tools = super::status::words(answer.result.get(key));
        if !tools.is_empty() {
            context.out.line(format_args!("  {label}: {}", tools.join(", ")));
        }
    }
    Ok(Exit::Done)
}
