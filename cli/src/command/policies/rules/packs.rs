//! `phasegate rules packs [NAME]`.

use owo_colors::OwoColorize as _;
use phasegate_config::Pack;
use phasegate_config::packs;
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate rules packs`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The pack to print; default: list all
    #[arg(value_name = "NAME")]
    pub name: Option<String>,
}

/// Lists the packs, or prints one.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    if let Some(name) = &args.name {
        let pack = find(name)?;
        if context.out.json {
            context
                .out
                .value(&json!({"name": pack.name, "summary": pack.summary(), "text": pack.text, "facts": pack.facts}));
        } else {
            context.out.line(pack.text.trim_end());
            if let Some(facts) = pack.facts {
                context.out.line(format_args!("\n// Beside it, in {name}.yaml:"));
                facts.lines().for_each(|line| context.out.line(format_args!("// {line}")));
            }
        }
        return Ok(Exit::Done);
    }
    if context.out.json {
        let all: Vec<Value> =
            packs().iter().map(|pack| json!({"name": pack.name, "summary": pack.summary()})).collect();
        context.out.value(&json!({"packs": all}));
    } else {
        for pack in packs() {
            context.out.line(format_args!("{}  {}", format!("{:<22}", pack.name).bold(), pack.summary()));
        }
    }
    Ok(Exit::Done)
}

/// The pack of this name.
pub(crate) fn find(name: &str) -> Result<&'static Pack, Failure> {
    packs().iter().find(|pack| pack.name == name).ok_or_else(|| {
        let all: Vec<String> = packs().iter().map(|pack| format!("`{}`", pack.name)).collect();
        Failure::new(format!("there is no pack of rules `{name}`"))
            .with_help(format!("the packs are {}", all.join(", ")))
    })
}
