//! What a denial says of the steps of an approved plan: which are open, and what each of the others waits for.

use crate::answers::phrase;
use crate::policy::steps::StepsLeft;
use crate::prelude::*;
use crate::values::one_line::one_line;

/// The longest text of a step's call.
const MAX_CALL_CHARS: usize = 120;
/// The longest list of steps that are open, apart from the first.
const MAX_STEPS_CHARS: usize = 160;

/// What permits a call now, and what would permit others.
pub(super) fn sentences(left: &StepsLeft) -> Vec<String> {
    let StepsLeft { open, waiting, begun, ran, failed } = left;
    let mut sentences = Vec::new();
    if !open.is_empty() {
        let call = |calls: &str| phrase::cut(&one_line(calls), MAX_CALL_CHARS);
        let each: Vec<String> =
            open.iter().map(|(id, calls)| format!("{} permits {}", name(id), call(calls))).collect();
        sentences.push(format!(
            "Open steps: {}. Each permits one call, alone or joined by `&&`, in the project's folder.",
            phrase::joined_within(&each, MAX_STEPS_CHARS)
        ));
    }
    if !waiting.is_empty() {
        let each: Vec<String> =
            waiting.iter().map(|(id, after)| format!("{} waits for {}", name(id), names(after))).collect();
        sentences.push(format!("{}.", phrase::joined(&each)));
    }
    if !begun.is_empty() {
        sentences.push(format!("The call of {} has not ended.", names(begun)));
    }
    if !ran.is_empty() {
        sentences.push(format!(
            "The call of {} ran, and nobody saw how it ended: the user looks, and ends the plan.",
            names(ran)
        ));
    }
    if !failed.is_empty() {
        sentences.push(format!(
            "The call of {} failed: write the plan anew without what is done, and the user approves it.",
            names(failed)
        ));
    }
    if sentences.is_empty() {
        sentences.push("No step of the plan is open: each is used, or is prose and permits nothing.".to_string());
    }
    sentences
}

fn names(ids: &[String]) -> String {
    phrase::joined(&ids.iter().map(|id| name(id)).collect::<Vec<_>>())
}

fn name(id: &str) -> String {
    format!("`{}`", one_line(id))
}
