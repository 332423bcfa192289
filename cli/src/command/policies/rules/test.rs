//! `phasegate rules test`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use phasegate_config::{Severity, compile_knowing, rule_texts};
use serde_json::{Value, json};

use crate::command::policies::check::transcripts::{Played, play};
use crate::command::policies::check::{count, junit, print, told};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate rules test`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Also write what became of the transcripts to this file, as JUnit XML
    #[arg(long, value_name = "FILE")]
    pub junit: Option<PathBuf>,
}

/// Plays the transcripts as `phasegate check --tests` does, and names the rules of the project's own files that deny or
/// ask in none of them. The rules of packs have tests of their own.
pub(super) fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let found = runtime.discover(&project);
    let compiled = compile_knowing(&found.files, &runtime.known(&project));
    let mistakes = found.problems.into_iter().chain(compiled.diagnostics);
    let errors: Vec<_> = mistakes.filter(|one| one.severity == Severity::Error).collect();
    let played = if errors.is_empty() { play(&project.root, &compiled.policy)? } else { Vec::new() };
    if let Some(path) = &args.junit {
        junit::write(&context.start()?.join(path), &played, &errors)?;
    }
    let deciding: BTreeSet<&String> = played.iter().flat_map(|one| &one.rules).collect();
    let own = rule_texts(&found.files).into_iter().filter(|rule| rule.effect != "permit" && !rule.is_of_a_pack());
    let untested: Vec<String> = own.map(|rule| rule.id).filter(|id| !deciding.contains(id)).collect();
    if context.out.json {
        let tests: Vec<Value> = played.iter().map(Played::as_json).collect();
        context.out.value(&json!({"errors": errors.len(), "tests": tests, "untested": untested}));
    } else if errors.is_empty() {
        played.iter().for_each(|one| told(context, one));
        if !untested.is_empty() {
            context.out.line(format_args!("decided nothing in these transcripts: {}", untested.join(", ")));
        }
    } else {
        errors.iter().for_each(|error| print(context, error, &found.files));
        context.out.line(format_args!("nothing was played: the configs have {}", count(errors.len(), "error")));
    }
    let failed = played.iter().any(|one| !one.mistakes.is_empty());
    Ok(if failed || !errors.is_empty() { Exit::No } else { Exit::Done })
}
