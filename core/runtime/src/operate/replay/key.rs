//! What of a transcript's state can make a difference to what follows: two states with one key go on alike.

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::evidence::condition::{Condition, Content};
use phasegate_core::policy::{Phase, Skill};
use phasegate_core::state::{Run, Status};
use phasegate_core::{Fact, FactKey, FactValue, Facts};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::Replay;

/// The fields of a run that name it, or tell of what was, and that decide nothing.
const TOLD: [&str; 18] = [
    "id",
    "version",
    "history",
    "uncounted",
    "shown",
    "call",
    "began",
    "by",
    "mode",
    "scope",
    "agents",
    "visits",
    "visit",
    "kept",
    "deprecated",
    "phase_before",
    "said_done",
    "unfinished",
];

/// The facts that the conditions of a skill ask for.
#[derive(Debug, Default)]
struct Asked {
    /// Those that have to be as they were, by the number of the condition.
    of_call: BTreeMap<u64, FactKey>,
    /// Those that are compared with the beginning of a phase, by the number under which a run keeps them.
    of_begin: BTreeMap<u64, FactKey>,
    now: BTreeSet<FactKey>,
}

impl Asked {
    fn of(skill: &Skill) -> Self {
        let mut asked = Self::default();
        for condition in skill.phases.iter().flat_map(Phase::conditions) {
            condition.each_call(&mut |test| {
                for content in test.unchanged.iter().chain(&test.written) {
                    asked.of_call.insert(test.atom.into(), content.fact.clone());
                    asked.begins(content);
                }
            });
            condition.each_leaf(&mut |leaf| match leaf {
                Condition::Unchanged(test) => {
                    asked.of_begin.insert(test.atom.into(), test.content.fact.clone());
                }
                Condition::Fact(test) => {
                    asked.now.insert(test.fact.clone());
                }
                Condition::Artifact(test) => asked.begins(&test.content),
                Condition::Approved(gate) => gate.content.iter().for_each(|content| asked.begins(content)),
                _ => {}
            });
        }
        asked
    }

    fn begins(&mut self, content: &Content) {
        self.now.insert(content.fact.clone());
        self.of_begin.extend(content.since.map(|number| (number.into(), content.fact.clone())));
    }
}

impl Replay {
    /// The newest run of a skill, in the session of the last line.
    pub fn run_of(&self, skill: &str) -> Option<&Run> {
        let session = self.latest.first().and_then(|id| self.sessions.get(id))?;
        self.project.runs.iter().chain(&session.runs).rfind(|run| run.skill == skill)
    }

    /// The key of the state, as a run of this skill sees it: the live runs without ids, history and tallies; visits by what they
    /// count for; and what was, by whether it still is.
    pub fn key(&self, skill: &Skill) -> String {
        let asked = Asked::of(skill);
        let session = self.latest.first().and_then(|id| self.sessions.get(id));
        let runs = self.project.runs.iter().chain(session.iter().flat_map(|session| session.runs.iter()));
        let runs: Vec<Value> =
            runs.filter(|run| run.status == Status::Active).map(|run| self.seen(run, &asked)).collect();
        let there = |key: &FactKey| self.now(key) != Value::Null && self.now(key) != json!({});
        let now: Vec<bool> = asked.now.iter().map(there).collect();
        json!([runs, now]).to_string()
    }

    fn seen(&self, run: &Run, asked: &Asked) -> Value {
        let mut seen = serde_json::to_value(run).unwrap_or_default();
        let Some(fields) = seen.as_object_mut() else { return seen };
        TOLD.iter().for_each(|name| drop(fields.remove(*name)));
        let counts_for = |visit: Option<u64>| {
            let is = |other: u32| visit == Some(u64::from(other));
            if is(run.visit) {
                "now"
            } else if run.provisional.as_ref().is_some_and(|from| is(from.visit)) {
                "provisional"
            } else if run.kept.iter().any(|(_, kept)| is(*kept)) {
                "kept"
            } else {
                "over"
            }
        };
        let sets = ["evidence", "approvals", "rejected", "failed_backs"];
        for (name, value) in fields.iter_mut() {
            if name == "provisional" {
                value.as_object_mut().map(|from| (from.remove("visit"), from.remove("skipped")));
            }
            let Some(list) = value.as_array_mut().filter(|_| sets.contains(&name.as_str())) else { continue };
            let texts: BTreeSet<String> = list
                .drain(..)
                .filter_map(|mut one| {
                    let visit = counts_for(one.get("visit").and_then(Value::as_u64));
                    let stays = self.stays(&one, asked)?;
                    let fields = one.as_object_mut()?;
                    fields.insert("visit".into(), visit.into());
                    fields.insert("as_of".into(), stays.into());
                    ["content", "by", "at"].iter().for_each(|name| drop(fields.remove(*name)));
                    Some(one.to_string())
                })
                .collect();
            list.extend(texts.into_iter().map(Value::from));
        }
        seen
    }

    /// Whether what was kept beside an entry is still so. `None`: the entry proves nothing any more.
    fn stays(&self, entry: &Value, asked: &Asked) -> Option<bool> {
        let atom = entry.get("atom").and_then(Value::as_u64);
        let is = |field: &str, key: &FactKey| entry.get(field).unwrap_or(&Value::Null) == &self.now(key);
        if let Some(key) = atom.and_then(|atom| asked.of_call.get(&atom)) {
            return is("as_of", key).then_some(true);
        }
        if let Some(key) = atom.and_then(|atom| asked.of_begin.get(&atom)) {
            return Some(is("as_of", key));
        }
        let gate = entry.pointer("/gate/content/fact").and_then(|fact| FactKey::deserialize(fact).ok());
        gate.is_none_or(|key| is("content", &key)).then_some(true)
    }

    /// The value of a fact as lines tell it now; `null`: it is not there, or not known.
    fn now(&self, key: &FactKey) -> Value {
        let mut facts = Facts::new();
        self.files.gather(&self.policy, std::slice::from_ref(key), &mut facts);
        match facts.remove(key) {
            Some(Fact { value: FactValue::Known(value), .. }) => value,
            _ => Value::Null,
        }
    }
}
