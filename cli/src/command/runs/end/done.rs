//! `phasegate end --done`: the end of a run that is done, and what it left.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use owo_colors::OwoColorize as _;
use phasegate_core::state::Status;
use serde_json::Value;

use crate::command::runs::control::{Target, about, give};
use crate::command::runs::live::roots::{Root, Roots};
use crate::command::runs::status::history::execution::state;
use crate::command::runs::status::words;
use crate::context::Context;
use crate::exit::Exit;
use crate::output::Failure;

/// The most characters of a line of a file.
const MAX_CHARS: usize = 120;

/// Ends a run that is done. One that is not done says what is missing.
///
/// # Errors
///
/// There is no such run, it is not done, or as for [`give`].
pub(super) fn run(name: Option<&String>, session: Option<&String>, context: &Context) -> Result<Exit, Failure> {
    let found = Roots::found(context, session)?;
    let root = found.root(name)?;
    if root.run.status == Status::Active {
        let answer = found.answer(root).unwrap_or_default();
        if answer.get("finished") != Some(&Value::Bool(true)) {
            let needs = words(answer.get("needs")).join("; ");
            let why = answer.get("stopped").and_then(Value::as_str).map_or(needs, ToOwned::to_owned);
            let skill = &root.run.skill;
            let message = format!("`{skill}` is not done, in phase \"{}\": {why}", root.run.phase);
            let next = || {
                let advance = format!("a person may count its phase as done by `phasegate advance {skill}`");
                format!("`phasegate status next` says what to do; {advance}")
            };
            let ways = answer.get("ways_on").and_then(Value::as_str).map_or_else(next, ToOwned::to_owned);
            return Err(Failure { exit: Exit::No, ..Failure::new(message) }.with_help(ways));
        }
        let target = Target { session: Some(root.session.id.clone()) };
        give(context, &target, "deactivate_skill", about(Some(&root.run.skill)).into())?;
    }
    let found = Roots::found(context, Some(&root.session.id))?;
    let ended = found.roots().into_iter().find(|one| one.run.id == root.run.id).unwrap_or(root);
    let state = state(&found, ended)?;
    let completed = state.get("status").and_then(Value::as_str) == Some("completed");
    if context.out.json {
        context.out.value(&state);
    } else {
        summary(&found, ended, &state, context, completed);
    }
    Ok(if completed { Exit::Done } else { Exit::No })
}

/// The phases of a run in their order, each with its state and what it left, and that the run is complete.
fn summary(found: &Roots, root: Root<'_>, state: &Value, context: &Context, completed: bool) {
    let phases = found.skill(root.run).map(|skill| skill.phases).unwrap_or_default();
    let skill = root.run.skill.as_str();
    // What is done again leaves the same file.
    let mut seen = BTreeSet::new();
    let mut tell = |name: &str, is: &str, of: &str| {
        let outputs = state.get("phase_outputs").and_then(|outputs| outputs.get(of)?.as_array());
        let files = outputs.into_iter().flatten().filter_map(|one| one.get("files")?.as_array()).flatten();
        let files: Vec<&str> = files.filter_map(Value::as_str).filter(|file| seen.insert(*file)).collect();
        context.out.line(format!("{name} {is} {}", files.join(", ")).trim_end());
        for said in files.iter().filter_map(|file| says(&found.project.root.join(file))) {
            context.out.line(format_args!("    {said}"));
        }
    };
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for phase in &phases {
        let info = state.get("fsm").and_then(|fsm| fsm.get("phase_info")?.get(&phase.name));
        let is = info.and_then(|info| info.get("status")?.as_str()).unwrap_or_default();
        *counts.entry(is.to_owned()).or_default() += 1;
        tell(&phase.name, is, &phase.name);
    }
    if state.get("phase_outputs").is_some_and(|outputs| outputs.get(skill).is_some()) {
        tell(skill, "made", skill);
    }
    let count = |is: &str| counts.get(is).copied().unwrap_or_default();
    let backs: u64 = root.run.backs.iter().map(|(_, _, times)| u64::from(*times)).sum();
    let (done, skipped) = (count("completed"), count("skipped"));
    context
        .out
        .line(format_args!("{done} of {} phases completed, {skipped} skipped, went back {backs} times", phases.len()));
    if completed {
        context.out.line(format_args!("{} {skill}", "SKILL_COMPLETE".green()));
    } else {
        let why = state.get("halt_reason").and_then(Value::as_str).unwrap_or_default();
        context.out.line(format_args!("{skill} is not complete: {why}"));
    }
}

/// What a memory file says first of what was done.
fn says(path: &Path) -> Option<String> {
    let text = std::fs::read_to_string(path).ok()?;
    let mut lines = text.lines().skip_while(|line| !(line.starts_with('#') && line.contains("Section 1")));
    let line = lines.find(|line| !(line.trim().is_empty() || line.starts_with('#')))?;
    Some(line.trim().chars().take(MAX_CHARS).collect())
}
