//! Deciding a record again: from the journals alone, with the policy, the state and the facts that it had.

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

impl Runtime {
    /// Decides the record with this number in a session's journal again. Nothing is written.
    ///
    /// # Errors
    ///
    /// `command-invalid`: there is no such record. `state-unreadable`, `state-version`: as the journals show.
    pub fn again(&self, project: &Project, session: &str, seq: u64) -> Result<Again, Problem> {
        let mut history = History::open(&self.policies, project, session)?;
        let past = loop {
            match history.next_record()? {
                Some(past) if past.seq == seq => break past,
                Some(_) => {}
                None => {
                    let message = format!("the journal of session `{session}` has no record {seq}");
                    return Err(Problem::new(Code::CommandInvalid, message));
                }
            }
        };
        let (before, after) = (history.before(), history.after());
        let policy = self.policy_of(&past, after, before);
        let event = Event::from_value(without_digests(past.event.clone()));
        let (opinions, outcome) = match (policy, event) {
            (Ok(policy), Ok(event)) if past.problem.is_none() => {
                let opinions = before.live_runs().map(|run| opinion(&policy, before, run, &event, &past));
                (opinions.collect(), Ok(outcome(&policy, before, &event, &past, &after.session)))
            }
            (policy, event) => {
                let silent = |run: &Run| Opinion { decision: None, ..named(run) };
                (before.live_runs().map(silent).collect(), Err(why_not(&past, policy.err(), event.err())))
            }
        };
        Ok(Again { past, opinions, outcome })
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

/// The session's half as a record of this version keeps it: version 1 had no digest of the arguments of a call with an id.
fn comparable(mut session: state::Session, past: &Past) -> state::Session {
    if past.version == 1 {
        session.calls.iter_mut().filter(|call| call.id.is_some()).for_each(|call| {
            std::sync::Arc::make_mut(call).input.clear();
        });
    }
    session
}

fn outcome(policy: &Policy, before: &State, event: &Event, past: &Past, after: &state::Session) -> Outcome {
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
