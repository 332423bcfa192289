//! `phasegate explain [CODE]`.

use owo_colors::OwoColorize as _;
use phasegate_core::Code;
use serde_json::{Value, json};

use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, to_a_person};

/// The arguments of `phasegate explain`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The code; default: list all
    pub code: Option<String>,
}

/// Explains one code or lists them all.
///
/// # Errors
///
/// There is no such code.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.code {
        Some(text) => one(find(text)?, context),
        None => all(context),
    }
    Ok(Exit::Done)
}

fn find(text: &str) -> Result<Code, Failure> {
    text.parse().map_err(|()| {
        let failure = Failure::new(format!("there is no code `{text}`"));
        match nearest(text) {
            Some(code) => failure.with_help(format!("did you mean `{code}`?")),
            None => failure.with_help("`phasegate explain` lists all codes"),
        }
    })
}

fn nearest(text: &str) -> Option<Code> {
    let scored = Code::ALL.iter().map(|code| (strsim::jaro_winkler(code.id(), text), *code));
    scored.filter(|(score, _)| *score > 0.8).max_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, code)| code)
}

fn one(code: Code, context: &Context) {
    if context.out.json {
        context.out.value(&as_json(code));
        return;
    }
    context.out.line(format_args!("{} ({})", code.id().bold(), code.area().word()));
    context.out.line(format_args!("  {}", code.summary()));
    context.out.line(format_args!("  {} {}", "way out:".cyan(), to_a_person(code.remedy())));
}

fn all(context: &Context) {
    if context.out.json {
        context.out.value(&Code::ALL.iter().copied().map(as_json).collect());
        return;
    }
    let width = Code::ALL.iter().map(|code| code.id().len()).max().unwrap_or(0);
    for code in Code::ALL {
        context.out.line(format_args!("{:width$}  {:7}  {}", code.id().bold(), code.area().word(), code.summary()));
    }
}

fn as_json(code: Code) -> Value {
    json!({"code": code.id(), "area": code.area().word(), "summary": code.summary(), "way_out": code.remedy()})
}
