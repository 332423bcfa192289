//! `phasegate explain SKILL`: what the skill answers to the calls that agents make most, in each of its phases.

use owo_colors::OwoColorize as _;
use phasegate_config::find_shipped;
use phasegate_core::policy::input::Values;
use phasegate_runtime::operate::likely_calls::{LikelyCall, likely_calls};
use phasegate_runtime::operate::machine::{Machine, Subject, lets_through, replay, step, with_id};
use phasegate_runtime::operate::replay::{LineError, Replay};
use serde_json::{Value, json};

use crate::command::policies::replay::{Configured, configured};
use crate::context::Context;
use crate::output::Failure;

/// The most states that are looked at for one of each phase.
const MAX_STATES: usize = 300;
/// A cell of a phase that was not reached.
const NOT_REACHED: &str = "-";

/// The skill of this name: one of the project's, or a shipped one.
///
/// # Errors
///
/// A config has a mistake.
pub(super) fn find(name: &str, context: &Context) -> Result<Option<Configured>, Failure> {
    let (runtime, project) = context.runtime_and_project()?;
    let known = || phasegate_config::compile(&runtime.discover(&project).files).policy.skill(name).is_some();
    if find_shipped(name).is_none() && !known() {
        return Ok(None);
    }
    configured(&runtime, &project, Some(name), &[]).map(Some)
}

/// Values as given: `NAME=VALUE`.
///
/// # Errors
///
/// One has no `=`.
pub(in crate::command) fn inputs(given: &[String]) -> Result<Values, Failure> {
    let pair = |text: &String| {
        let (name, value) = text.split_once('=').ok_or_else(|| Failure::new(format!("`{text}` is not NAME=VALUE")))?;
        Ok((name.to_owned(), value.to_owned()))
    };
    given.iter().map(pair).collect()
}

/// Prints the table.
///
/// # Errors
///
/// The run does not begin, or an input has no value.
pub(super) fn table(found: Configured, given: &Values, context: &Context) -> Result<(), Failure> {
    let wrong = |error: LineError| Failure::new(error.0);
    let name = found.skill.unwrap_or_default();
    let subject = Subject::of(found.policy, &name, given).map_err(wrong)?;
    let calls = likely_calls(&[&subject.skill]);
    let machine = Machine { skill: &subject.skill, calls: &calls, begin: subject.begin.clone() };
    let phases: Vec<&str> = subject.skill.phases.iter().map(|phase| phase.name.as_str()).collect();
    let explored = machine
        .explore(&subject.policy, None, MAX_STATES, &mut |found| {
            phases.iter().all(|phase| found.states.iter().any(|state| state.phase.as_deref() == Some(*phase)))
        })
        .map_err(wrong)?;
    let first = |phase: &str| explored.states.iter().find(|state| state.phase.as_deref() == Some(phase));
    let not_begun = replay(&subject.policy).map_err(wrong)?;
    let mut rows = Vec::new();
    for call in &calls {
        let mut cells = vec![cell(&not_begun, call, &name).map_err(wrong)?];
        for phase in &phases {
            cells.push(match first(phase) {
                Some(state) => cell(&state.replay, call, &name).map_err(wrong)?,
                None => NOT_REACHED.to_owned(),
            });
        }
        rows.push((call.name.as_str(), cells));
    }
    let columns: Vec<&str> = std::iter::once("not begun").chain(phases).collect();
    if context.out.json {
        let row = |(call, cells): &(&str, Vec<String>)| {
            let cells: serde_json::Map<_, _> =
                columns.iter().zip(cells).map(|(column, cell)| ((*column).to_owned(), json!(cell))).collect();
            json!({"call": call, "answers": cells})
        };
        context.out.value(
            &json!({"skill": name, "inputs": subject.inputs, "calls": rows.iter().map(row).collect::<Vec<_>>()}),
        );
        return Ok(());
    }
    print(&subject, &columns, &rows, context);
    Ok(())
}

fn print(subject: &Subject, columns: &[&str], rows: &[(&str, Vec<String>)], context: &Context) {
    let samples: Vec<String> = subject.inputs.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let with = if samples.is_empty() { String::new() } else { format!(" (with {})", samples.join(", ")) };
    context.out.line(format_args!("{}{with}: {}", subject.skill.name.bold(), subject.skill.description));
    let widest = |texts: &mut dyn Iterator<Item = &str>| texts.map(|text| text.chars().count()).max().unwrap_or(0);
    let first = widest(&mut rows.iter().map(|(call, _)| *call));
    let of_column = |at: usize| rows.iter().filter_map(move |(_, cells)| cells.get(at).map(String::as_str));
    let widths: Vec<usize> =
        columns.iter().enumerate().map(|(at, column)| widest(&mut of_column(at).chain([*column]))).collect();
    let line = |call: &str, cells: &mut dyn Iterator<Item = &str>| {
        let cells: Vec<String> = cells.zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{call:first$}  {}", cells.join("  ")).trim_end().to_owned()
    };
    context.out.line(line("", &mut columns.iter().copied()).bold());
    for (call, cells) in rows {
        context.out.line(line(call, &mut cells.iter().map(String::as_str)));
    }
    if rows.iter().any(|(_, cells)| cells.iter().any(|cell| cell == NOT_REACHED)) {
        context.out.line("-: no likely call led to this phase");
    }
}

/// What becomes of a call in a state.
fn cell(state: &Replay, call: &LikelyCall, skill: &str) -> Result<String, LineError> {
    let mut after = state.clone();
    let phase = |replay: &Replay| {
        let run = replay.run_of(skill).filter(|run| run.status == phasegate_core::state::Status::Active);
        run.map(|run| run.phase.clone())
    };
    let before = phase(state);
    let answer = step(&mut after, &with_id(&call.line, 0))?;
    let code = answer.get("code").and_then(Value::as_str).unwrap_or_default();
    let now = phase(&after);
    Ok(match (before, now) {
        _ if !lets_through(&answer) => match code {
            _ if answer.get("decision").and_then(Value::as_str) == Some("ask") => "ask",
            "not-done" => "later",
            "phase-forbidden" | "global-forbidden" => "forbidden",
            _ => "no",
        }
        .to_owned(),
        (None, Some(_)) => "begins".to_owned(),
        (Some(_), None) => "-> end".to_owned(),
        (Some(before), Some(now)) if before != now => format!("-> {now}"),
        _ => "yes".to_owned(),
    })
}
