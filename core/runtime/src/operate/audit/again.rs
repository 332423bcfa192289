//! Deciding a record again: from the journals alone, with the policy, the state and the facts that it had.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use phasegate_adapter::Problem;
use phasegate_core::policy::Mode;
use phasegate_core::state::{self, Run};
use phasegate_core::{Code, Decision, Event, Policy, State, above, records};
use serde_json::Value;

use super::history::{History, Past, without_digests};
use crate::driver::decide::decided_by;
use crate::project::Project;
use crate::runtime::Runtime;
use crate::sessions::snapshot::SessionSnapshot;

/// A record, and what deciding it again gives.
#[derive(Clone, Debug)]
pub struct Again {
    /// The record.
    pub past: Past,
    /// The runs that were live before it, and what each tree of them says to the event when it is asked alone.
    pub opinions: Vec<Opinion>,
    /// What deciding it again gives; the text says why it cannot be decided again.
    pub outcome: Result<Outcome, String>,
}

/// What one run says to an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// The run's id.
    pub run: String,
    /// The id of the live run that it is a part of.
    pub part_of: Option<String>,
    /// Whether it has live parts.
    pub has_parts: bool,
    /// The name of its skill.
    pub skill: String,
    /// The name of the phase that it was in.
    pub phase: String,
    /// What its violations lead to.
    pub mode: Mode,
    /// The answer of its tree: of the run that gave it, or of the root where no run is named. `None` where the event asks
    /// for none, or its policy is gone.
    pub decision: Option<Decision>,
}

/// What deciding a record again gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The answer.
    pub decision: Option<Decision>,
    /// What is not as it was recorded: `decision`, `records`, `state`, `facts`, or `text` alone where the answer is the same
    /// in other words, as an earlier build said it. Empty: the same bytes.
    pub differs: Vec<&'static str>,
}

/// What is done with a record and what deciding it again gives, which may be why it cannot be.
pub type Visit<'a> = dyn FnMut(&Past, Result<Outcome, String>) -> ControlFlow<()> + 'a;

impl Runtime {
    /// Decides the record with this number in a session's journal again. Nothing is written.
    ///
    /// # Errors
    ///
    /// `command-invalid`: there is no such record. `state-unreadable`, `state-version`: as the journals show.
    pub fn again(&self, project: &Project, session: &str, seq: u64) -> Result<Again, Problem> {
        let mut history = History::open(&self.policies, project, session)?;
        while let Some(past) = history.next_record()? {
            if past.seq != seq {
                continue;
            }
            let policy = self.policy_of(&past, history.after(), history.before()).map(Arc::new);
            let opinions = opinions(policy.as_ref(), history.before(), &past);
            return Ok(Again { outcome: outcome(policy, &history, &past), opinions, past });
        }
        let message = format!("the journal of session `{session}` has no record {seq}");
        Err(Problem::new(Code::CommandInvalid, message))
    }

    /// Decides every record in a session's journal again, from the first, until `visit` has enough. Nothing is written.
    ///
    /// # Errors
    ///
    /// `state-unreadable`, `state-version`: as the journals show.
    pub fn again_each(&self, project: &Project, session: &str, visit: &mut Visit<'_>) -> Result<(), Problem> {
        let mut history = History::open(&self.policies, project, session)?;
        let mut loaded: BTreeMap<String, Arc<Policy>> = BTreeMap::new();
        while let Some(past) = history.next_record()? {
            let (before, after) = (history.before(), history.after());
            let runs = before.live_runs().chain(after.session.runs.iter()).map(|run| run.version.as_str());
            let names = [past.policy.as_str(), after.policy_digest.as_str()].into_iter().chain(runs);
            let key = names.collect::<Vec<_>>().join(" ");
            let policy = match loaded.get(&key) {
                Some(policy) => Ok(Arc::clone(policy)),
                None => self.policy_of(&past, after, before).map(Arc::new),
            };
            if let Ok(policy) = &policy {
                loaded.entry(key).or_insert_with(|| Arc::clone(policy));
            }
            let outcome = outcome(policy, &history, &past);
            if visit(&past, outcome).is_break() {
                break;
            }
        }
        Ok(())
    }

