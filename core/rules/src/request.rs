//! A call as rules see it.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Debug;

use crate::expr::Var;
use crate::known::Known;
use crate::rule::CALL;
use crate::tools::{GUARD, is_own_action};
use crate::value::{Entity, Truth, Value, field};

/// A call.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// Who calls.
    pub principal: Principal<'a>,
    /// The tool, as an action.
    pub action: Action<'a>,
    /// The arguments: a record, or unknown.
    pub input: Value<'a>,
    /// What else is known of the call: fields of `context`.
    pub context: Vec<(&'a str, Value<'a>)>,
    /// The parts of the call. One without a command and a path where there is nothing to part.
    pub parts: Vec<Part<'a>>,
    /// The truth of tests of arguments that are not known any more.
    pub known: Option<&'a Known>,
    /// Whether the question is about the tool with any arguments: it is denied only if every call of it is.
    pub open: bool,
    /// What is known of earlier calls, where rules may ask for it.
    pub facts: Option<&'a dyn Facts>,
}

/// What is known of earlier calls: facts that rules read as `context.facts.NAME`.
pub trait Facts: Debug {
    /// The value of a fact, by its key, at a part of the call; `None`: there is no such fact.
    fn value(&self, key: &str, part: usize) -> Option<Value<'static>>;
}

/// Who calls.
#[derive(Clone, Debug)]
pub struct Principal<'a> {
    /// The id of the agent: `main`, or the platform's id of the subagent.
    pub id: &'a str,
    /// Whether it is the main agent.
    pub main: bool,
    /// The type of the subagent: a text, or unknown.
    pub kind: Value<'a>,
    /// The session.
    pub session: &'a str,
    /// Who is behind the session, where the adapter established it.
    pub user: Option<&'a str>,
}

/// Which tool is called.
#[derive(Clone, Debug)]
pub struct Action<'a> {
    /// The id: `Bash`, or `SERVER/TOOL`.
    pub id: &'a str,
    /// The name of the tool.
    pub name: &'a str,
    /// The name of its server; empty for the host's own.
    pub server: &'a str,
    /// The names in the name of its server, in lower case.
    pub names: Vec<&'a str>,
    /// What it can do. None: that is not known.
    pub labels: Vec<&'a str>,
}

/// One simple command, with one path that it accesses.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part<'a> {
    /// The command: a record, or unknown.
    pub command: Option<Value<'a>>,
    /// The path: a record, or unknown.
    pub path: Option<Value<'a>>,
}

impl<'a> Request<'a> {
    /// A call of one part, of which nothing else is known.
    pub fn new(principal: Principal<'a>, action: Action<'a>, input: Value<'a>) -> Self {
        let parts = alloc::vec![Part::default()];
        Self { principal, action, input, context: Vec::new(), parts, known: None, open: false, facts: None }
    }
}

impl<'a> Request<'a> {
    /// What stands at the end of a path of attributes of a variable, at a part of the call; `None`: it is not there.
    pub fn at(&self, var: Var, path: &[String], part: usize) -> Option<Value<'a>> {
        let Some((first, rest)) = path.split_first() else {
            return Some(Value::Entity(match var {
                Var::Principal => self.principal.entity(),
                Var::Action => self.action.entity(),
                Var::Resource => self.action.tool(),
                Var::Context => return None,
            }));
        };
        let own = match var {
            Var::Principal => self.principal.attribute(first),
            Var::Resource => self.action.attribute(first),
            Var::Action => None,
            Var::Context => self.of_context(first, self.parts.get(part)?),
        };
        rest.iter().try_fold(own?, |value, name| match value {
            Value::Record(fields) => field(&fields, name).cloned(),
            Value::Unknown => Some(Value::Unknown),
            _ => None,
        })
    }

    /// A field of `context`, at a part of the call.
    pub(crate) fn of_context(&self, name: &str, part: &Part<'a>) -> Option<Value<'a>> {
        match name {
            "input" => Some(self.input.clone()),
            "command" => part.command.clone(),
            "path" => part.path.clone(),
            _ => field(&self.context, name).cloned(),
        }
    }
}

impl<'a> Principal<'a> {
    /// The main agent of a session.
    pub fn main(session: &'a str) -> Self {
        Self { id: "main", main: true, kind: Value::Text(""), session, user: None }
    }

    pub(crate) fn entity(&self) -> Entity<'a> {
        Entity { kind: "Agent", id: self.id }
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<Value<'a>> {
        Some(match name {
            "main" => Value::Bool(self.main),
            "kind" => self.kind.clone(),
            "session" => Value::Text(self.session),
            "user" => Value::Text(self.user?),
            _ => return None,
        })
    }

    /// Whether it belongs to an entity.
    pub(crate) fn is_in(&self, other: Entity<'_>) -> bool {
        match other.kind {
            "Session" => other.id == self.session,
            "User" => self.user == Some(other.id),
            _ => self.entity() == other,
        }
    }
}

impl<'a> Action<'a> {
    /// A tool of the host itself.
    pub fn new(name: &'a str, labels: impl IntoIterator<Item = &'a str>) -> Self {
        Self { id: name, name, server: "", names: Vec::new(), labels: labels.into_iter().collect() }
    }

    pub(crate) fn entity(&self) -> Entity<'a> {
        Entity { kind: "Action", id: self.id }
    }

    pub(crate) fn tool(&self) -> Entity<'a> {
        Entity { kind: "Tool", id: self.id }
    }

    /// Whether it belongs to a group: `call` (all but the actions with the guard itself), a label (`@write`), the tools of a server (`SERVER/*`).
    pub(crate) fn is_in(&self, group: &str) -> Truth {
        if group == self.id {
            return Truth::Yes;
        }
        if group == CALL {
            return Truth::of(!is_own_action(self.id));
        }
        if let Some(label) = group.strip_prefix('@') {
            return self.has_label(label);
        }
        let server = group.strip_suffix("/*").filter(|_| !is_own_action(self.id));
        Truth::of(server.is_some_and(|server| !server.is_empty() && server == self.server))
    }

    /// A tool without any label may have each but `read`, and that of the actions with the guard.
    fn has_label(&self, label: &str) -> Truth {
        if self.labels.is_empty() && label != "read" && label != GUARD {
            Truth::Unknown
        } else {
            Truth::of(self.labels.contains(&label))
        }
    }

    pub(crate) fn attribute(&self, name: &str) -> Option<Value<'a>> {
        Some(match name {
            "name" => Value::Text(self.name),
            "server" => Value::Text(self.server),
            "names" => Value::set(self.names.iter().map(|name| Value::Text(name))),
            "labels" if self.labels.is_empty() => Value::Unknown,
            "labels" => Value::set(self.labels.iter().map(|label| Value::Text(label))),
            _ => return None,
        })
    }
}

/// The id of an action: a tool's name, with its server's before it. What is no letter of ASCII, digit, `-` or `_` counts as
/// `_` in the name of a server, as clients write it.
pub fn action_id(server: Option<&str>, tool: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() || c == '-' { c } else { '_' };
    match server {
        Some(server) => server.chars().map(letter).chain(core::iter::once('/')).chain(tool.chars()).collect(),
        None => tool.into(),
    }
}
