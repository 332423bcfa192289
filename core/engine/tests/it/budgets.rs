//! Budgets against a plain model of them, over random calls of two sessions with one project.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::collections::{BTreeMap, BTreeSet};

use phasegate_core::answers::reason::DenialReason;
use phasegate_core::{Code, Event, Facts, Policy, State, step};
use proptest::prelude::*;
use serde_json::{Value, json};

const WITHIN: i64 = 100;

fn policy() -> Policy {
    let budgets = json!([
        {"name": "edits", "count": "edits", "limit": 3, "per": "project", "within": WITHIN, "mode": "block"},
        {"name": "calls", "count": "calls", "limit": 6, "per": "session", "mode": "block"},
        {"name": "files", "count": "files", "limit": 2, "per": "project", "mode": "block"},
    ]);
    serde_json::from_value(json!({"version": "v", "skills": [], "budgets": budgets})).unwrap()
}

/// What there is to know of budgets, said as simply as possible.
#[derive(Default)]
struct Model {
    since: Option<i64>,
    edits: u64,
    calls: BTreeMap<usize, u64>,
    files: BTreeSet<String>,
}

impl Model {
    /// The budget that denies the call; if none does, the call is counted.
    fn decide(&mut self, session: usize, time: i64, file: Option<&str>) -> Option<&'static str> {
        let over = self.since.is_some_and(|since| time - since >= WITHIN);
        let (since, edits) = if over { (None, 0) } else { (self.since, self.edits) };
        let calls = self.calls.get(&session).copied().unwrap_or_default();
        let new_file = file.is_some_and(|file| !self.files.contains(file));
        if file.is_some() && edits + 1 > 3 {
            return Some("edits");
        }
        if calls + 1 > 6 {
            return Some("calls");
        }
        if new_file && self.files.len() + 1 > 2 {
            return Some("files");
        }
        self.calls.insert(session, calls + 1);
        if let Some(file) = file {
            (self.since, self.edits) = (since.or(Some(time)), edits + 1);
            self.files.insert(file.to_owned());
        }
        None
    }
}

fn event(session: usize, time: i64, file: Option<&str>) -> Event {
    let call: Value = match file {
        Some(file) => json!({
            "event": "tool_call", "tool": "Edit", "input": {"file_path": file}, "time": time,
            "reading": {"paths": [{"written": file, "access": "write"}]},
        }),
        None => json!({"event": "tool_call", "tool": "Read", "input": {"file_path": "a"}, "time": time}),
    };
    let mut call = call;
    call["session"] = json!(format!("s{session}"));
    Event::from_value(call).unwrap()
}

proptest! {
    #[test]
    fn budgets_decide_as_the_model(
        calls in prop::collection::vec((0..2_usize, 0..60_i64, prop::option::of(prop::sample::select(vec!["a", "b", "c"]))), 1..60)
    ) {
        let policy = policy();
        let mut model = Model::default();
        let mut project = State::default().project;
        let mut sessions = [State::default().session, State::default().session];
        let mut time = 0;
        for (session, later, file) in calls {
            time += later;
            let mut state = State { project: project.clone(), session: sessions[session].clone() };
            let outcome = step(&policy, &state, &event(session, time, file), &Facts::new());
            outcome.apply_to(&mut state);
            (project, sessions[session]) = (state.project, state.session);
            let decision = outcome.decision.unwrap();
            let denied = match decision.admission.as_deref() {
                Some(DenialReason::Budget { which, limit, observed, .. }) => {
                    prop_assert_eq!(decision.code, Some(Code::BudgetSpent));
                    prop_assert!(observed > limit);
                    Some(which.as_str())
                }
                _ => {
                    prop_assert!(decision.lets_through());
                    None
                }
            };
            prop_assert_eq!(denied, model.decide(session, time, file));
            // The state stays bounded, and comes back as it was written.
            prop_assert!(project.tallies.len() <= 2 && sessions[session].tallies.len() <= 1);
            let text = serde_json::to_string(&project).unwrap();
            prop_assert_eq!(&serde_json::from_str::<phasegate_core::state::Project>(&text).unwrap(), &project);
        }
    }
}

/// The answers to the calls among these events, in order: the budget that denies, if one does.
fn denied(policy: &Policy, events: &[Value]) -> Vec<Option<u64>> {
    let mut state = State::default();
    let mut answers = Vec::new();
    for event in events {
        let outcome = step(policy, &state, &Event::from_value(event.clone()).unwrap(), &Facts::new());
        outcome.apply_to(&mut state);
        if let Some(decision) = outcome.decision {
            answers.push(match decision.admission.as_deref() {
                Some(DenialReason::Budget { observed, .. }) => Some(*observed),
                _ => None,
            });
        }
    }
    answers
}

#[test]
fn what_results_report_is_counted_when_they_come() {
    let budgets = json!([{
        "name": "cost", "count": "reported", "reported": "/usage/cost", "of": [{"text": "Agent", "tool": {"exact": "Agent"}, "server": "bare"}],
        "limit": 2, "per": "session", "within": WITHIN, "mode": "block",
    }]);
    let policy: Policy = serde_json::from_value(json!({"version": "v", "skills": [], "budgets": budgets})).unwrap();
    let call = |id: &str, tool: &str, time: i64| json!({"event": "tool_call", "tool": tool, "id": id, "input": {}, "time": time});
    let result = |id: &str, cost: Value, time: i64| json!({"event": "tool_result", "id": id, "ok": true, "time": time, "output": {"usage": {"cost": cost}}});
    let events = [
        call("a", "Agent", 0),
        // A second one at once passes: how much the first one costs is not known yet.
        call("b", "Agent", 1),
        result("a", json!(0.75), 10),
        call("c", "Agent", 11),
        // What is no number, or negative, counts nothing; neither does the result of a call that does not count.
        result("c", json!("9"), 12),
        call("r", "Read", 13),
        result("r", json!(9), 14),
        result("b", json!(1.25), 15),
        call("d", "Agent", 16),
        call("e", "Read", 17),
        // The time began with the first result.
        call("f", "Agent", 10 + WITHIN),
    ];
    assert_eq!(denied(&policy, &events), [None, None, None, None, Some(3), None, None]);
}

#[test]
fn a_call_that_a_person_is_asked_about_counts_when_it_has_run() {
    let budgets = json!([{"name": "calls", "count": "calls", "limit": 1, "per": "session", "mode": "block"}]);
    let rule = json!({"id": "dear", "forbids": "ask", "action": {"is": "Read"}});
    let level = json!({"rules": {"default": "permit", "rules": [rule]}});
    let policy = json!({"version": "v", "skills": [], "budgets": budgets, "rules": [level]});
    let policy: Policy = serde_json::from_value(policy).unwrap();
    let call = |id: &str| json!({"event": "tool_call", "tool": "Read", "id": id, "input": {}});
    let refused = |id: &str| json!({"event": "permission", "id": id, "outcome": "refused"});
    let result = |id: &str, outcome: &str| json!({"event": "tool_result", "id": id, "outcome": outcome});
    let events = [call("a"), refused("a"), call("b"), result("b", "refused"), call("c"), result("c", "ok"), call("d")];
    assert_eq!(denied(&policy, &events), [None, None, None, Some(2)]);
    // What nobody tells of may have run, and what goes on in the background counts once.
    assert_eq!(denied(&policy, &[call("a"), json!({"event": "stop"}), call("b")]), [None, Some(2)]);
    let on = [call("a"), result("a", "launched"), call("b"), result("a", "ok"), call("c")];
    assert_eq!(denied(&policy, &on), [None, Some(2), Some(2)]);
}
