//! The recovery after a violation: what is missing, what is allowed, what a person types. Each is a sentence.

use super::steps;
use crate::answers::decision::Decision;
use crate::answers::denial::{Guidance, Standing, WayBack};
use crate::answers::phrase;
use crate::calls::outcome::CallOutcome;
use crate::commands::slash_command;
use crate::prelude::*;
use crate::state::Why;

/// What a person can do at a gate that does not open.
const AGAIN: &str = "If files have to change first, stop and tell the user: they have a task of the wave done again by \
                     `phasegate retry ID`.";

/// What a subagent does whose phase is over.
const OVER: &str = "The phase that you were started for is over, so you may only read: end, and say what you did. What comes \
                    next is for the agent that started you.";

/// The most characters of a denial, if no list of names makes it longer.
pub(super) const MAX_CHARS: usize = 300;

/// What is said of a command that a person types.
const IN_A_TERMINAL: &str = " (in a terminal without `/`)";

/// The recovery that follows from where the run stands, in `room` characters if it can be, or with every word; `None`: the kind of the denial says
/// all.
pub(super) fn recovery(guidance: &Guidance, room: Option<usize>) -> Option<String> {
    match guidance {
        Guidance::None => None,
        Guidance::Compat { phase, allowed } => {
            Some(format!("Complete the \"{phase}\" phase first. Allowed tools: [{}]", allowed.join(", ")))
        }
        Guidance::OtherServer { meant } => Some(other_server(meant)),
        Guidance::OfPeople(typed) => Some(format!("This command is for the user, who types {typed}.")),
        Guidance::Over => Some(OVER.to_string()),
        Guidance::Strict(standing) => Some(within(standing, room)),
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

/// What stands between the name of a file and what is wanted of it.
const NOT_FOUND: &str = " not found: ";

/// What is said of a file that is not as it was when it was approved.
const CHANGED: &str = "changed since";

/// How much of what is missing is told, the most first: what does not fit is cut there.
const MISSING: [Told; 4] = [Told::Whole, Told::First, Told::Words, Told::Nothing];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Told {
    /// Every word, as a layout of its own asks for it.
    All,
    /// All of it.
    Whole,
    /// The first of it, and how much more there is.
    First,
    /// The same without the patterns of its files.
    Words,
    /// Nothing, where what to do now and another sentence say it.
    Nothing,
}

fn within(standing: &Standing, room: Option<usize>) -> String {
    let Some(room) = room else { return now(standing, Told::All) };
    // That a file changed after its approval nothing else says.
    let changed = standing.needs.iter().any(|need| need.contains(CHANGED));
    let says = !changed
        && !standing.now.is_empty()
        && (standing.uncounted.is_some() || standing.back.is_some() || !standing.gates.is_empty());
    let texts = MISSING.iter().filter(|told| says || **told != Told::Nothing).map(|told| now(standing, *told));
    let mut fits = String::new();
    for text in texts {
        fits = text;
        // Where a person types it, the page of their client says too: it is the first that goes.
        let hint = if fits.contains(IN_A_TERMINAL) { IN_A_TERMINAL.len() } else { 0 };
        if fits.chars().count() <= room.saturating_add(hint) {
            return fits;
        }
        fits = fits.replace(IN_A_TERMINAL, "");
        if fits.chars().count() <= room {
            return fits;
        }
    }
    fits
}

/// What is missing, as far as it is told.
fn missing(standing: &Standing, told: Told) -> Option<String> {
    if told == Told::All {
        return (!standing.needs.is_empty()).then(|| format!("Missing: {}.", phrase::joined(&standing.needs)));
    }
    let names = |need: &&String| standing.gates.iter().any(|gate| **need == phrase::approval(gate));
    // What a person has to type says it.
    let needs = standing.needs.iter().filter(|need| !standing.only_gates || !names(need));
    // That a new file is not there yet says nothing.
    let mut needs: Vec<String> =
        needs.map(|need| need.split_once(NOT_FOUND).map_or(need.as_str(), |(_, wanted)| wanted).to_string()).collect();
    phrase::approvals_last(&mut needs);
    let text = match (told, needs.split_first()) {
        (Told::Nothing, _) | (_, None) => return None,
        (Told::All | Told::Whole, _) => phrase::joined(&needs),
        (Told::First, _) => phrase::joined_within(&needs, 0),
        (Told::Words, _) => phrase::without_patterns(&phrase::joined_within(&needs, 0)),
    };
    // Whose call it is, the sentence before says.
    let who = standing.done_by.as_ref().map(|kind| format!(" of the subagent `{kind}`"));
    Some(format!("Missing: {}.", who.map_or(text.clone(), |who| text.replace(&who, ""))))
}

/// What to do now, what is missing, and a person's way out.
fn now(standing: &Standing, told: Told) -> String {
    let Standing { now, needs, next, allowed, .. } = standing;
    let mut sentences = Vec::new();
    if !now.is_empty() {
        sentences.push(format!("Now: {}.", now.trim_end_matches('.')));
    }
    if let Some(kind) = standing.done_by.as_ref().filter(|kind| !now.contains(&format!("`{kind}`"))) {
        sentences.push(format!("The subagent `{kind}` does it: start it."));
    }
    sentences.extend(missing(standing, told));
    // The way back says that it failed.
    let told = |why: &Why| standing.back.is_some() && *why == Why::Outcome(CallOutcome::Failed);
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
        // What has to be there before, the user cannot approve yet.
        if other || standing.only_gates {
            sentences.push(format!("{who} {}.", typed(&standing.gates)));
        }
    }
    sentences.extend(standing.steps.iter().flat_map(steps::sentences));
    if now.is_empty() && !standing.only_gates {
        if !allowed.is_empty() {
            sentences.push(format!("Allowed now: {allowed}."));
        }
        let each: Vec<String> = next.iter().map(|(next, allowed)| format!("phase {next} ({allowed})")).collect();
        if !each.is_empty() {
            sentences.push(format!("Next: begin {}.", each.join(" or ")));
        }
    }
    if !standing.known.is_empty() {
        sentences.push(format!("Skills of this workflow: {}.", standing.known.join(", ")));
    }
    if standing.done.is_some() && needs.is_empty() && next.is_empty() {
        sentences
            .push(format!("It was the last phase: the user ends the skill by `/phasegate end {}`.", standing.skill));
    }
    sentences.join(" ")
}

/// Why the last call that would have helped does not count.
pub(crate) fn uncounted(why: Why) -> String {
    let text = match why {
        Why::NotOwnStatus => "The last one does not count: its line may hide how it ended. Run it alone.",
        Why::Report => "The last call for that does not count: its output has no report of tests that ended so.",
        Why::Filtered => {
            "The last call for that does not count, as its report is cut: run it alone, or with `2>&1 | tail -40`."
        }
        Why::Broken => {
            "The last call for that does not count: its tests could not be built or collected, and did not fail."
        }
        Why::OwnProgram => {
            "The last call for that does not count, as a file of the project may have printed its report: run the runner by its bare \
             name."
        }
        Why::Part => "The last call for that does not count: it may leave out tests. Run the whole suite.",
        Why::Outcome(CallOutcome::Ok) => "The last one succeeded.",
        Why::Outcome(CallOutcome::Failed) => "The last one failed.",
        Why::Outcome(CallOutcome::Unknown) => "The last one was not seen to end.",
        Why::Outcome(CallOutcome::Refused) => "The last one was refused, and did not run.",
        Why::Outcome(outcome) => return format!("The last one ended as `{}`.", outcome.word()),
    };
    text.to_string()
}

fn way_back(back: &WayBack) -> String {
    let WayBack { phase, allowed, open } = back;
    if *open {
        format!("It failed. Back to phase {phase} by: {allowed}.")
    } else {
        format!("It failed as often as the skill lets a run go back to phase {phase}.")
    }
}

/// What a person types to approve.
fn typed(names: &[String]) -> String {
    let typed: Vec<String> = names.iter().map(|name| format!("`{} approve {name}`", slash_command::WORD)).collect();
    format!("{}{IN_A_TERMINAL}", typed.join(" and "))
}
