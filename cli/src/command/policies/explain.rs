//! `phasegate explain [CODE | @GROUP | SKILL | WORD]`.

mod skill;

use owo_colors::OwoColorize as _;
use phasegate_config::compile;
use phasegate_core::values::glob::{FileSet, Files};
use phasegate_core::{Code, EFFECTS, rows_of_word};
use serde_json::{Value, json};

pub(super) use skill::inputs;

use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, to_a_person};

/// The arguments of `phasegate explain`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// A code, a skill (what it answers to likely calls in each phase), a word for what commands do (`push`) or a group of
    /// files (`@tests`); default: list all codes
    #[arg(value_name = "CODE | SKILL | WORD | @GROUP")]
    pub code: Option<String>,
    /// A value for an input of the skill; without it, a sample is taken
    #[arg(long = "input", value_name = "NAME=VALUE")]
    pub inputs: Vec<String>,
}

/// Explains one code, skill, word or group of files, or lists all codes.
///
/// # Errors
///
/// There is nothing of this name, or a config cannot be read.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    match &args.code {
        Some(text) if text.starts_with('@') => group(text.trim_start_matches('@'), context)?,
        Some(text) if text.parse::<Code>().is_ok() => one(find(text)?, context),
        Some(text) if EFFECTS.contains(&text.as_str()) => word(text, context),
        Some(text) => match skill::find(text, context)? {
            Some(policy) => skill::table(policy, &inputs(&args.inputs)?, context)?,
            None if is_group(text, context)? => group(text, context)?,
            None => drop(find(text)?),
        },
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

/// What commands do this, as the table of programs has it.
fn word(word: &str, context: &Context) {
    let rows = rows_of_word(word);
    if context.out.json {
        let rows: Vec<_> = rows.map(|(programs, row)| json!({"programs": programs, "row": row})).collect();
        context.out.value(&json!({"word": word, "rows": rows}));
        return;
    }
    context.out.line(format_args!(
        "{}: what does this, by program, subcommand and option",
        format_args!("does: {word}").bold()
    ));
    let mut last = "";
    for (programs, row) in rows {
        if programs != last {
            context.out.line(format_args!("  {}", programs.cyan()));
        }
        last = programs;
        context.out.line(format_args!("    {row}"));
    }
}

fn is_group(name: &str, context: &Context) -> Result<bool, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    Ok(compile(&runtime.discover(&project).files).settings.groups.find(name).is_some())
}

/// What belongs to a group of files in this project.
fn group(name: &str, context: &Context) -> Result<(), Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let groups = compile(&runtime.discover(&project).files).settings.groups;
    let Some((group, (files, before))) = groups.find(name).zip(groups.written(name)) else {
        let names = groups.names().map(|name| format!("@{name}")).collect::<Vec<_>>().join(", ");
        return Err(Failure::new(format!("there is no group `@{name}`")).with_help(format!("the groups are {names}")));
    };
    if context.out.json {
        context.out.value(&json!({"group": name, "say": group.say, "files": files, "less": before}));
        return Ok(());
    }
    context.out.line(format_args!("{}: {}", format_args!("@{name}").bold(), group.say));
    listed(&files, "", context);
    if !before.is_empty() {
        let names = before.iter().map(|name| format!("@{name}")).collect::<Vec<_>>().join(", ");
        context.out.line(format_args!("  {} a file of {names}", "not".dimmed()));
    }
    context
        .out
        .line(format_args!("  {} groups: {{{name}: {{add: PATH, take: PATH}}}} in a config", "change it:".cyan()));
    Ok(())
}

/// The patterns of a set, each on a line, with what is excepted from them.
fn listed(set: &FileSet, sign: &str, context: &Context) {
    let other = if sign.is_empty() { "not " } else { "" };
    for (all, sign) in [(&set.any, sign), (&set.except, other)] {
        for files in all {
            match files {
                Files::Pattern(pattern) => context.out.line(format_args!("  {}{pattern}", sign.dimmed())),
                Files::Set(set) => listed(set, sign, context),
            }
        }
    }
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
