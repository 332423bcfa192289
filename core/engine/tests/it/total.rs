//! `step` is total and deterministic, whatever comes in.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

use phasegate_core::Durability;
use phasegate_core::policy::Scope;
use phasegate_core::{Change, Event, Facts, Policy, State, records, step};
use proptest::prelude::*;
use serde_json::{Value, json};

/// A policy with evidence, edges, rollback edges, files, a project scope and both modes.
fn policy() -> Policy {
    let matcher = |text: &str| json!({"text": text, "tool": {"exact": text}, "server": "bare"});
    let call = |atom: u32, text: &str, wanted: Value| json!({"call": {"atom": atom, "wanted": wanted, "matcher": matcher(text)}});
    let ok = json!({"outcome": "ok"});
    let skill = |name: &str, scope: &str, mode: &str, leave: &str| {
        json!({
            "name": name, "description": "", "version": name, "seed": false, "mode": mode, "scope": scope,
            "unlisted": "read_only", "leave_skill": "finished", "servers": ["lsp"],
            "tools": [{"matcher": matcher("look"), "labels": ["read"], "example": {"path": "a"}}],
            "global_forbidden": [matcher("never")],
            "phases": [
                {"name": "one", "do": "", "allowed": [matcher("look")], "forbidden": [matcher("Edit")],
                 "requires": null, "done_when": call(0, "look", ok.clone()), "optional": "no", "leave": leave,
                 "next": [{"to": 1}, {"to": 2, "early": true, "when": {"approved": "x"}}], "back": []},
                {"name": "two", "do": "", "allowed": [matcher("Bash")], "forbidden": [],
                 "requires": null, "done_when": {"any": [call(1, "Bash", ok.clone()), {"fact": {"fact": "file:plan.md", "is": {"exists": true}, "text": "file plan.md exists"}}]},
                 "optional": {"when": {"fact": {"fact": "count:[\"skip\",\"x\"]", "is": {"within": {"at_least": 1, "at_most": 3}}, "text": "x 1 to 3 times"}}},
                 "leave": leave, "next": [{"to": 2}], "back": []},
                {"name": "three", "do": "", "allowed": [matcher("Edit"), matcher("Write")], "forbidden": [],
                 "requires": {"not": call(2, "Bash", json!({"outcome": "failed"}))}, "done_when": call(3, "Edit", json!("ended")),
                 "optional": "no", "leave": leave, "next": [], "back": [{"to": 0, "limit": 2, "on_failure": true}, {"to": 1, "limit": 1}]},
            ],
        })
    };
    let skills = [
        skill("a", "session", "block", "on_call"),
        skill("b", "project", "warn", "on_done"),
        skill("c", "session", "warn", "on_done"),
    ];
    let budgets = json!([
        {"name": "calls", "count": "calls", "limit": 3, "per": "session", "mode": "warn"},
        {"name": "edits", "count": "edits", "limit": 2, "per": "project", "within": 1000, "mode": "block"},
        {"name": "files", "count": "files", "limit": 2, "per": "phase", "mode": "block"},
    ]);
    serde_json::from_value(json!({"version": "v", "skills": skills, "budgets": budgets})).unwrap()
}

