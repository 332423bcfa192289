//! What a call is that a phase denies, as the first sentence of a denial.

use super::words::{because, misplaced_words, near};
use crate::answers::denial::{DecidingRun, DenialKind, Guidance};
use crate::answers::doubt::NamedLine;
use crate::answers::phrase::cut;
use crate::policy::Phase;
use crate::prelude::*;

/// The most characters of what a phase has to do that are told with what was not kept.
const MAX_TASK: usize = 200;

/// The first sentence: which skill says no, and what the call is. `general` is that of a kind that is about more than the
/// phase.
pub(super) fn reason(kind: &DenialKind, guidance: &Guidance, run: &DecidingRun, general: String) -> String {
    let began = if run.began { ", which began with this call" } else { "" };
    let skill = format!("(skill {}{began})", run.skill);
    let gates = match guidance {
        Guidance::Strict(standing) if standing.only_gates => standing.gates.as_slice(),
        _ => &[],
    };
    match kind {
        DenialKind::GlobalForbidden { tool, by, .. } => format!("No {skill}: {}", forbidden(tool, by.as_ref())),
        DenialKind::PhaseForbidden { tool, by, .. } => format!("Not yet {skill}: {}", forbidden(tool, by.as_ref())),
        DenialKind::ArtifactPath { file, .. } => format!("No {skill}: {}", misplaced_words(file)),
        DenialKind::LineRequires { tool, line, .. } => {
            format!("Not yet {skill}: {tool} has to wait for what {}{} requires", line.line, because(line))
        }
        DenialKind::NotDone { tool, target, blocking, may } => {
            let belongs = match may {
                Some(may) => format!("may be what {}{} means in", may.line, because(may)),
                None => "belongs to".to_string(),
            };
            let why = match (target == blocking, gates) {
                (true, []) => "which cannot begin yet".to_string(),
                (true, _) => "which waits for the user".to_string(),
                (false, []) => format!("after phase {blocking}"),
                (false, _) => format!("and phase {blocking} waits for the user"),
            };
            format!("Not yet {skill}: {tool} {belongs} phase {target}, {why}")
        }
        DenialKind::Unlisted { tool, phase, read_only, may, denied, asks, why, changes } => {
            let whose = if *asks { "is the user's to allow" } else { "is not allowed" };
            let what = match (may, why) {
                (_, Some(why)) => format!("{whose}: {why}"),
                (Some(by), None) if *denied => match &by.does {
                    Some(does) if by.doubt.is_none() => format!("{does}, and {whose}"),
                    _ => format!("{whose} by {}{}", by.line, because(by)),
                },
                (may, None) => {
                    let by_steps = matches!(guidance, Guidance::Strict(standing) if standing.steps.is_some());
                    let base = match (*read_only, *changes) {
                        _ if by_steps => "is permitted by no open step of the plan",
                        (true, true) => "changes a file",
                        (true, false) => "is not known to only read",
                        (false, _) => "is not listed",
                    };
                    let near = may.as_ref().map(near).unwrap_or_default();
                    format!("{base}{near}")
                }
            };
            format!("Not in phase {phase} {skill}: {tool} {what}")
        }
        DenialKind::Unfinished { phase, done, .. } => {
            let why = if *done { "is done, and another one follows" } else { "is not done" };
            format!("Do not end the turn yet {skill}: phase {phase} {why}")
        }
        _ => format!("Not now {skill}: {general}"),
    }
}

/// What is told where a phase that only reads did not keep what a call changed.
pub(crate) fn not_kept(skill: &str, phase: &Phase, keeps: &[String]) -> String {
    let Phase { name, task, .. } = phase;
    let now =
        if task.is_empty() { String::new() } else { format!(" Now: {}.", cut(task.trim_end_matches('.'), MAX_TASK)) };
    if keeps.is_empty() {
        return format!(
            "Phase {name} of skill {skill} only reads: a command may change files, and keeps none of it.{now}"
        );
    }
    let folders = keeps.iter().map(|folder| format!("`{folder}`")).collect::<Vec<_>>().join(", ");
    format!("In phase {name} of skill {skill} a command keeps what it changes in {folders}, and nothing else.{now}")
}

/// What a call is that a line forbids.
fn forbidden(tool: &str, by: Option<&NamedLine>) -> String {
    match by {
        None => format!("{tool} is forbidden"),
        Some(NamedLine { does: Some(does), doubt: None, .. }) => format!("{tool} {does}"),
        Some(line @ NamedLine { does: Some(does), .. }) => {
            let may = does.split_once(' ').map_or(String::new(), |(verb, what)| format!("{} {what}", infinitive(verb)));
            format!("{tool} may {may}{}", because(line))
        }
        Some(line) => {
            let is = if line.doubt.is_some() { "may be" } else { "is" };
            format!("{tool} {is} forbidden by {}{}", line.line, because(line))
        }
    }
}

/// The infinitive of a predicate's verb.
fn infinitive(verb: &str) -> &str {
    if verb == "is" { "be" } else { verb.trim_end_matches('s') }
}
