//! `phasegate safety import`.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use owo_colors::OwoColorize as _;
use phasegate_config::Kind;
use phasegate_core::events::event::By;
use phasegate_core::shell::safety::{Classified, Entry, Level};
use phasegate_core::state::State;
use serde_json::{Value, json};

use super::judge::Judge;
use super::register::{registered, report, warn_of_no_effect, without_effect};
use super::suggestions::{Suggestion, of};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate safety import`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Files with a section `## Plan Mode Safety Patterns`; default: each `SKILL.md` of the project and the user
    #[arg(value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Register what is shown
    #[arg(long)]
    pub yes: bool,
}

/// Shows what skills suggest, by program, and registers it where a person says so.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let mut programs: BTreeMap<String, Vec<Suggestion>> = BTreeMap::new();
    let mut unclear = Vec::new();
    for text in texts(args, context)? {
        let suggestions = of(&text.content);
        unclear.extend(suggestions.unclear.into_iter().map(|line| format!("{}: {line}", text.name)));
        for one in suggestions.found {
            programs.entry(one.program.clone()).or_default().push(one);
        }
    }
    if context.out.json && !args.yes {
        context.out.value(&json!({"suggested": each(&programs), "unclear": unclear}));
        return Ok(Exit::Done);
    }
    unclear.iter().for_each(|line| context.out.note(format_args!("{}: {line}", "warning".yellow())));
    if programs.is_empty() {
        context.out.note("no skill suggests patterns under `## Plan Mode Safety Patterns`");
        return Ok(Exit::Done);
    }
    let (runtime, project) = context.runtime_and_project()?;
    let state = runtime.project_state(&project)?;
    let judge = Judge::of(&runtime, &project, &with(&state, &programs));
    let is_there = |one: &Suggestion| {
        let entry = state.project.safety.entry(&one.program);
        entry.is_some_and(|entry| entry.commands.iter().any(|of| of.pattern == one.pattern && of.level == one.level))
    };
    for (program, all) in &programs {
        if args.yes {
            let commands: Vec<Value> = all.iter().map(|one| json!([one.pattern, one.level.word()])).collect();
            let commands = Value::from(commands);
            let answer = registered(context, program, &commands, None)?;
            report(context, &answer);
            warn_of_no_effect(context, &answer, &commands)?;
            continue;
        }
        context.out.line(program.bold());
        for one in all {
            let reads = one.level == Level::Read;
            let because = reads.then(|| without_effect(&judge, program, &one.pattern)).flatten();
            let note = match because {
                Some(because) => format!("  (no effect: {because})"),
                None if is_there(one) => "  (registered)".to_owned(),
                None => String::new(),
            };
            context.out.line(format_args!("  {:<11} {}{note}", one.level.word(), one.pattern));
        }
    }
    if !args.yes {
        let all = programs.values().flatten().all(is_there);
        context.out.note(match all {
            true => "all of it is registered for the project",
            false => "`phasegate safety import --yes` registers all of it for the project, in place of what is registered there of these programs",
        });
    }
    Ok(Exit::Done)
}

/// The state, if all that is suggested were registered.
fn with(state: &State, programs: &BTreeMap<String, Vec<Suggestion>>) -> State {
    let mut state = state.clone();
    let registry = Arc::make_mut(&mut state.project.safety);
    registry.entries.retain(|entry| !programs.contains_key(&entry.tool));
    registry.entries.extend(programs.iter().map(|(program, all)| {
        let classified = |one: &Suggestion| Classified { pattern: one.pattern.clone(), level: one.level };
        let commands = all.iter().map(classified).collect();
        Entry { tool: program.clone(), commands, default: None, by: By::Human, at: None }
    }));
    state
}

fn each(programs: &BTreeMap<String, Vec<Suggestion>>) -> Vec<Value> {
    let of = |(program, all): (&String, &Vec<Suggestion>)| {
        let commands: Vec<Value> =
            all.iter().map(|one| json!({"pattern": one.pattern, "level": one.level.word()})).collect();
        json!({"tool": program, "commands": commands})
    };
    programs.iter().map(of).collect()
}

/// A text that may suggest patterns.
struct Text {
    name: String,
    content: String,
}

fn texts(args: &Args, context: &Context) -> Result<Vec<Text>, Failure> {
    if args.files.is_empty() {
        let runtime = context.runtime()?;
        let found = runtime.discover(&context.find_project(&runtime)?);
        let skills = found.files.into_iter().filter(|file| file.kind == Kind::SkillMd);
        return Ok(skills.map(|file| Text { name: file.path, content: file.text }).collect());
    }
    let read = |path: &PathBuf| {
        let content = fs::read_to_string(path);
        let content = content.map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
        Ok(Text { name: path.display().to_string(), content })
    };
    args.files.iter().map(read).collect()
}
