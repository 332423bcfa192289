//! What the journals keep as state: the engine's, and what the runtime needs besides.

use std::collections::BTreeMap;

use phasegate_adapter::Problem;
use phasegate_core::{Code, state};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ancestors::Process;
use crate::journal::Last;
use crate::policy_store::KeptSettings;

/// How many sessions' anchors the project keeps; the oldest go first.
const ANCHORS: usize = 256;

/// The state in a session's journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeptSession {
    /// The engine's half.
    pub session: state::Session,
    /// The client's processes that have served it, the newest last; those that have ended make room.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub clients: Vec<Process>,
    /// Who was behind the last event that said so, as the adapter established it: a client of a server for many.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub principal: Option<String>,
    /// What the adapter remembers.
    #[serde(skip_serializing_if = "Value::is_null")]
    pub memory: Value,
    /// The settings the session began with.
    pub settings: KeptSettings,
    /// The digest of the file that its policy is stored in; empty if it has none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub policy_digest: String,
    /// Why the platform's settings did not start the guard when the session began; absent: they did, or nobody looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unwired: Option<String>,
    /// Whether the record with this state changed what matters, so that the project is still to note how far the
    /// journal has come.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub anchor_due: bool,
    /// How many of its records the project had noted, as far as the session saw; the project forgets the oldest notes.
    #[serde(skip_serializing_if = "is_zero")]
    pub anchored: u64,
    /// How many records of the project's journal were on the disk for good.
    pub project: u64,
    /// Whether the session was under way when first seen, and nothing was known of its project: it is denied in block
    /// mode until it starts anew.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// The state in a project's journal.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeptProject {
    /// The engine's half.
    pub project: state::Project,
    /// How far the journal of each session had come, by the name of its file.
    pub sessions: BTreeMap<String, Anchor>,
    /// The number of the last record that was on the disk for good when its answer went out.
    pub synced: u64,
    /// Whether the project is remembered as guarded, so that its memory must be there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub guarded: bool,
    /// Whether the first session seen here was under way: what is kept may have been lost, and a session that was not
    /// seen to start is denied in block mode.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub lost: bool,
}

/// How far the journal of a session had come: a journal that is shorter now was tampered with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Anchor {
    /// The number of its last record.
    pub seq: u64,
    /// The chain hash of that record.
    pub head: String,
    /// When that was, in milliseconds since 1970-01-01 UTC.
    pub time: i64,
}

impl KeptProject {
    /// Notes how far a session's journal has come.
    pub fn anchor(&mut self, session: &str, anchor: Anchor) {
        self.sessions.insert(session.to_string(), anchor);
        if self.sessions.len() > ANCHORS {
            let oldest = self.sessions.iter().min_by_key(|(_, anchor)| anchor.time).map(|(name, _)| name.clone());
            oldest.and_then(|name| self.sessions.remove(&name));
        }
    }
}

/// The state in the last record of a journal; the beginning if there is none.
///
/// # Errors
///
/// `state-unreadable`: the state is not in the form this version writes.
pub fn kept<T: Default + serde::de::DeserializeOwned>(last: Option<&Last>) -> Result<T, Problem> {
    from_state(last.map(|last| &last.state))
}

/// As [`kept`], from the state itself.
pub(crate) fn from_state<T: Default + serde::de::DeserializeOwned>(state: Option<&Value>) -> Result<T, Problem> {
    state.map_or_else(|| Ok(T::default()), T::deserialize).map_err(|error| {
        Problem::new(Code::StateUnreadable, format!("the state in the journal is not in a known form: {error}"))
    })
}
