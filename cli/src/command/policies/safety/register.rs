//! `phasegate safety register`.

use owo_colors::OwoColorize as _;
use phasegate_core::calls::analysis::Verdict;
use phasegate_core::shell::safety::{Level, REGISTER};
use serde_json::{Value, json};

use super::judge::Judge;
use crate::command::runs::control::give_project;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate safety register`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The name of the program, for example `gcloud`
    pub program: String,
    /// Patterns, each after its level: `'READ=gcloud * list *'`; they replace what was registered of the program for the
    /// project, and none removes it
    #[arg(value_name = "LEVEL=PATTERN")]
    pub patterns: Vec<String>,
    /// The level of the program's commands that no pattern selects
    #[arg(long, value_name = "LEVEL")]
    pub default: Option<String>,
}

/// Registers patterns for the project.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let mut commands = Vec::new();
    for given in &args.patterns {
        let (level, pattern) =
            given.split_once('=').filter(|(level, _)| Level::named(level).is_some()).ok_or_else(|| {
                let levels: Vec<&str> = Level::ALL.iter().map(|(word, _)| *word).collect();
                Failure::new(format!("`{given}` is no level with a pattern"))
                    .with_help(format!("write `READ=gcloud * list *`; levels: {}", levels.join(", ")))
            })?;
        commands.push(json!([pattern, level]));
    }
    let commands = Value::from(commands);
    if let Some(level) = args.default.as_ref().filter(|level| Level::named(level).is_none()) {
        return Err(Failure::new(format!("`{level}` is no level")).with_help("write READ or WRITE"));
    }
    let answer = registered(context, &args.program, &commands, args.default.as_deref())?;
    report(context, &answer);
    warn_of_no_effect(context, &answer, &commands)?;
    let list = |key: &str| answer.get(key).and_then(Value::as_array).map_or(0, Vec::len);
    let nothing = answer.get("status").and_then(Value::as_str) == Some("removed") && list("replaced") == 0;
    Ok(if nothing || list("rejected") > 0 { Exit::No } else { Exit::Done })
}

/// Registers patterns of a program for the project, as a person.
pub(super) fn registered(
    context: &Context,
    program: &str,
    commands: &Value,
    default: Option<&str>,
) -> Result<Value, Failure> {
    let args = json!({"tool": program, "commands": commands, "default": default, "scope": "project"});
    give_project(context, REGISTER, args)
}

/// Says which commands stay WRITE although a pattern registers them as READ: what is known of a program counts first.
pub(super) fn warn_of_no_effect(context: &Context, answer: &Value, commands: &Value) -> Result<(), Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let judge = Judge::of(&runtime, &project, &runtime.project_state(&project)?);
    let program = answer.get("tool").and_then(Value::as_str).unwrap_or_default();
    let text = |pair: &Value, at: usize| pair.get(at).and_then(Value::as_str).unwrap_or_default().to_owned();
    let rejected = |pair: &Value| {
        let begin = format!("\"{}\":", text(pair, 0));
        let lines = answer.get("rejected").and_then(Value::as_array).into_iter().flatten();
        lines.filter_map(Value::as_str).any(|line| line.starts_with(&begin))
    };
    let read = |pair: &&Value| text(pair, 1) == Level::Read.word() && !rejected(pair);
    for pair in commands.as_array().into_iter().flatten().filter(read) {
        note_no_effect(context, &judge, program, &text(pair, 0));
    }
    Ok(())
}

/// Says so where a READ pattern of a program has no effect.
pub(super) fn note_no_effect(context: &Context, judge: &Judge, program: &str, pattern: &str) {
    let Some(because) = without_effect(judge, program, pattern) else { return };
    context.out.note(format_args!(
        "{}: `{pattern}` has no effect: {because}; what is registered of `{program}` counts over that with `safety: {{override: \
         [{program}]}}` in `.phasegate/config.yaml`",
        "warning".yellow(),
    ));
}

/// Why a command stays WRITE that a READ pattern selects; `None`: the pattern counts.
pub(super) fn without_effect(judge: &Judge, program: &str, pattern: &str) -> Option<String> {
    if judge.classifier.overrides(program) {
        return None;
    }
    let judgement = judge.line(&sample(pattern));
    (judgement.verdict != Verdict::Read).then_some(judgement.because)
}

/// A line that the pattern selects.
fn sample(pattern: &str) -> String {
    pattern.replace('*', "x")
}

/// Prints what a registration answered.
pub(super) fn report(context: &Context, answer: &Value) {
    if context.out.json {
        context.out.value(answer);
    } else {
        context.out.line(answer.get("text").and_then(Value::as_str).unwrap_or_default());
    }
}
