//! Alarms: what a client's own record, or an end that the guard was told of, says against what the guard decided (rules 8).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use phasegate_core::test_report::TestReport;

/// How many alarms a project keeps; the oldest go first, those first that a person has seen.
const MAX_ALARMS: usize = 64;
/// How many of its last calls a session keeps as judged: others are looked up in its journal.
pub(crate) const MAX_JUDGED: usize = 4;

/// Something that happened past the guard.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Alarm {
    /// The session.
    pub session: String,
    /// The platform's id of the call, or a module's folder; empty where it is about none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// The canonical name of its tool; empty where that is not known.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// What happened.
    pub what: Past,
    /// Whether a person has accepted it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub seen: bool,
}

/// How something went past the guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Past {
    /// A call ran that the guard was never asked about.
    Unasked,
    /// A call ran that the guard denied.
    Denied,
    /// A call was made with other arguments than the guard decided it with.
    Altered,
    /// The guard was told another end of a call than the client recorded.
    ToldOtherwise,
    /// The client's record is gone, or shorter than it was.
    RecordLost,
    /// The client loaded a module that takes calls, and that no person has accepted.
    Module,
}

impl Alarm {
    /// That the client's record of this session is gone, or shorter than it was.
    pub(crate) fn of_record(session: &str) -> Self {
        let (id, tool) = (String::new(), String::new());
        Self { session: session.to_owned(), id, tool, what: Past::RecordLost, seen: false }
    }

    /// That the client of this session loaded a module.
    pub(crate) fn of_module(session: &str, folder: &str) -> Self {
        let (id, tool) = (folder.to_owned(), String::new());
        Self { session: session.to_owned(), id, tool, what: Past::Module, seen: false }
    }

    /// Whether evidence of its session is not to be trusted until a person has seen it.
    #[must_use]
    pub fn stands(&self) -> bool {
        !self.seen && self.what != Past::RecordLost
    }

    /// What happened, as a fragment.
    #[must_use]
    pub fn text(&self) -> String {
        let Self { session, id, tool, what, .. } = self;
        let of = if tool.is_empty() { String::new() } else { format!(" of {tool}") };
        match what {
            Past::Unasked => format!("the call `{id}`{of} ran, and the guard was never asked about it"),
            Past::Denied => format!("the call `{id}`{of} ran, although the guard denied it"),
            Past::Altered => format!("the call `{id}`{of} ran, and the guard was asked about other arguments of it"),
            Past::ToldOtherwise => {
                format!(
                    "the guard was told another end of the call `{id}`{of} than the client recorded, as where a hook or a \
                     module rewrites what tools answer"
                )
            }
            Past::Module => format!(
                "the client's module `{id}` is new or was changed, and can let calls run past the guard or change what it is told"
            ),
            Past::RecordLost => format!("the client's record of session `{session}` is gone, or shorter than it was"),
        }
    }
}

/// Adds an alarm to those that are kept; whether it is new.
pub(crate) fn add(alarms: &mut Vec<Alarm>, alarm: Alarm) -> bool {
    let same = |one: &Alarm| one.session == alarm.session && one.id == alarm.id && one.what == alarm.what;
    // A record may be lost again, and a module be changed again.
    let again = matches!(alarm.what, Past::RecordLost | Past::Module);
    if alarms.iter().any(|one| same(one) && (!again || !one.seen)) {
        return false;
    }
    alarms.push(alarm);
    while alarms.len() > MAX_ALARMS {
        alarms.remove(alarms.iter().position(|one| one.seen).unwrap_or_default());
    }
    true
}

/// What the guard decided of a call, and what it was told of its end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JudgedCall {
    /// The platform's id.
    pub id: String,
    /// Whether it was denied, each time it was asked about.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub denied: bool,
    /// What was told of its end, where it ran a program.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub told: Option<ToldEnd>,
    /// The digest of the arguments that it was let through with.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub input: String,
    /// The texts among the arguments that it was decided with, by name, where a journal was asked: a path as it is, of others
    /// the beginning of the digest.
    #[serde(skip)]
    pub given: BTreeMap<String, String>,
}

impl JudgedCall {
    /// A call that was let through.
    pub(crate) fn allowed(id: &str) -> Self {
        Self { id: id.to_owned(), ..Self::default() }
    }
}

/// What the guard was told of the end of a call that ran a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToldEnd {
    /// Whether the program succeeded.
    pub passed: bool,
    /// The reports of tests in what it printed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tests: Vec<TestReport>,
}

/// Notes a call as judged, or what was told of the end of one. The oldest of more than so many goes.
pub(crate) fn note(judged: &mut Vec<JudgedCall>, call: &JudgedCall, most: usize) {
    match judged.iter_mut().find(|one| one.id == call.id) {
        Some(known) => match &call.told {
            Some(told) => known.told = Some(told.clone()),
            None => {
                known.denied &= call.denied;
                (known.input, known.given) = (call.input.clone(), call.given.clone());
            }
        },
        None if call.told.is_some() => {}
        None => {
            judged.push(call.clone());
            let surplus = judged.len().saturating_sub(most);
            judged.drain(..surplus);
        }
    }
}
