//! What differs between the hosts of the family: they speak Claude Code's hook format.

use std::collections::BTreeMap;

use phasegate_adapter::{SessionLines, Table};
use serde_json::Value;

use crate::hosts::dialect::Dialect;
use crate::hosts::other::Other;

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
    /// Whether the file holds all of the client's settings: permissions, marketplaces, the client's shell. Else only hooks.
    pub(crate) holds_all: bool,
    /// The kinds of hooks that every recorded version of the client knows.
    pub(crate) kinds: &'static [&'static str],
    /// The settings file of the project that one person keeps to themselves, where there is one.
    pub(crate) local_settings: Option<&'static str>,
    /// The folder of the machine's own settings.
    pub(crate) managed: &'static str,
    /// The file of the command `/phasegate`, below the project or the home folder, where the client knows such files.
    pub(crate) command_file: Option<&'static str>,
    /// How a shell finds out what a project asks for where the guard gives no answer.
    pub(crate) search: Search,
    /// The events whose hooks get less time than others, with the seconds.
    pub(crate) shorter: &'static [(&'static str, u32)],
    /// Whether the client starts a line once that stands in the project's and in the user's settings.
    pub(crate) once: bool,
    /// The user's file in which the client keeps the hooks that a person trusts, where it starts no others.
    pub(crate) trust_file: Option<&'static str>,
    /// The form of the file that a message names as the session's.
    pub(crate) record: RecordForm,
    /// The events that `init` hooks, in the order in which they are written.
    pub(crate) events: &'static [(&'static str, Failing)],
    /// The events at which the client goes on without end where a hook denies. No hook's line denies there.
    pub(crate) never_denied: &'static [&'static str],
    /// The recorded versions that ignore `onFailure`.
    pub(crate) ignores_on_failure: &'static [&'static str],
    /// The environment variable that moves the user's settings.
    pub(crate) config_variable: &'static str,
    /// The environment variable that says how the client was started: `cli` in a terminal, `sdk-…` without one. Empty: none.
    pub(crate) entrypoint_variable: &'static str,
    /// The environment variable that says whether a person attends the client: `1` or `0`. Empty: none.
    pub(crate) attended_variable: &'static str,
}

/// The words in which a hook's line looks for what a project asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    /// The folder that the search begins in.
    pub(crate) folder: &'static str,
    /// The settings in a project's folder.
    pub(crate) settings: &'static str,
    /// What stands before and behind the reason of a denial, so that the client takes it.
    pub(crate) denial: [&'static str; 2],
}

/// The form of a session's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordForm {
    /// The messages of the conversation.
    Messages,
    /// A rollout: the events of the session, with the end of each call before its hook is started.
    Rollout,
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
