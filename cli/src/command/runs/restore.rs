//! `phasegate restore`: puts back what calls changed although they might not.

use std::path::Path;

use owo_colors::OwoColorize as _;
use phasegate_runtime::operate::restore::{Restored, replaced_file};
use phasegate_runtime::sessions::snapshot::Violation;
use serde_json::{Value, json};

use super::control::refused_to_agent;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The arguments of `phasegate restore`.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// List the files that were changed, and what they were before, and change nothing
    #[arg(long, group = "way")]
    pub list: bool,
    /// Show what would be put back and change nothing
    #[arg(long, group = "way")]
    pub dry_run: bool,
    /// Accept the changes instead: the files are as they should be from now on
    #[arg(long, group = "way")]
    pub keep: bool,
}

/// Puts back every file that a call changed although it might not, where a copy of it is kept. The next call finds it as it
/// was, and goes on.
///
/// # Errors
///
/// The state cannot be read, a file cannot be written, or the command counts as the agent's and would accept a change.
pub fn run(args: &Args, context: &Context) -> Result<Exit, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let violations = runtime.violations(&project)?;
    if args.keep {
        if let Some(sign) = runtime.sign_of_an_agent(&project)? {
            return Err(refused_to_agent("restore --keep", &sign));
        }
        if !violations.is_empty() {
            runtime.keep_changes(&project)?;
        }
        for violation in violations.iter().filter(|_| !context.out.json) {
            context.out.line(format_args!("accepted: {}", violation.change.path.bold()));
        }
        return Ok(finish(context, &violations, Vec::new(), "accepted"));
    }
    let changes_nothing = args.list || args.dry_run;
    let mut done = Vec::new();
    for violation in &violations {
        let restored = runtime.restore(&project, violation, changes_nothing)?;
        if !context.out.json {
            print(context, violation, restored, &replaced_file(&project, violation), changes_nothing);
        }
        done.push(restored);
    }
    Ok(finish(context, &violations, done, if changes_nothing { "listed" } else { "restored" }))
}

fn print(context: &Context, violation: &Violation, restored: Restored, replaced: &Path, changes_nothing: bool) {
    let change = &violation.change;
    let what = match (restored, changes_nothing) {
        (Restored::Same, _) => "it is as it was",
        (Restored::PutBack, true) => "what was there would be put back",
        (Restored::PutBack, false) => "what was there is put back",
        (Restored::Removed, true) => "it would be removed",
        (Restored::Removed, false) => "it is removed",
        (Restored::Elsewhere, _) => "a folder on the way to it is a link now: remove the link, and run this again",
        (Restored::NoCopy, _) => "there is no copy of what was there: undo the change, or accept it with `--keep`",
    };
    let by = match &change.by {
        Some(by) => format!("which the \"{}\" phase of {} forbids", by.phase, by.skill),
        None => "which the guard depends on".to_owned(),
    };
    let session = violation.session.as_str();
    context.out.line(format_args!("{}: {what}", change.path.bold()));
    context.out.line(format_args!("  {} of session {session} changed it, {by}", change.call));
    if !changes_nothing && replaced.is_file() {
        context.out.line(format_args!("  what it held then is kept in `{}`", replaced.display()));
    }
}

/// What is printed at the end: all of it as JSON, or that there was nothing. What cannot be put back is a no.
fn finish(context: &Context, violations: &[Violation], done: Vec<Restored>, what: &str) -> Exit {
    if context.out.json {
        let files = violations.iter().enumerate().map(|(at, violation)| {
            let Violation { session, id, change, before, after } = violation;
            let by = change.by.as_ref().map(|by| json!({"skill": by.skill, "phase": by.phase, "run": by.run}));
            json!({
                "path": change.path,
                "session": session,
                "call": id,
                "what": change.call,
                "by": by,
                "before": before,
                "after": after,
                "restored": done.get(at).map(|restored| restored.word()),
            })
        });
        context.out.value(&json!({"done": what, "files": files.collect::<Vec<Value>>()}));
    } else if violations.is_empty() {
        context.out.line("no call changed a file that it was not allowed to change");
    }
    if done.iter().any(|one| matches!(one, Restored::NoCopy | Restored::Elsewhere)) { Exit::No } else { Exit::Done }
}
