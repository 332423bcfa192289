//! Other hosts that read this host's settings and start its hooks, each with messages of its own.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::hosts::dialect::Dialect;

/// Another host, and how its messages are told apart. The first row that fits a message counts.
#[derive(Debug)]
pub(crate) struct Other {
    /// The host's name as its makers write it.
    pub(crate) name: &'static str,
    /// The keys that each of its messages has.
    pub(crate) keys: &'static [&'static str],
    /// The keys that none of its messages has.
    pub(crate) lacks: &'static [&'static str],
    /// The environment variable that it sets for its hooks, where the keys are another host's, too.
    pub(crate) variable: Option<&'static str>,
    /// How to read its messages; `None` if they are not read.
    pub(crate) dialect: Option<&'static Dialect>,
    /// Whether its messages were recorded; else they are known from its documentation.
    pub(crate) recorded: bool,
    /// Whether the message says nothing that another one does not.
    pub(crate) silent: bool,
}

impl Other {
    /// Whether it sent this message, as far as the keys and its variable tell.
    pub(crate) fn sent(&self, body: &Value, environment: &BTreeMap<String, String>) -> bool {
        let has = |key: &&str| body.get(*key).is_some();
        let set = self.variable.is_none_or(|name| environment.contains_key(name));
        set && self.keys.iter().all(has) && !self.lacks.iter().any(has)
    }
}

/// The event that a message of another host names, in Claude Code's spelling; for a reply in its form.
pub(crate) fn event(body: &Value) -> Option<String> {
    let name =
        ["hook_event_name", "hookEventName", "event", "hookName"].iter().find_map(|key| body.get(key)?.as_str())?;
    let mut letters = name.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect())
}