    /// The policy that a record was decided by, with the skills of the runs that were live before it or joined in it.
    fn policy_of(&self, past: &Past, after: &SessionSnapshot, before: &State) -> Result<Policy, Problem> {
        let policy = if past.policy.is_empty() {
            self.policies.with_earlier(Policy::default(), before)
        } else {
            self.policies.load(&past.policy, &after.policy_digest, before)
        }?;
        self.policies.with_earlier(policy, &State { session: after.session.clone(), ..State::default() })
    }
}

/// What the runs that were live before a record say to its event.
fn opinions(policy: Result<&Arc<Policy>, &Problem>, before: &State, past: &Past) -> Vec<Opinion> {
    let mut opinions: Vec<Opinion> = before.live_runs().map(|run| named(before, run)).collect();
    if let (Ok(policy), Ok(event)) = (policy, Event::from_value(without_digests(past.event.clone())))
        && past.problem.is_none()
    {
        for root in before.live_runs().filter(|run| part_of(before, run).is_none()) {
            let decision = of_tree(policy, before, root, &event, past);
            let gave = |one: &&mut Opinion| decision.as_ref().is_some_and(|decision| gave(before, root, one, decision));
            let mut givers: Vec<&mut Opinion> = opinions.iter_mut().filter(gave).collect();
            match givers.as_mut_slice() {
                [one] => one.decision = decision,
                _ => opinions
                    .iter_mut()
                    .filter(|one| one.run == root.id)
                    .for_each(|one| one.decision.clone_from(&decision)),
            }
        }
    }
    opinions
}

/// What a tree of runs says alone: the engine is asked with a state in which no other run is live.
fn of_tree(policy: &Policy, before: &State, root: &Run, event: &Event, past: &Past) -> Option<Decision> {
    let mut alone = before.clone();
    alone.project.runs.retain(|run| is_below(before, run, root));
    alone.session.runs.retain(|run| is_below(before, run, root));
    decided_by(policy, &alone, event, &past.facts).decision
}

/// Whether a decision of a tree names this run of it.
fn gave(before: &State, root: &Run, one: &Opinion, decision: &Decision) -> bool {
    let of_tree = before.run(&one.run).is_some_and(|run| is_below(before, run, root));
    let phase = decision.phase_before.as_ref().or(decision.phase.as_ref());
    of_tree && decision.skill.as_ref() == Some(&one.skill) && phase == Some(&one.phase)
}

/// Whether a run is the root, or one that was begun for it, however far down.
fn is_below(state: &State, run: &Run, root: &Run) -> bool {
    let mut at = Some(run);
    // No tree is deeper than there are runs, whatever the parents in a state say.
    for _ in 0..=state.project.runs.len().saturating_add(state.session.runs.len()) {
        match at {
            Some(run) if run.id == root.id => return true,
            Some(run) => at = run.parent.as_deref().and_then(|parent| state.run(parent)),
            None => return false,
        }
    }
    false
}

/// The live run that a live run is a part of.
fn part_of<'a>(state: &'a State, run: &Run) -> Option<&'a Run> {
    above(state, run).next()
}

/// What deciding a record again gives, or why it cannot be.
fn outcome(policy: Result<Arc<Policy>, Problem>, history: &History<'_>, past: &Past) -> Result<Outcome, String> {
    match (policy, Event::from_value(without_digests(past.event.clone()))) {
        (Ok(policy), Ok(event)) if past.problem.is_none() => {
            Ok(compared(&policy, history.before(), &event, past, &history.after().session))
        }
        (policy, event) => Err(why_not(past, policy.err(), event.err())),
    }
}

