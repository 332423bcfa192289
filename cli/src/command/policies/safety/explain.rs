//! `phasegate safety explain 'LINE'`.

use owo_colors::OwoColorize as _;
use phasegate_core::calls::analysis::{Registered, Verdict, Word};
use phasegate_core::shell::classifier::Classifier;
use phasegate_shell::Part;
use serde_json::{Value, json};

use super::judge::Judge;
use super::list::chosen;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate safety explain`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The command, as one argument
    #[arg(value_name = "LINE", allow_hyphen_values = true)]
    pub line: String,
    /// The session whose registrations count; default: the one of the project that was active last
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
}

/// Shows what each command of a line does, and which pattern says so.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let state = match chosen(&project, args.session.as_ref())? {
        Some(session) => session.state,
        None => runtime.project_state(&project)?,
    };
    let judge = Judge::of(&runtime, &project, &state);
    let (judgement, classifier) = (judge.line(&args.line), judge.classifier);
    if judgement.parts.is_empty() && args.line.trim().is_empty() {
        return Err(
            Failure::new("the line has no command").with_help("write for example `phasegate safety explain 'git log'`")
        );
    }
    let reads = judgement.verdict == Verdict::Read;
    if context.out.json {
        let parts: Vec<Value> = judgement.parts.iter().map(|part| of_part(part, &classifier)).collect();
        context.out.value(&json!({
            "level": if reads { "READ" } else { "WRITE" }, "because": judgement.because, "parts": parts,
        }));
    } else {
        let level = if reads { "READ".green().to_string() } else { "WRITE".red().to_string() };
        context.out.line(format_args!("{level}: {}", judgement.because));
        for part in &judgement.parts {
            let (text, because) = (words(part), because(part));
            let level = if part.command.verdict == Verdict::Read { "READ" } else { "WRITE" };
            context.out.line(format_args!("  {level:<6} {}  {because}", text.bold()));
        }
    }
    Ok(if reads { Exit::Done } else { Exit::No })
}

fn of_part(part: &Part, classifier: &Classifier) -> Value {
    let registered = part.command.registered.as_ref();
    let readers = registered.map(|found| classifier.readers(&found.tool)).unwrap_or_default();
    let level =
        registered.map_or(if part.command.verdict == Verdict::Read { "READ" } else { "WRITE" }, |found| &found.level);
    json!({
        "command": words(part), "verdict": part.command.verdict, "level": level, "because": because(part),
        "pattern": registered.and_then(|found| found.pattern.clone()), "readers": readers,
    })
}

fn because(part: &Part) -> String {
    part.command.registered.as_ref().map_or_else(|| part.because.clone(), Registered::because)
}

fn words(part: &Part) -> String {
    let word = |word: &Word| match word {
        Word::Known(text) if text.contains(char::is_whitespace) || text.is_empty() => format!("'{text}'"),
        Word::Known(text) => text.clone(),
        Word::Unknown | Word::Value => "\u{2026}".to_owned(),
    };
    part.command.words.iter().map(word).collect::<Vec<_>>().join(" ")
}
