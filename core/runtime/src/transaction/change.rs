//! How a record says what the session's journal keeps: by what changed, found without writing out what did not.

use std::mem::take;

use phasegate_core::state::{OpenCall, Session};
use serde_json::{Value, json};

use super::{Transaction, to_value};
use crate::kept::KeptSession;
use phasegate_formats::merge_patch::{self as patch, Patch, difference, difference_but};

/// The state after a record.
pub(super) enum Change {
    /// All of it.
    Whole(Value),
    /// What of it changed, as a merge patch.
    Patch(Value),
}

/// The field of what is kept that is the engine's half.
const ENGINE: &str = "session";

impl Transaction<'_> {
    /// What changes from the last record to this state of the engine; without one, to the state as it is.
    pub(super) fn change(&mut self, after: Option<&mut Session>, anchor_due: bool) -> Change {
        match self.patch(after.as_deref(), anchor_due) {
            Some(patch) => {
                debug_assert_eq!(
                    patched(self.session_journal.state(), &patch),
                    self.whole(after, anchor_due),
                    "the patch leads elsewhere: {patch}"
                );
                Change::Patch(patch)
            }
            None => Change::Whole(self.whole(after, anchor_due)),
        }
    }

    /// `None`: no merge patch can say it, or there is no record before.
    fn patch(&mut self, after: Option<&Session>, anchor_due: bool) -> Option<Value> {
        let engine = match after {
            Some(after) => session_patch(&self.state.session, after)?,
            None => json!({}),
        };
        let rest = self.kept(&mut Session::default(), anchor_due);
        let mut patch = to_value(&difference_but(self.session_journal.state()?, &rest, ENGINE)?);
        if engine.as_object().is_none_or(|fields| !fields.is_empty()) {
            patch.as_object_mut()?.insert(ENGINE.to_string(), engine);
        }
        Some(patch)
    }

    fn whole(&mut self, after: Option<&mut Session>, anchor_due: bool) -> Value {
        if let Some(after) = after {
            return self.kept(after, anchor_due);
        }
        let mut now = take(&mut self.state.session);
        let value = self.kept(&mut now, anchor_due);
        self.state.session = now;
        value
    }

    /// What the session's journal keeps with this state of the engine. Nothing is copied for it.
    fn kept(&mut self, session: &mut Session, anchor_due: bool) -> Value {
        let own = &mut self.own;
        let kept = KeptSession {
            session: take(session),
            principal: take(&mut own.principal),
            memory: take(&mut own.memory),
            clients: take(&mut own.clients),
            settings: take(&mut own.settings),
            policy_digest: take(&mut own.policy_digest),
            unwired: take(&mut own.unwired),
            anchored: own.anchored,
            anchor_due,
            project: self.shared.kept.synced,
            lost: own.lost,
        };
        let value = to_value(&kept);
        *session = kept.session;
        (own.principal, own.memory, own.clients) = (kept.principal, kept.memory, kept.clients);
        (own.settings, own.policy_digest, own.unwired) = (kept.settings, kept.policy_digest, kept.unwired);
        value
    }
}

/// The merge patch between two states of the engine. What both have is not written out for it.
fn session_patch(before: &Session, after: &Session) -> Option<Value> {
    let (old, new) = (apart(before, after), apart(after, before));
    let patch: Patch<'_> = difference(&old, &new)?;
    Some(to_value(&patch))
}

/// A state without what another one has as well, in the long lists.
fn apart(state: &Session, other: &Session) -> Value {
    let lists = |own: &[_], others: &[_]| if own == others { Vec::new() } else { own.to_vec() };
    let own = Session {
        id: state.id.clone(),
        events: state.events,
        source: state.source,
        parent: state.parent.clone(),
        ended: state.ended,
        permission_mode: state.permission_mode.clone(),
        runs_begun: state.runs_begun,
        runs: lists(&state.runs, &other.runs),
        calls: calls_apart(&state.calls, &other.calls),
        agents: if state.agents == other.agents { Vec::new() } else { state.agents.clone() },
        obligations: if state.obligations == other.obligations { Vec::new() } else { state.obligations.clone() },
    };
    to_value(&own)
}

/// The calls that the other list does not have, or not like this. Both are in the order of their numbers.
fn calls_apart(calls: &[OpenCall], others: &[OpenCall]) -> Vec<OpenCall> {
    let mut others = others.iter().peekable();
    let mut apart = Vec::new();
    for call in calls {
        while others.next_if(|other| other.number < call.number).is_some() {}
        if others.next_if(|other| other.number == call.number) != Some(call) {
            apart.push(call.clone());
        }
    }
    apart
}

fn patched(state: Option<&Value>, patch: &Value) -> Value {
    let mut state = state.cloned().unwrap_or_default();
    patch::apply(&mut state, patch.clone());
    state
}