fn compared(policy: &Policy, before: &State, event: &Event, past: &Past, after: &state::Session) -> Outcome {
    let answer = decided_by(policy, before, event, &past.facts);
    let words = Words::between(answer.decision.as_ref(), past.decision.as_ref());
    let records = records(policy, before, event, &answer.changes);
    let session = answer.state_after(before).session;
    let same = [
        ("facts", answer.needs.is_empty()),
        ("decision", words.same(&answer.decision, &past.decision)),
        ("records", words.same(&records, &past.records)),
        ("state", words.same(&answer.changes, &past.changes)),
        ("state", words.same(&session, after)),
    ];
    let mut differs: Vec<_> = same.into_iter().filter(|(_, same)| !same).map(|(what, _)| what).collect();
    differs.dedup();
    if differs.is_empty() && !words.0.is_empty() {
        differs.push("text");
    }
    Outcome { decision: answer.decision, differs }
}

/// The texts of an answer that are not those that were recorded: as they are now, and as they were.
struct Words(Vec<[Value; 2]>);

impl Words {
    fn between(now: Option<&Decision>, past: Option<&Decision>) -> Self {
        let (Some(now), Some(past)) = (now, past) else { return Self(Vec::new()) };
        let texts = |one: &Decision| {
            let missing = one.missing.iter().cloned();
            let texts = [one.reason.clone(), one.recovery.clone(), one.attempted.clone().unwrap_or_default()];
            texts.into_iter().chain(missing).map(Value::from).collect::<Vec<_>>()
        };
        let pairs = texts(now).into_iter().zip(texts(past)).map(|(now, past)| [now, past]);
        Self(pairs.filter(|[now, past]| now != past && now != "").collect())
    }

    /// Whether both are the same, but for these texts.
    fn same<T: PartialEq + serde::Serialize>(&self, now: &T, past: &T) -> bool {
        now == past || (!self.0.is_empty() && self.retold(now) == serde_json::to_value(past).ok())
    }

    /// A value with the texts as they were.
    fn retold(&self, now: &impl serde::Serialize) -> Option<Value> {
        let mut value = serde_json::to_value(now).ok()?;
        self.retell(&mut value);
        Some(value)
    }

    fn retell(&self, value: &mut Value) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| self.retell(item)),
            Value::Object(fields) => fields.values_mut().for_each(|field| self.retell(field)),
            Value::String(_) => {
                if let Some([_, past]) = self.0.iter().find(|[now, _]| now == value) {
                    value.clone_from(past);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
}

fn named(state: &State, run: &Run) -> Opinion {
    let is_part = |other: &Run| part_of(state, other).is_some_and(|parent| parent.id == run.id);
    Opinion {
        run: run.id.clone(),
        part_of: part_of(state, run).map(|parent| parent.id.clone()),
        has_parts: state.live_runs().any(is_part),
        skill: run.skill.clone(),
        phase: run.phase.clone(),
        mode: run.mode,
        decision: None,
    }
}

fn why_not(past: &Past, policy: Option<Problem>, event: Option<String>) -> String {
    if past.problem.is_some() {
        return "nothing was decided: the guard could not work, and answered with the problem".to_string();
    }
    match (policy, event) {
        (Some(problem), _) => problem.message,
        (None, Some(_)) if past.event.get("event").is_none() => "the message stood for no event".to_string(),
        (None, Some(_)) => "the event's text is not kept, only its digest".to_string(),
        (None, None) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_words_for_the_same_answer_are_no_other_answer() {
        let told = |reason: &str| Decision { reason: reason.into(), ..Decision::allow() };
        let kept = |reason: &str| serde_json::json!({"call": 1, "answer": {"reason": reason}});
        let words = Words::between(Some(&told("say it so")), Some(&told("said it thus")));
        assert!(words.same(&kept("say it so"), &kept("said it thus")));
        assert!(!words.same(&kept("something else"), &kept("said it thus")));
        let denied = Decision { effect: phasegate_core::Effect::Deny, ..told("said it thus") };
        assert!(words.same(&told("say it so"), &told("said it thus")) && !words.same(&told("say it so"), &denied));
        assert!(!Words::between(None, Some(&denied)).same(&1, &2));
    }
}
