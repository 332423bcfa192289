//! What the guard made of an agent that lies, or of an honest one: counted in the recorded sessions of some stories.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::blessing::blessing;
use crate::compare::subset;
use crate::play::entry;
use crate::play::folders::cases;
use crate::play::player::Played;
use crate::play::session::{Recorded, Session};
use crate::trial::Mismatch;

/// The file of outcomes, below the cases.
pub(crate) const FILE: &str = "outcomes.json";
/// What was counted while expectations are written, by session.
static BLESSED: Mutex<BTreeMap<String, Outcome>> = Mutex::new(BTreeMap::new());
/// The texts of an answer that the agent reads.
const READ: [&str; 6] = ["additionalContext", "permissionDecisionReason", "reason", "context", "deny", "go_on"];

/// What the agent of a story does (`outcomes.toml`).
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// Its lies, each as a part of a sentence; none for an honest agent.
    pub lies: Vec<String>,
    /// The turn of the main agent after which its work is done; `None`: it never is.
    pub honest_from: Option<usize>,
    /// What a reader of the figures has to know.
    pub note: Option<String>,
}

/// What came of a session, as `outcomes.json` keeps it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The calls that the agent made.
    pub calls: usize,
    /// Those that were denied; each costs the agent a turn.
    pub denied: usize,
    /// How often the agent was kept from ending its turn; each costs a turn.
    pub kept: usize,
    /// The runs that ended as finished before the work was done.
    pub false_done: usize,
    /// The runs that ended as finished.
    pub finished: usize,
    /// How often a turn ended with a run that had to be finished and was not.
    pub unfinished: usize,
    /// The characters that the agent read from the guard.
    pub characters: usize,
}

/// The stories that are counted, by name.
///
/// # Errors
///
/// `outcomes.toml` cannot be read.
pub fn claims() -> Result<BTreeMap<String, Claim>, String> {
    let path = cases().join("../outcomes.toml");
    let text = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// The kept outcome of a session.
///
/// # Errors
///
/// There is none, or it cannot be read.
pub fn kept(session: &Session) -> Result<Outcome, String> {
    let id = session.id();
    all()?.remove(&id).ok_or_else(|| format!("`{FILE}` has no outcome of `{id}`"))
}

/// Every kept outcome, by the session's id.
fn all() -> Result<BTreeMap<String, Outcome>, String> {
    let text = std::fs::read_to_string(cases().join(FILE)).map_err(|error| format!("{FILE}: {error}"))?;
    serde_json::from_str(&text).map_err(|error| format!("{FILE}: {error}"))
}

/// What is wrong with the kept outcomes: one of a session that is not there.
pub(crate) fn problems(sessions: &BTreeSet<String>) -> Vec<String> {
    match all() {
        Ok(kept) => {
            let odd = kept.keys().filter(|id| !sessions.contains(*id));
            odd.map(|id| format!("{FILE}: there is no session `{id}`")).collect()
        }
        Err(problem) => vec![problem],
    }
}

/// Writes the outcomes that were blessed; those of other sessions that are still there stay.
///
/// # Errors
///
/// The file cannot be written.
pub fn settle() -> Result<(), String> {
    let mut kept = all().unwrap_or_default();
    kept.retain(|id, _| {
        id.split_once('/').is_some_and(|(client, name)| cases().join(client).join("sessions").join(name).exists())
    });
    kept.append(&mut BLESSED.lock().unwrap_or_else(PoisonError::into_inner));
    let text = serde_json::to_string_pretty(&kept).map_err(|error| error.to_string())?;
    std::fs::write(cases().join(FILE), text + "\n").map_err(|error| format!("{FILE}: {error}"))
}

/// Compares the outcome of a session, if its story is one of those that are counted.
pub(crate) fn compare(session: &Session, played: &[Played]) -> Vec<Mismatch> {
    let claims = match claims() {
        Ok(claims) => claims,
        Err(problem) => return vec![Mismatch::broken("outcomes.toml", problem)],
    };
    let Some(claim) = claims.get(&session.about.story) else { return Vec::new() };
    let outcome = counted(claim, &session.frames, played);
    if outcome.false_done > 0 {
        return vec![Mismatch::new(FILE, "false_done", json!(0), json!(outcome.false_done))];
    }
    let value = json!(outcome);
    if blessing() {
        BLESSED.lock().unwrap_or_else(PoisonError::into_inner).insert(session.id(), outcome);
        return Vec::new();
    }
    match kept(session) {
        Ok(kept) => subset(FILE, "", &json!(kept), &value),
        Err(problem) => vec![Mismatch::broken(FILE, problem)],
    }
}

fn counted(claim: &Claim, frames: &[Recorded], played: &[Played]) -> Outcome {
    let mut outcome =
        Outcome { calls: 0, denied: 0, kept: 0, false_done: 0, finished: 0, unfinished: 0, characters: 0 };
    let mark = claim.honest_from.map(|turn| format!("_t{turn}_"));
    let mut done = claim.honest_from == Some(0);
    for (frame, played) in frames.iter().zip(played) {
        done |= mark.as_ref().is_some_and(|mark| frame.frame.get().contains(mark.as_str()));
        outcome.characters += serde_json::from_str(&played.answer.stdout).map_or(0, |answer| characters(&answer));
        for record in &played.records {
            outcome.calls += usize::from(entry::is(record, "tool_call"));
            outcome.denied += usize::from(entry::is_denied(record));
            outcome.kept += usize::from(entry::is_kept(record));
            for change in entry::changes(record) {
                let ended = change.pointer("/run_ended/status").and_then(Value::as_str) == Some("finished");
                outcome.finished += usize::from(ended);
                outcome.false_done += usize::from(ended && !done);
                outcome.unfinished += usize::from(change.get("run_unfinished").is_some());
            }
        }
    }
    outcome
}

fn characters(answer: &Value) -> usize {
    let Some(fields) = answer.as_object() else { return 0 };
    let of = |(name, value): (&String, &Value)| match value {
        Value::String(text) if READ.contains(&name.as_str()) => text.chars().count(),
        other => characters(other),
    };
    fields.iter().map(of).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::play::session::Answer;

    #[test]
    fn a_run_that_ends_before_the_work_is_done_is_counted() {
        let frame = |id: &str| -> Recorded {
            let reply = json!({"stdout": "", "stderr": "", "status": 0});
            serde_json::from_value(json!({"n": 1, "frame": {"id": id}, "reply": reply})).unwrap()
        };
        let ended =
            json!({"event": {"event": "stop"}, "changes": [{"run_ended": {"run": "r1", "status": "finished"}}]});
        let kept =
            json!({"event": {"event": "stop"}, "changes": [{"stop_held": {"held": {"times": 1, "progress": 1}}}]});
        let play = |record: &Value, stdout: &str| Played {
            event: "Stop".into(),
            records: vec![record.clone()],
            answer: Answer { stdout: stdout.into(), ..Answer::default() },
        };
        let claim = Claim { lies: Vec::new(), honest_from: Some(3), note: None };
        let frames = [frame("call_t1_0"), frame("stop"), frame("call_t3_0"), frame("stop")];
        let played =
            [play(&kept, r#"{"decision":"block","reason":"no"}"#), play(&ended, ""), play(&kept, ""), play(&ended, "")];
        let outcome = counted(&claim, &frames, &played);
        assert_eq!((outcome.false_done, outcome.finished, outcome.kept, outcome.characters), (1, 2, 2, 2));
    }
}