fn event() -> impl Strategy<Value = Event> {
    let tool = prop::sample::select(vec!["look", "Edit", "Write", "Bash", "never", "Read", "other", "Agent"]);
    let id = prop::option::of(prop::sample::select(vec!["1", "2", "3"]));
    let agent =
        prop::sample::select(vec![Value::Null, json!({"id": "s1", "type": "t"}), json!({"id": "", "type": "m"})]);
    let outcome = prop::sample::select(vec!["ok", "failed", "refused", "launched", "cancelled", "unknown"]);
    let skill = prop::sample::select(vec!["a", "b", "c", "none"]);
    let by = prop::sample::select(vec!["agent", "human", "platform"]);
    let command = prop::sample::select(vec![
        "activate_skill",
        "deactivate_skill",
        "get_skill_phase",
        "approve",
        "skip_phase",
        "advance",
        "retry_element",
        "skip_element",
        "set_mode",
        "set_access",
        "nonsense",
    ]);
    let args = prop::sample::select(vec![
        Value::Null,
        json!({}),
        json!({"skill_name": "a"}),
        json!({"skill_name": "c", "mode": "block"}),
        json!({"mode": "warn"}),
        json!({"name": "x"}),
        json!({"phase": "two", "who": "x"}),
        json!({"name": "a", "run": "r1"}),
        json!({"id": "T1"}),
        json!({"access": "readonly"}),
        json!({"access": "normal"}),
        json!({"odd": 1}),
        json!(7),
    ]);
    let server = prop::option::of(prop::sample::select(vec!["lsp", "evil"]));
    let code = prop::option::of(0..3_i64);
    ((tool, id, agent, outcome), (skill, by, command, args), (server, code), 0..14_usize).prop_map(
        |((tool, id, agent, outcome), (skill, by, command, args), (server, code), kind)| {
            let mut line = match kind {
                0..4 => json!({"event": "tool_call", "tool": tool, "id": id, "server": server, "input": {}}),
                4..7 => json!({"event": "tool_result", "id": id, "outcome": outcome, "exit_code": code}),
                7 => json!({"event": "skill", "name": skill, "by": by}),
                8 => json!({"event": "command", "by": by, "name": command, "args": args}),
                9 => json!({"event": "batch_end"}),
                10 => json!({"event": "subagent_start", "id": "s1", "type": "t", "call": id}),
                11 => json!({"event": "subagent_stop", "id": "s1", "type": "t"}),
                12 => json!({"event": "permission", "id": id, "outcome": "refused"}),
                _ => json!({"event": "session_start", "source": "resume"}),
            };
            if !agent.is_null() {
                line["agent"] = agent;
            }
            Event::from_value(line).unwrap()
        },
    )
}

fn facts() -> impl Strategy<Value = Facts> {
    let file = prop::sample::select(vec![json!("unknown"), json!("absent"), json!({"known": "00"})]);
    let count = prop::sample::select(vec![json!("unknown"), json!("absent"), json!({"known": 2}), json!({"known": 9})]);
    (file, count).prop_map(|(file, count)| {
        let fact = |value| json!({"value": value, "source": "guard"});
        serde_json::from_value(json!({"file:plan.md": fact(file), "count:[\"skip\",\"x\"]": fact(count)})).unwrap()
    })
}

fn only(changes: &[Change], scope: Scope) -> Vec<Change> {
    changes.iter().filter(|change| change.scope() == scope).cloned().collect()
}

/// What later decisions depend on: all but calls, agents, counters, the names of tools that were called, and what did not
/// count.
fn lasting(state: &State) -> Value {
    let mut runs = state.session.runs.clone();
    runs.iter_mut().for_each(|run| (run.history, run.uncounted) = Default::default());
    let owed: Vec<_> = state.session.obligations.iter().map(|owed| owed.id.clone()).collect();
    json!({"runs": runs, "owed": owed, "project": state.project})
}

/// Whether a run began, moved or ended.
fn changes_runs(before: &State, after: &State) -> bool {
    let stands = |state: &State| {
        let runs = state.project.runs.iter().chain(&state.session.runs);
        runs.map(|run| (run.id.clone(), run.phase.clone(), run.status)).collect::<Vec<_>>()
    };
    stands(before) != stands(after)
}

