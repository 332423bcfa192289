//! Guards that record what they are given, or answer as a case says.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use phasegate_adapter::{Guard, Problem};
use phasegate_core::{Event, Facts, Outcome, Policy, State};
use serde_json::{Value, json};

/// Lets everything through, and records the events.
#[derive(Default)]
pub(super) struct Recording {
    seen: Mutex<Vec<Value>>,
    ids: Mutex<BTreeMap<String, usize>>,
}

impl Recording {
    /// The events since the last time, with ids that are the same in every run.
    pub(super) fn taken(&self) -> Vec<Value> {
        let mut events = std::mem::take(&mut *lock(&self.seen));
        let mut ids = lock(&self.ids);
        for event in &mut events {
            let Some(id) = event.get("id").and_then(Value::as_str).map(ToOwned::to_owned) else { continue };
            let next = ids.len() + 1;
            let number = *ids.entry(id).or_insert(next);
            if let Some(fields) = event.as_object_mut() {
                fields.insert("id".into(), json!(format!("call {number}")));
            }
        }
        events
    }
}

#[async_trait]
impl Guard for Recording {
    async fn handle(&self, _: &str, event: Event) -> Result<Outcome, Problem> {
        lock(&self.seen).push(event.to_value());
        Ok(allowed(&event))
    }
}

/// What the guard says of the events of one message.
pub(crate) enum Script {
    /// These outcomes, one for each event that the case is about.
    Outcomes(Vec<Outcome>),
    /// It cannot work.
    Refuses(Problem),
}

/// Lets everything through until it is told what to answer.
#[derive(Default)]
pub(super) struct Scripted {
    outcomes: Mutex<VecDeque<Outcome>>,
    refuses: Mutex<Option<Problem>>,
}

impl Scripted {
    /// From now on, this is answered.
    pub(super) fn answers(&self, script: Script) {
        match script {
            Script::Outcomes(outcomes) => *lock(&self.outcomes) = outcomes.into(),
            Script::Refuses(problem) => *lock(&self.refuses) = Some(problem),
        }
    }
}

#[async_trait]
impl Guard for Scripted {
    async fn handle(&self, _: &str, event: Event) -> Result<Outcome, Problem> {
        let mut outcome = allowed(&event);
        // The start of a session is the relay's own event, and no case is about it.
        if matches!(event.kind, phasegate_core::EventKind::SessionStart { .. }) {
            return Ok(outcome);
        }
        if let Some(problem) = lock(&self.refuses).clone() {
            return Err(problem);
        }
        if let Some(scripted) = lock(&self.outcomes).pop_front() {
            outcome = scripted;
        }
        Ok(outcome)
    }
}

fn allowed(event: &Event) -> Outcome {
    phasegate_core::step(&Policy::default(), &State::default(), event, &Facts::default())
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
