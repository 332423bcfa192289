//! Which host sent a message, and how it is read.

use std::collections::BTreeMap;

use phasegate_adapter::{Frame, Message, Problem};
use phasegate_core::Code;
use serde_json::Value;

use crate::hosts::dialect::Dialect;
use crate::hosts::host::Host;
use crate::hosts::other::Other;

impl Host {
    /// How to read a message that was opened.
    pub(crate) fn dialect(&self, message: &Message) -> &'static Dialect {
        self.other(&message.body, &message.environment).and_then(|other| other.dialect).unwrap_or(self.own)
    }

    /// How to answer a message that cannot be read: as the host asks that set its variable.
    pub(crate) fn by_variable(&self, frame: &Frame) -> &'static Dialect {
        let set = |name: &str| frame.environment.contains_key(name);
        self.others
            .iter()
            .filter(|other| other.variable.is_some_and(set))
            .find_map(|other| other.dialect)
            .unwrap_or(self.own)
    }

    /// Why a message is not read: another host sent it, and its form is not known here.
    pub(crate) fn unread(&self, body: &Value, environment: &BTreeMap<String, String>) -> Option<Problem> {
        let message = match self.other(body, environment) {
            Some(Other { dialect: Some(_), .. }) => return None,
            Some(Other { name, .. }) => format!("{name} sent this message"),
            None if body.is_object() && body.get("hook_event_name").is_none() => {
                "a host that is not known here sent this message".to_owned()
            }
            None => return None,
        };
        let known = [vec![self.table.name.to_owned()], self.names(|_| true)].concat();
        Some(Problem::new(Code::HostUnknown, format!("{message}; those of {} are read", known.join(" and "))))
    }

    /// The names of the hosts whose messages are read as their documentation describes them.
    pub(crate) fn documented(&self) -> Vec<String> {
        self.names(|other| !other.recorded)
    }

    /// The names of the other hosts whose messages are read, of those that fit.
    fn names(&self, fits: impl Fn(&Other) -> bool) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for other in self.others.iter().filter(|other| other.dialect.is_some() && fits(other)) {
            if !names.iter().any(|name| name == other.name) {
                names.push(other.name.to_owned());
            }
        }
        names
    }
}
