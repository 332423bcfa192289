//! `phasegate rules check`.

use phasegate_config::{Diagnostic, Kind, Severity, SourceFile, compile_knowing, rule_texts};
use phasegate_core::Code;
use phasegate_runtime::{Project, Runtime};
use serde_json::{Value, json};

use crate::command::policies::check::{as_json, count, print};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate rules check`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {}

/// Prints what is wrong with rules.
pub(super) fn run(_: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let found = runtime.discover(&project);
    let compiled = compile_knowing(&found.files, &runtime.known(&project));
    let all = found.problems.into_iter().chain(compiled.diagnostics);
    let about: Vec<Diagnostic> = all.filter(|diagnostic| is_about_rules(diagnostic, &found.files)).collect();
    let errors = about.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count();
    let rules = rule_texts(&found.files).len();
    if context.out.json {
        let list: Vec<Value> = about.iter().map(as_json).collect();
        context.out.value(&json!({"rules": rules, "errors": errors, "diagnostics": list}));
    } else {
        about.iter().for_each(|diagnostic| print(context, diagnostic, &found.files));
        let (mistakes, warnings) = (count(errors, "error"), count(about.len() - errors, "warning"));
        context.out.line(format_args!("{} checked: {mistakes}, {warnings}", count(rules, "rule")));
    }
    Ok(if errors > 0 { Exit::No } else { Exit::Done })
}

/// How many mistakes the rules have.
pub(super) fn mistakes(runtime: &Runtime, project: &Project) -> usize {
    let found = runtime.discover(project);
    let compiled = compile_knowing(&found.files, &runtime.known(project));
    let all = found.problems.iter().chain(&compiled.diagnostics);
    all.filter(|one| one.severity == Severity::Error && is_about_rules(one, &found.files)).count()
}

/// Whether it is about a rule: by its code, or by the file in which it was found or that could not be read.
fn is_about_rules(found: &Diagnostic, files: &[SourceFile]) -> bool {
    let is_of_rules = |kind: Kind| matches!(kind, Kind::Rules | Kind::Facts);
    let of_rules = files.iter().any(|file| is_of_rules(file.kind) && file.path == found.path);
    matches!(found.code, Code::RuleInvalid | Code::RulePointless) || of_rules || found.path.ends_with(".cedar")
}
