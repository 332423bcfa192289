//! The recovery after a violation: what is missing, what is allowed, what a person types. Each is a sentence.

use alloc::format;
use alloc::string::{String, ToString as _};
use alloc::vec::Vec;

use super::steps;
use crate::decision::Decision;
use crate::denial::{Guidance, Standing, WayBack};
use crate::outcome::CallOutcome;
use crate::phrase;
use crate::state::Why;

/// What a person can do at a gate that does not open.
const AGAIN: &str = "If files have to change first, stop and tell the user: they have a task of the wave done again by \
                     `phasegate workflow tasks retry ID`.";

/// What a subagent does whose phase is over.
const OVER: &str = "The phase that you were started for is over, so you may only read: end, and say what you did. What comes \
                    next is for the agent that started you.";

/// The recovery that follows from where the run stands; `None`: the kind of the denial says all.
pub(super) fn recovery(guidance: &Guidance) -> Option<String> {
    match guidance {
        Guidance::None => None,
        Guidance::Compat { phase, allowed } => {
            Some(format!("Complete the \"{phase}\" phase first. Allowed tools: [{}]", allowed.join(", ")))
        }
        Guidance::OtherServer { meant } => Some(other_server(meant)),
        Guidance::OfPeople(typed) => Some(format!("This command is for the user, who types {typed}.")),
        Guidance::Over => Some(OVER.to_string()),
        Guidance::Strict(standing) => Some(now(standing)),
    }
}

/// The recovery of a denial that was given `times` times to the same call.
pub(crate) fn repeated(decision: &Decision, times: u32) -> String {
    let Decision { recovery, ends_turn, .. } = decision;
    if *ends_turn {
        return format!(
            "This call was denied {times} times: end the turn here, and tell the user what is missing. {recovery}"
        );
    }
    format!(
        "Denied {times} times: it stays denied. {recovery} If that cannot be done, tell the user what is missing, and stop."
    )
}

fn other_server(meant: &[String]) -> String {
    let each: Vec<String> = meant.iter().map(|server| format!("`{server}`")).collect();
    let (names, first) = (each.join(" or "), meant.first().map_or("", String::as_str));
    format!(
        "The skill means the tool of server {names}. If that is this server, ask the user to give it that name where it is \
         started (a relay takes `--server {first}`), or to add its name to `servers` of the skill."
    )
}

/// What to do now, what is missing, and a person's way out.
fn now(standing: &Standing) -> String {
    let Standing { now, needs, next, allowed, .. } = standing;
    let mut sentences = Vec::new();
    if !now.is_empty() {
        sentences.push(format!("Now: {}.", now.trim_end_matches('.')));
    }
    if let Some(kind) = &standing.done_by {
        sentences.push(format!("The subagent `{kind}` does it: start it."));
    }
    // The way back says that it failed.
    let told = |why: &Why| standing.back.is_some() && *why == Why::Outcome(CallOutcome::Failed);
    if !needs.is_empty() {
        sentences.push(format!("Missing: {}.", phrase::joined(needs)));
    }
    sentences.extend(standing.uncounted.filter(|why| !told(why)).map(uncounted));
    sentences.extend(standing.failed_gate.then(|| AGAIN.to_string()));
    sentences.extend(standing.back.as_ref().map(way_back));
    if standing.rejected {
        sentences.push("The user rejected what is there: change it, or write another one.".to_string());
    }
    if !standing.gates.is_empty() {
        if standing.only_gates && now.is_empty() {
            sentences.push("Show it to the user, and stop.".to_string());
        }
        let other = needs.iter().all(|need| standing.gates.iter().all(|gate| !need.contains(&format!("`{gate}`"))));
        let who = if other && !needs.is_empty() { "Or the user types" } else { "The user types" };
        sentences.push(format!("{who} {}.", typed(&standing.gates)));
    }
    sentences.extend(standing.steps.iter().flat_map(steps::sentences));
    if now.is_empty() && !standing.only_gates {
        if !allowed.is_empty() {
            sentences.push(format!("Allowed now: {allowed}."));
        }
        let each: Vec<String> = next.iter().map(|(next, allowed)| format!("phase {next} ({allowed})")).collect();
        if !each.is_empty() {
            sentences.push(format!("Next comes {}.", each.join(" or ")));
        }
    }
    if standing.done.is_some() && needs.is_empty() && next.is_empty() {
        sentences.push(format!(
            "It was the last phase: the user ends the skill by `/phasegate deactivate {}`.",
            standing.skill
        ));
    }
    sentences.join(" ")
}

/// Why the last call that would have helped does not count.
pub(crate) fn uncounted(why: Why) -> String {
    match why {
        Why::NotOwnStatus => {
            "The last one does not count: other parts of its line may hide how it ended. Run it alone; \
                              before a pipe, write `set -o pipefail;`."
                .to_string()
        }
        Why::Report => "The last one does not count: its output has no report of tests that ended so.".to_string(),
        Why::Filtered => "The last one does not count: its report does not come through whole. Run it alone, or with \
                          `2>&1 | tail -40`."
            .to_string(),
        Why::Broken => {
            "The last one does not count: its tests could not be built or collected (`broken`), and a failed test \
                        is asked for."
                .to_string()
        }
        Why::OwnProgram => {
            "The last one does not count: a program, a module or a script of the project may have printed its \
                             report. Run the runner by its bare name."
                .to_string()
        }
        Why::Part => "The last one does not count: it may leave out tests. Run the whole suite.".to_string(),
        Why::Outcome(CallOutcome::Ok) => "The last one does not count: it succeeded.".to_string(),
        Why::Outcome(CallOutcome::Failed) => "The last one does not count: it failed.".to_string(),
        Why::Outcome(CallOutcome::Unknown) => "The last one does not count: its outcome was not seen.".to_string(),
        Why::Outcome(outcome) => format!("The last one does not count: its outcome was `{}`.", outcome.word()),
    }
}

fn way_back(back: &WayBack) -> String {
    let WayBack { phase, allowed, open } = back;
    if *open {
        format!("It failed. A call of the \"{phase}\" phase goes back: {allowed}.")
    } else {
        format!("It failed as often as the skill lets a run go back to the \"{phase}\" phase.")
    }
}

/// What a person types to approve.
fn typed(names: &[String]) -> String {
    let each = |prefix: &str| {
        let typed: Vec<String> = names.iter().map(|name| format!("`{prefix} approve {name}`")).collect();
        typed.join(" and ")
    };
    format!("{} ({} in a terminal)", each("/phasegate"), each("phasegate"))
}
