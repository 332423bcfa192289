//! The arguments of a command to phasegate.

use serde_json::{Map, Value};

use crate::answers::denial::{DenialKind, InvalidCommand};
use crate::policy::Scope;
use crate::prelude::*;

/// The arguments of a command, none of them unknown.
pub(crate) struct Arguments<'a> {
    command: &'a str,
    fields: Option<&'a Map<String, Value>>,
}

pub(crate) fn arguments<'a>(command: &'a str, args: &'a Value, known: &[&str]) -> Result<Arguments<'a>, DenialKind> {
    let named = || command.to_string();
    let fields = match args {
        Value::Null => return Ok(Arguments { command, fields: None }),
        Value::Object(fields) => fields,
        _ => return Err(DenialKind::CommandInvalid(InvalidCommand::ArgumentsNotObject { command: named() })),
    };
    match fields.keys().find(|key| !known.contains(&key.as_str())) {
        Some(key) => {
            let invalid = InvalidCommand::ArgumentUnknown { command: named(), argument: key.clone() };
            Err(DenialKind::CommandInvalid(invalid))
        }
        None => Ok(Arguments { command, fields: Some(fields) }),
    }
}

impl<'a> Arguments<'a> {
    /// A text; `None` where it is not given.
    pub(crate) fn text(&self, key: &str) -> Result<Option<&'a str>, DenialKind> {
        match self.fields.and_then(|fields| fields.get(key)) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(DenialKind::CommandInvalid(InvalidCommand::ArgumentNotText { argument: key.to_string() })),
        }
    }

    /// A value of any form; `null` where it is not given.
    pub(crate) fn value(&self, key: &str) -> &'a Value {
        self.fields.and_then(|fields| fields.get(key)).unwrap_or(&Value::Null)
    }

    /// The values of a skill's inputs, by name.
    pub(crate) fn inputs(&self) -> &'a Value {
        self.value("inputs")
    }

    /// For whom a skill is to be in force; `None`: the command is about one run.
    pub(crate) fn scope(&self) -> Result<Option<Scope>, DenialKind> {
        Ok(match self.text("scope")? {
            None => None,
            Some("session") => Some(Scope::Session),
            Some("project") => Some(Scope::Project),
            Some(_) => return Err(DenialKind::CommandInvalid(InvalidCommand::ScopeUnknown)),
        })
    }

    /// A text that has to be given.
    pub(crate) fn required(&self, argument: &'static str) -> Result<&'a str, DenialKind> {
        let command = || self.command.to_string();
        self.text(argument)?
            .ok_or_else(|| DenialKind::CommandInvalid(InvalidCommand::ArgumentMissing { command: command(), argument }))
    }
}
