//! Deciding a record again: from the journals alone, with the policy, the state and the facts that it had.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Arc;

use phasegate_adapter::Problem;
use phasegate_core::policy::Mode;
use phasegate_core::state::{self, Run};
use phasegate_core::{Code, Decision, Event, Policy, State, records};

use super::history::{History, Past, without_digests};
use crate::decide::decided_by;
use crate::project::Project;
use crate::runtime::Runtime;
use crate::snapshot::SessionSnapshot;

/// A record, and what deciding it again gives.
#[derive(Clone, Debug)]
pub struct Again {
    /// The record.
    pub past: Past,
    /// The runs that were live before it, and what each of them says to the event when it is asked alone.
    pub opinions: Vec<Opinion>,
    /// What deciding it again gives; the text says why it cannot be decided again.
    pub outcome: Result<Outcome, String>,
}

/// What one run says to an event.
#[derive(Clone, Debug, PartialEq)]
pub struct Opinion {
    /// The run's id.
    pub run: String,
    /// The name of its skill.
    pub skill: String,
    /// The name of the phase that it was in.
    pub phase: String,
    /// What its violations lead to.
    pub mode: Mode,
    /// Its answer; `None` where the event asks for none, or its policy is gone.
    pub decision: Option<Decision>,
}

/// What deciding a record again gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// The answer.
    pub decision: Option<Decision>,
    /// What is not as it was recorded: `decision`, `records`, `state`, `facts`. Empty: the same bytes.
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
    match (policy, Event::from_value(without_digests(past.event.clone()))) {
        (Ok(policy), Ok(event)) if past.problem.is_none() => {
            before.live_runs().map(|run| opinion(policy, before, run, &event, past)).collect()
        }
        _ => before.live_runs().map(named).collect(),
    }
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

/// The session's half as a record of this version keeps it: version 1 had no digest of the arguments of a call with an id.
fn comparable(mut session: state::Session, past: &Past) -> state::Session {
    if past.version == 1 {
        session.calls.iter_mut().filter(|call| call.id.is_some()).for_each(|call| {
            Arc::make_mut(call).input.clear();
        });
    }
    session
}

fn compared(policy: &Policy, before: &State, event: &Event, past: &Past, after: &state::Session) -> Outcome {
    let answer = decided_by(policy, before, event, &past.facts);
    let same = [
        ("facts", answer.needs.is_empty()),
        ("decision", answer.decision == past.decision),
        ("records", records(policy, before, event, &answer.changes) == past.records),
        ("state", past.version == 1 || answer.changes == past.changes),
        ("state", comparable(answer.state_after(before).session, past) == comparable(after.clone(), past)),
    ];
    let mut differs: Vec<_> = same.into_iter().filter(|(_, same)| !same).map(|(what, _)| what).collect();
    differs.dedup();
    Outcome { decision: answer.decision, differs }
}

/// What a run says alone: the engine is asked with a state in which no other run is live.
fn opinion(policy: &Policy, before: &State, run: &Run, event: &Event, past: &Past) -> Opinion {
    let mut alone = before.clone();
    alone.project.runs.retain(|other| other.id == run.id);
    alone.session.runs.retain(|other| other.id == run.id);
    Opinion { decision: decided_by(policy, &alone, event, &past.facts).decision, ..named(run) }
}

fn named(run: &Run) -> Opinion {
    Opinion { run: run.id.clone(), skill: run.skill.clone(), phase: run.phase.clone(), mode: run.mode, decision: None }
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
