//! The texts of a run that stands still, and of one that another session works on.

use crate::answers::denial::{Stopped, StoppedPart};
use crate::policy::Spent;
use crate::prelude::*;

/// Why it stands still.
pub(crate) fn reason(why: &Stopped) -> String {
    let Stopped { tool, skill, branch, phase, .. } = why;
    let skill = match branch {
        Some(branch) => format!("skill \"{skill}\" (`{branch}`)"),
        None => format!("skill \"{skill}\""),
    };
    let refused = if tool.is_empty() { String::new() } else { format!("{tool} is denied: ") };
    if let Some(reason) = &why.halted {
        let reason = if reason.is_empty() { String::new() } else { format!(": {reason}") };
        let by = if why.halted_by_agent { "agent" } else { "user" };
        return format!("{refused}{skill} was halted by the {by}{reason}");
    }
    let has_failed = why.spent.as_ref().is_none_or(|edge| edge.then == Spent::Halt);
    let what = if has_failed { "has failed" } else { "waits for the user" };
    format!("{refused}{skill} {what}, as {}", because(why, phase))
}

fn because(why: &Stopped, phase: &str) -> String {
    let of_part = |part: &StoppedPart| {
        let name = if part.branch.is_empty() { &part.skill } else { &part.branch };
        format!("`{name}` of the \"{phase}\" phase")
    };
    match (&why.part, &why.spent) {
        (Some(part), Some(edge)) => {
            format!("{} went back to \"{}\" {}, and that is the limit", of_part(part), edge.to, times(edge.limit))
        }
        (Some(part), None) => format!("{} failed", of_part(part)),
        (None, Some(edge)) => {
            format!("the \"{phase}\" phase went back to \"{}\" {}, and that is the limit", edge.to, times(edge.limit))
        }
        (None, None) => format!("the \"{phase}\" phase failed"),
    }
}

fn times(limit: u32) -> String {
    if limit == 1 { String::from("once") } else { format!("{limit} times") }
}

/// What the agent does, and what the user says.
pub(super) fn recovery(why: &Stopped) -> String {
    let only = "Only calls that read are allowed now. Tell the user, and stop: they";
    format!("{only} {}", ways(why))
}

/// How a person has the run go on, as the rest of a sentence about them.
pub(crate) fn ways(why: &Stopped) -> String {
    let Stopped { skill, branch, next, element, .. } = why;
    if why.halted.is_some() {
        return format!("have it go on by `phasegate resume {skill}` in a terminal.");
    }
    let typed = |command: &str| format!("`/phasegate {command}` as a prompt or `phasegate {command}` in a terminal");
    match (element, branch, next) {
        (Some(id), ..) => {
            let retry = typed(&format!("retry {id}"));
            let rest = if branch.is_some() {
                String::new()
            } else {
                format!("; `/phasegate skip {skill}` passes over the whole phase")
            };
            format!("begin `{id}` anew by {retry}, or go on without it by `skip` in place of `retry`{rest}.")
        }
        (None, Some(branch), _) => {
            format!("say how `{branch}` goes on (`phasegate status` in a terminal shows it).")
        }
        (None, None, Some(next)) => format!(
            "go on with the \"{next}\" phase by {}, or end the skill by `end` in place of `skip`.",
            typed(&format!("skip {skill}"))
        ),
        (None, None, None) => {
            let (advance, end) = (typed(&format!("advance {skill}")), typed(&format!("end {skill}")));
            format!("count the phase as done by {advance}, or end the skill by {end}.")
        }
    }
}

/// That another session works on the runs that a call is for.
pub(super) fn held_elsewhere(tool: &str, skill: &str, session: &str) -> String {
    format!("{tool} is denied: session `{session}` works on skill \"{skill}\", and this session may only read")
}

/// What the agent and the user do then.
pub(super) fn of_other_session(session: &str) -> String {
    format!(
        "Leave it to that session. When it has ended, a call here goes on with its work; if its client is gone and did not \
         say so, the user types `phasegate end {session}` in a terminal."
    )
}
