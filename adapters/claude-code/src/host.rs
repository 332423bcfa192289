//! What differs between the hosts of the family: they speak Claude Code's hook format.

use std::collections::BTreeMap;

use phasegate_adapter::{SessionLines, Table};
use serde_json::Value;

use crate::dialect::Dialect;
use crate::other::Other;

/// A host of the family as data.
#[derive(Debug)]
pub(crate) struct Host {
    /// What every platform has.
    pub(crate) table: Table,
    /// The words of its own messages.
    pub(crate) own: &'static Dialect,
    /// The other hosts that start its hooks.
    pub(crate) others: &'static [Other],
    /// Reads the files in which it keeps its sessions.
    pub(crate) sessions: Option<&'static dyn SessionLines>,
    /// The settings file that `init` writes, below the project or the home folder.
    pub(crate) settings: &'static str,
    /// The settings file of the project that one person keeps to themselves.
    pub(crate) local_settings: &'static str,
    /// The folder of the machine's own settings.
    pub(crate) managed: &'static str,
    /// The file of the command `/phasegate`, below the project or the home folder.
    pub(crate) command_file: &'static str,
    /// The events that `init` hooks, in the order in which they are written.
    pub(crate) events: &'static [(&'static str, Failing)],
    /// The recorded versions that ignore `onFailure`.
    pub(crate) ignores_on_failure: &'static [&'static str],
    /// The environment variable that moves the user's settings.
    pub(crate) config_variable: &'static str,
    /// The environment variable that says how the client was started: `cli` in a terminal, `sdk-…` without one.
    pub(crate) entrypoint_variable: &'static str,
    /// The environment variable that says whether a person attends the client: `1` or `0`.
    pub(crate) attended_variable: &'static str,
}

/// What happens to the event when the guard cannot run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failing {
    /// It is denied.
    Closed,
    /// It goes on: there is nothing to deny, or a block would do harm (`Stop` would go on for ever).
    Open,
}

impl Host {
    /// The other host that sent this message.
    pub(crate) fn other(&self, body: &Value, environment: &BTreeMap<String, String>) -> Option<&'static Other> {
        self.others.iter().find(|other| other.sent(body, environment))
    }

    /// The variables by which other hosts are told apart.
    pub(crate) fn other_variables(&self) -> impl Iterator<Item = &'static str> {
        self.others.iter().filter_map(|other| other.variable)
    }

    /// What follows the program in a hook's command.
    pub(crate) fn arguments(&self) -> String {
        format!("hook {}", self.table.id)
    }

    /// The events that are denied when the guard cannot run.
    pub(crate) fn closed_events(&self) -> impl Iterator<Item = &'static str> {
        self.events.iter().filter(|(_, failing)| *failing == Failing::Closed).map(|(event, _)| *event)
    }
}
