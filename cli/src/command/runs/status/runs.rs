//! `phasegate status runs`: where each live run stands, and how it came there.

use owo_colors::OwoColorize as _;
use serde_json::{Value, json};

use super::found::words;
use super::text::end_of;
use super::waves::waves;
use crate::command::runs::live::found::{Found, Seen, found, list, text};
use crate::context::Context;
use crate::exit::Exit;
use crate::output::{Failure, Output};

/// Shows each run. The answer is no where none is live.
///
/// # Errors
///
/// The session is not known, or the state cannot be read.
pub(super) fn run(session: Option<&String>, context: &Context) -> Result<Exit, Failure> {
    let found = found(context, session)?;
    let exit = if found.places().all(|seen| seen.runs.is_empty()) { Exit::No } else { Exit::Done };
    if context.out.json {
        context.out.value(&as_json(&found));
        return Ok(exit);
    }
    for problem in &found.damaged {
        let help = "`phasegate repair` shows what can be read, and lets its session go on";
        context.out.line(format_args!("{} {problem}; {help}", "damaged:".red()));
    }
    if exit == Exit::No && !found.damaged.is_empty() {
        return Ok(exit);
    }
    if exit == Exit::No {
        context.out.line("no run is live: nothing is judged but the rules of the project");
        context.out.line("`phasegate start NAME` begins one for the project");
        return Ok(exit);
    }
    place(context.out, &found.shared);
    for seen in &found.sessions {
        context.out.line(format_args!("{} {}", "session".dimmed(), seen.id().unwrap_or_default().bold()));
        place(context.out, seen);
    }
    Ok(exit)
}

fn as_json(found: &Found) -> Value {
    let place = |seen: &Seen| json!({"session": seen.id(), "runs": seen.runs, "waiting": seen.waiting});
    json!({
        "project": found.project.root.display().to_string(),
        "runs": found.shared.runs,
        "waiting": found.shared.waiting,
        "sessions": found.sessions.iter().map(place).collect::<Vec<_>>(),
        "damaged": found.damaged.iter().map(|one| json!({"code": one.code, "message": one.message})).collect::<Vec<_>>(),
    })
}

fn place(out: Output, seen: &Seen) {
    for root in seen.roots() {
        tree(out, seen, root, "");
        for waits in seen.waiting_in(root) {
            let name = text(waits, "name");
            let of = match text(waits, "of") {
                "" => String::new(),
                of => format!(" ({of})"),
            };
            out.line(format_args!(
                "  {} {}{of}: type `/phasegate approve {name}` as a prompt, or `phasegate approve {name}` in a terminal",
                "waits for you:".yellow(),
                name.bold(),
            ));
        }
    }
}

/// Prints a run, and the runs that its phase consists of.
fn tree(out: Output, seen: &Seen, run: &Value, margin: &str) {
    head(out, run, margin);
    let inner = format!("{margin}  ");
    way(out, run, &inner);
    if let Some(plan) = run.get("plan") {
        out.line(format_args!("{inner}tasks of {}", text(plan, "path")));
        waves(out, plan, &format!("{inner}  "));
    }
    for part in seen.parts(run) {
        // The tasks say where the runs of a plan stand.
        if run.get("plan").is_none() || judges_by_itself(seen, part) {
            tree(out, seen, part, &inner);
        }
    }
}

/// Whether a run of a plan has runs of its own.
fn judges_by_itself(seen: &Seen, part: &Value) -> bool {
    seen.parts(part).next().is_some()
}

fn head(out: Output, run: &Value, margin: &str) {
    let (skill, id, mode) = (text(run, "skill_name"), text(run, "run"), text(run, "mode"));
    let branch = match text(run, "branch") {
        "" => String::new(),
        branch => format!(" {branch},"),
    };
    let inputs = run.get("inputs").and_then(Value::as_object).into_iter().flatten();
    let inputs: Vec<String> =
        inputs.map(|(name, value)| format!(" {name}={}", value.as_str().unwrap_or_default())).collect();
    let judges = if run.get("judges") == Some(&Value::Bool(false)) { ", forbids only: its parts judge" } else { "" };
    out.line(format_args!("{margin}{}{},{branch} run {id}, {mode} mode{judges}", skill.bold(), inputs.concat()));
}

/// The phases, each with what became of it.
fn way(out: Output, run: &Value, margin: &str) {
    let width = list(run, "way").map(|one| text(one, "phase").chars().count()).max().unwrap_or_default();
    for one in list(run, "way") {
        let (phase, state) = (text(one, "phase"), text(one, "state"));
        let said = match state {
            "current" => present(run),
            "done" if text(one, "by") == "human" => format!("{} said so", caused(one)),
            "skipped" => skipped(one),
            _ => String::new(),
        };
        let padded = if said.is_empty() { phase.to_string() } else { format!("{phase:<width$}  ") };
        let line = match state {
            "current" => format!("{} {}{said}", "> now    ".cyan(), padded.cyan().bold()),
            "done" => format!("{} {padded}{said}", "  done   ".green()),
            "skipped" => format!("{} {padded}{said}", "  skipped".yellow()),
            _ => format!("{} {}", "  ahead  ".dimmed(), padded.dimmed()),
        };
        out.line(format_args!("{margin}{line}"));
        if state == "current" {
            details(out, run, &format!("{margin}            "));
        }
    }
}

fn skipped(one: &Value) -> String {
    match text(one, "why") {
        "" => format!("by {}", caused(one)),
        why => format!("by {}, as {why}", caused(one)),
    }
}

fn caused(one: &Value) -> String {
    match (text(one, "by"), text(one, "who")) {
        ("human", "") => "a person".to_string(),
        ("human", who) => format!("a person ({who})"),
        ("platform", _) => "completion".to_string(),
        _ => "a call of the agent".to_string(),
    }
}

/// How the present phase gets on, in a few words.
fn present(run: &Value) -> String {
    let truth = |key: &str| run.get(key) == Some(&Value::Bool(true));
    match () {
        () if truth("unfinished") => "unfinished: the agent stopped before it was done".yellow().to_string(),
        () if truth("finished") => format!("finished; {}", end_of(run)),
        () if truth("done") => "done".green().to_string(),
        () => String::new(),
    }
}

/// What the present phase still needs, and what comes next.
fn details(out: Output, run: &Value, margin: &str) {
    if let Some(why) = run.get("stopped").and_then(Value::as_str) {
        out.line(format_args!("{margin}{} {why}", "waits for you:".yellow()));
        out.line(format_args!("{margin}  {}", text(run, "ways_on")));
    }
    let missing = words(run.get("needs")).join("; ");
    if !missing.is_empty() {
        out.line(format_args!("{margin}{} {missing}", "missing:".yellow()));
    }
    let requires = words(run.get("next_requires")).join("; ");
    if !requires.is_empty() {
        out.line(format_args!("{margin}{} requires {requires}", text(run, "next")));
    }
}
