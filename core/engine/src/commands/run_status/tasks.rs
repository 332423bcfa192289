//! The plan whose elements a run's phase runs: each with its wave, how far it is, and who does it.

use serde_json::{Map, Value, json};

use crate::answers::phrase;
use crate::policy::Phase;
use crate::policy::plan::{Element, PlanProgress};
use crate::prelude::*;
use crate::runs::tree;
use crate::state::{Run, State, Status};

/// The plan of a run, which stands in this phase.
pub(super) fn plan(state: &State, run: &Run, phase: &Phase, progress: &PlanProgress) -> Value {
    let elements = progress.plan.elements.iter().enumerate();
    let elements = elements.map(|(at, element)| of_element(state, run, progress, Numbered { at, element }));
    let gate = phase.done_when.as_ref().filter(|_| phase.run.as_ref().is_some_and(|runs| runs.gate));
    json!({
        "path": progress.plan.path,
        "wave": progress.plan.waves.get(progress.wave),
        "gate": run.at_gate(),
        "gate_asks": gate.map(phrase::wanted),
        "elements": elements.collect::<Vec<_>>(),
    })
}

/// An element and its index.
struct Numbered<'a> {
    at: usize,
    element: &'a Element,
}

fn of_element(state: &State, run: &Run, progress: &PlanProgress, numbered: Numbered<'_>) -> Value {
    let Numbered { at, element } = numbered;
    let own = |part: &&Run| part.branch.as_ref().is_some_and(|branch| branch.place == at && !branch.void);
    let part = tree::parts(state, run).find(own);
    let is_ready = progress.ready().any(|(place, _)| place == at);
    let word = match part.map(|part| part.status) {
        _ if progress.skipped.contains(&at) => "skipped",
        _ if progress.finished.contains(&at) => "finished",
        Some(Status::Failed) => "failed",
        Some(Status::Left) => "left",
        Some(Status::Active) => "live",
        None if is_ready => "live",
        Some(Status::Finished) | None => "waits",
    };
    let name = |place: &usize| progress.plan.elements.get(*place).map(|other| other.id.as_str());
    let waits = element.after.iter().filter(|place| !progress.finished.contains(place)).filter_map(name);
    let mut fields = Map::from_iter([
        ("id".to_string(), json!(element.id)),
        ("wave".to_string(), json!(progress.plan.waves.get(element.wave))),
        ("state".to_string(), json!(word)),
    ]);
    if !element.after.is_empty() {
        fields.insert("after".to_string(), json!(element.after.iter().filter_map(name).collect::<Vec<_>>()));
    }
    if word == "waits" {
        fields.insert("waits_for".to_string(), json!(waits.collect::<Vec<_>>()));
    }
    if let Some(part) = part {
        fields.insert("run".to_string(), json!(part.id));
        if part.status == Status::Active && part.stands_still() {
            fields.insert("stopped".to_string(), json!(true));
        }
        if part.status != Status::Finished {
            fields.insert("phase".to_string(), json!(part.phase));
        }
        let branch = part.branch.as_ref();
        let bound = [
            ("agent", branch.and_then(|branch| branch.agent.as_ref())),
            ("session", branch.and_then(|branch| branch.session.as_ref())),
        ];
        fields.extend(bound.into_iter().filter_map(|(key, value)| Some((key.to_string(), json!(value?)))));
    }
    Value::Object(fields)
}
