//! `phasegate halt [SKILL]`.

use serde_json::{Map, Value};

use super::control::{Target, give};
use super::live::roots::{Root, Roots};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// Which run.
#[derive(Debug, clap::Args)]
pub struct Which {
    /// The skill; default: the one that began last
    pub skill: Option<String>,
    /// The session; default: any, those that go on first
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// The arguments of `phasegate halt`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Which run.
    #[command(flatten)]
    pub which: Which,
    /// Why
    #[arg(long, value_name = "TEXT", default_value = "")]
    pub why: String,
}

/// Has a run stand still.
///
/// # Errors
///
/// As for [`give`].
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let found = Roots::found(context, args.which.session.as_ref())?;
    let root = found.root(args.which.skill.as_ref())?;
    let answer = ordered(root, context, "halt_run", Some(&args.why))?;
    let root = &root.run.skill;
    if context.out.json {
        context.out.value(&answer);
    } else {
        context.out.line(format_args!("{root} stands still; `phasegate resume {root}` has it go on"));
    }
    Ok(Exit::Done)
}

/// The answer to a command about a run.
pub(in crate::command) fn ordered(
    root: Root<'_>,
    context: &Context,
    name: &str,
    why: Option<&String>,
) -> Result<Value, Failure> {
    let mut args = Map::from_iter([("run".to_string(), Value::from(root.run.id.clone()))]);
    args.extend(why.map(|why| ("why".to_string(), Value::from(why.clone()))));
    Ok(give(context, &Target { session: Some(root.session.id.clone()) }, name, args.into())?.result)
}
