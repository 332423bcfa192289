//! Alarms: what a client's own record, or an end that the guard was told of, says against what the guard decided (rules 8).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use phasegate_core::shell::test_report::TestReport;

/// How many alarms of one session a project keeps until a person has seen them; of more it keeps the number.
const MAX_OF_SESSION: usize = 16;
/// How many alarms a project keeps that a person has seen; the oldest go first.
const MAX_SEEN: usize = 64;
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
    /// How many more there were in the session.
    #[serde(default, skip_serializing_if = "phasegate_core::values::is_default")]
    pub more: u64,
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
    /// A line ran that was let through only to be held by the client's shell, which did not run it.
    NotHeld,
    /// The client loaded a module that takes calls, and that no person has accepted.
    Module,
}

impl Alarm {
    /// That this happened in a session, to the call with this id or the module in this folder.
    pub(crate) fn new(session: &str, what: Past, id: &str) -> Self {
        let (session, id, tool) = (session.to_owned(), id.to_owned(), String::new());
        Self { session, id, tool, what, seen: false, more: 0 }
    }

    /// Whether evidence of its session is not to be trusted until a person has seen it.
    pub fn stands(&self) -> bool {
        !self.seen && self.what != Past::RecordLost
    }

    /// What happened, as a fragment.
    pub fn text(&self) -> String {
        let Self { session, id, tool, what, more, .. } = self;
        if *more > 0 {
            return format!("{} (and {more} more in that session)", Self { more: 0, ..self.clone() }.text());
        }
        let of = if tool.is_empty() { String::new() } else { format!(" of {tool}") };
        match what {
            Past::Unasked => format!("the call `{id}`{of} ran, and the guard was never asked about it"),
            Past::Denied => format!("the call `{id}`{of} ran, although the guard denied it"),
            Past::Altered => format!("the call `{id}`{of} ran, and the guard was asked about other arguments of it"),
            Past::NotHeld => format!(
                "the line of the call `{id}`{of} was to keep no change, and ran in another shell than the guard's"
            ),
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

/// Adds an alarm to those that are kept; whether it is new. What no person has seen stays.
pub(crate) fn add(alarms: &mut Vec<Alarm>, alarm: Alarm) -> bool {
    let same = |one: &Alarm| one.session == alarm.session && one.id == alarm.id && one.what == alarm.what;
    // A record may be lost again, and a module be changed again.
    let again = matches!(alarm.what, Past::RecordLost | Past::Module);
    if alarms.iter().any(|one| same(one) && (!again || !one.seen)) {
        return false;
    }
    let mut own = alarms.iter_mut().filter(|one| !one.seen && one.session == alarm.session);
    match own.nth(MAX_OF_SESSION - 1) {
        Some(last) => last.more = last.more.saturating_add(1),
        None => alarms.push(alarm),
    }
    let seen = alarms.iter().filter(|one| one.seen).count();
    for _ in MAX_SEEN..seen {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_alarm_that_nobody_has_seen_stays_however_many_follow() {
        let mut alarms = Vec::new();
        for session in ["a", "b"] {
            for number in 0..100 {
                assert!(add(&mut alarms, Alarm::new(session, Past::Unasked, &format!("t{number}"))));
            }
        }
        assert_eq!(alarms.len(), 2 * MAX_OF_SESSION);
        let of_a: Vec<&Alarm> = alarms.iter().filter(|one| one.session == "a").collect();
        assert_eq!((of_a[0].id.as_str(), of_a[MAX_OF_SESSION - 1].more), ("t0", 84));
        assert!(of_a[MAX_OF_SESSION - 1].text().ends_with("asked about it (and 84 more in that session)"));
        assert!(!add(&mut alarms, Alarm::new("a", Past::Unasked, "t0")), "known");
        for number in 0..100 {
            alarms.iter_mut().for_each(|one| one.seen = true);
            add(&mut alarms, Alarm::new(&format!("s{number}"), Past::Denied, "t"));
        }
        assert_eq!((alarms.len(), alarms[MAX_SEEN].session.as_str()), (MAX_SEEN + 1, "s99"));
    }
}
