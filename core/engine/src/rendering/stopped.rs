//! The texts of a run that stands still, and of one that another session works on.

use alloc::format;
use alloc::string::String;

use crate::denial::{Stopped, StoppedPart};
use crate::policy::Spent;

/// Why it stands still.
pub(crate) fn reason(why: &Stopped) -> String {
    let Stopped { tool, skill, branch, phase, .. } = why;
    let skill = match branch {
        Some(branch) => format!("skill \"{skill}\" (`{branch}`)"),
        None => format!("skill \"{skill}\""),
    };
    let has_failed = why.spent.as_ref().is_none_or(|edge| edge.then == Spent::Halt);
    let what = if has_failed { "has failed" } else { "waits for the user" };
    let refused = if tool.is_empty() { String::new() } else { format!("{tool} is denied: ") };
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
    let Stopped { skill, branch, next, .. } = why;
    let only = "Only calls that read are allowed now. Tell the user, and stop";
    if let Some(branch) = branch {
        return format!("{only}: they say how `{branch}` goes on (`phasegate status` in a terminal shows it).");
    }
    let typed = |command: &str| {
        format!("`/phasegate {command} {skill}` as a prompt or `phasegate {command} {skill}` in a terminal")
    };
    match next {
        Some(next) => format!(
            "{only}: they go on with the \"{next}\" phase by {}, or end the skill by `deactivate` in place of `skip`.",
            typed("skip")
        ),
        None => format!("{only}: they end the skill by {}.", typed("deactivate")),
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