/// As many cases as `PROPTEST_CASES` says, or as a few seconds allow.
fn config() -> ProptestConfig {
    let told = ProptestConfig::default();
    if std::env::var_os("PROPTEST_CASES").is_some() { told } else { ProptestConfig { cases: 256, ..told } }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn any_sequence_of_events_is_decided_and_twice_the_same(
        events in prop::collection::vec((event(), facts()), 1..40),
    ) {
        let policy = policy();
        let mut state = State::default();
        for (event, facts) in events {
            let one = step(&policy, &state, &event, &facts);
            let two = step(&policy, &state, &event, &facts);
            prop_assert_eq!(serde_json::to_vec(&one.changes).unwrap(), serde_json::to_vec(&two.changes).unwrap());
            prop_assert_eq!(&one, &two);
            prop_assert!(one.needs.is_empty(), "all facts were given");
            let wanted = step(&policy, &state, &event, &Facts::new()).needs;
            prop_assert!(wanted.iter().all(|key| facts.contains_key(key)));
            let after = one.state_after(&state);
            for run in after.live_runs() {
                let skill = policy.skill_version(&run.skill, &run.version).unwrap();
                prop_assert!(skill.phase_index(&run.phase).is_some());
            }
            state = after;
        }
    }

    #[test]
    fn changes_lead_to_the_state_that_the_outcome_tells_of(
        events in prop::collection::vec((event(), facts()), 1..40),
    ) {
        let policy = policy();
        let mut state = State::default();
        for (event, facts) in events {
            let outcome = step(&policy, &state, &event, &facts);
            let (session, project) = (only(&outcome.changes, Scope::Session), only(&outcome.changes, Scope::Project));
            let after = outcome.state_after(&state);
            // A subagent is told of its own run alone.
            if event.subagent().is_none() && !matches!(event.kind, phasegate_core::EventKind::SubagentStart { .. }) {
                prop_assert_eq!(&after.session.obligations, &outcome.obligations);
            }
            let phases: Vec<_> = after.live_runs().map(|run| (run.id.clone(), run.phase.clone())).collect();
            let told = outcome.runs.iter().flatten().map(|run| (run.id.clone(), run.phase.clone()));
            prop_assert_eq!(phases, told.collect::<Vec<_>>());
            // As JSON, each half from its own changes.
            let written: Vec<Change> = serde_json::from_str(&serde_json::to_string(&outcome.changes).unwrap()).unwrap();
            prop_assert_eq!(&written, &outcome.changes);
            let mut halves = (state.clone(), state.clone());
            session.iter().for_each(|change| halves.0.apply(change));
            project.iter().for_each(|change| halves.1.apply(change));
            prop_assert_eq!(&halves.0.session, &after.session);
            prop_assert_eq!(&halves.1.project, &after.project);
            // What is not durable is not asked about later.
            if outcome.changes.iter().all(|change| change.durability() == Durability::Written) {
                prop_assert_eq!(lasting(&state), lasting(&after));
            }
            let changed = changes_runs(&state, &after);
            prop_assert!(!changed || !records(&policy, &state, &event, &outcome.changes).is_empty());
            state = after;
        }
    }

    #[test]
    fn any_change_can_be_applied_to_any_state(
        events in prop::collection::vec((event(), facts()), 1..40),
        others in prop::collection::vec((event(), facts()), 1..40),
    ) {
        let policy = policy();
        let (mut state, mut other) = (State::default(), State::default());
        for ((event, facts), (odd, odd_facts)) in events.into_iter().zip(others) {
            let outcome = step(&policy, &state, &event, &facts);
            outcome.apply_to(&mut state);
            // The changes of a session that lived otherwise.
            outcome.apply_to(&mut other);
            step(&policy, &other, &odd, &odd_facts).apply_to(&mut other);
            let read: State = serde_json::from_str(&serde_json::to_string(&other).unwrap()).unwrap();
            prop_assert_eq!(&read.project, &other.project);
        }
    }

    #[test]
    fn an_event_is_read_back_as_it_was_written(event in event()) {
        prop_assert_eq!(Event::from_value(event.to_value()).unwrap(), event);
    }
}

#[test]
fn a_run_whose_policy_is_gone_never_softens_what_another_run_denies() {
    let policy = policy();
    let begin = |name: &str| Event::from_value(json!({"event": "skill", "name": name, "by": "agent"})).unwrap();
    let mut state = State::default();
    step(&policy, &state, &begin("c"), &Facts::new()).apply_to(&mut state);
    step(&policy, &state, &begin("a"), &Facts::new()).apply_to(&mut state);
    let mut without = policy.clone();
    without.skills.retain(|skill| skill.name != "c");
    let edit = Event::from_value(json!({"event": "tool_call", "tool": "Edit", "input": {}})).unwrap();
    let decision = step(&without, &state, &edit, &Facts::new()).decision.unwrap();
    assert_eq!(decision.effect, phasegate_core::Effect::Deny, "{decision:?}");
}
