//! The runs that a phase of a project's run consists of belong to the session that made the first call for them.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use phasegate_core::state::{Project, Session};
use phasegate_core::{Code, Decision, Event, Fact, FactKey, FactValue, Facts, Policy, State, step};
use serde_json::{Value, json};

fn matcher(tool: &str) -> Value {
    json!({"text": tool, "tool": {"exact": tool}, "server": "bare"})
}

fn lines(tools: &[&str]) -> Value {
    tools.iter().map(|tool| matcher(tool)).collect()
}

fn phase(name: &str, allowed: &[&str], done: &str, next: Value) -> Value {
    let done = json!({"call": {"atom": 0, "wanted": {"outcome": "ok"}, "matcher": matcher(done)}});
    json!({
        "name": name, "do": "", "allowed": lines(allowed), "forbidden": [], "requires": null,
        "done_when": done, "optional": "no", "leave": "on_done", "next": next, "back": [],
    })
}

fn skill(name: &str, phases: Value) -> Value {
    json!({
        "name": name, "description": "", "version": name, "seed": false, "mode": "block", "scope": "project",
        "unlisted": "allow", "leave_skill": "finished", "servers": [], "tools": [], "global_forbidden": [],
        "phases": phases,
    })
}

/// A project skill that looks, does two parts at once, and ends with a review.
fn policy() -> Policy {
    let parts = [("one", "a"), ("two", "b")]
        .map(|(name, tool)| skill(name, json!([phase("do", &[tool, "Read", "Agent"], tool, json!([]))])));
    let mut work = phase("work", &[], "c", json!([{"to": 2}]));
    let each = [json!({"branch": "one", "skill": "one"}), json!({"branch": "two", "skill": "two"})];
    work["run"] = json!({"each": each, "parallel": true, "enters": lines(&["a", "b"])});
    work["done_when"] = Value::Null;
    let mut outer = skill(
        "outer",
        json!([phase("look", &["Read"], "Read", json!([{"to": 1}])), work, phase("review", &["c"], "c", json!([]))]),
    );
    outer["children"] = json!(parts);
    serde_json::from_value(json!({"version": "v", "skills": [outer]})).unwrap()
}

/// Two sessions of a project, `A` and `B`.
struct World {
    policy: Policy,
    project: Project,
    sessions: [Session; 2],
    facts: Facts,
    calls: u32,
}

impl World {
    /// The phase of two parts is entered by session `A`, whose call of the first goes on.
    fn new() -> Self {
        let facts = Facts::new();
        let mut world =
            Self { policy: policy(), project: Project::default(), sessions: Default::default(), facts, calls: 0 };
        world.play("A", json!({"event": "session_start", "source": "startup"}));
        world.play("B", json!({"event": "session_start", "source": "startup"}));
        world.play("A", json!({"event": "skill", "name": "outer", "by": "human"}));
        assert!(world.call("B", "Read", None).lets_through(), "a phase without parts belongs to every session");
        world.ended("B", "ok");
        assert!(world.call("A", "a", None).lets_through());
        world
    }

    fn play(&mut self, session: &str, mut event: Value) -> Option<Decision> {
        event["session"] = json!(session);
        let own = &mut self.sessions[usize::from(session == "B")];
        let mut state = State { session: own.clone(), project: self.project.clone() };
        let outcome = step(&self.policy, &state, &Event::from_value(event).unwrap(), &self.facts);
        outcome.apply_to(&mut state);
        (*own, self.project) = (state.session, state.project);
        outcome.decision
    }

    fn call(&mut self, session: &str, tool: &str, agent: Option<&str>) -> Decision {
        self.calls += 1;
        let mut call = json!({"event": "tool_call", "id": self.calls.to_string(), "tool": tool, "input": {}});
        if let Some(agent) = agent {
            call["agent"] = json!({"id": agent, "type": "t"});
        }
        self.play(session, call).unwrap()
    }

    fn ended(&mut self, session: &str, outcome: &str) {
        self.play(session, json!({"event": "tool_result", "id": self.calls.to_string(), "outcome": outcome}));
    }

    /// What the guard finds out of a session.
    fn goes_on(&mut self, session: &str, value: FactValue) {
        self.facts.insert(FactKey::new("session", &json!(session)), Fact::from(value));
    }

    fn holder(&self) -> Option<&str> {
        self.project.runs.iter().find(|run| run.skill == "outer").unwrap().held_by.as_deref()
    }

    fn denied_to_b(&mut self) {
        let start = json!({
            "event": "tool_call", "id": "s", "tool": "Agent", "input": {}, "reading": {"invokes": {"agent": "t"}},
        });
        let calls = ["a", "b", "Edit"].map(|tool| self.call("B", tool, None));
        for denied in calls.into_iter().chain(self.play("B", start)) {
            assert_eq!(denied.code, Some(Code::HeldElsewhere), "{denied:?}");
            assert!(denied.reason.contains("`A`"), "{}", denied.reason);
        }
    }
}

#[test]
fn another_session_only_reads_and_its_calls_prove_nothing() {
    let mut world = World::new();
    assert_eq!(world.holder(), Some("A"));
    for known in [None, Some(FactValue::Unknown), Some(FactValue::Known(true.into()))] {
        if let Some(known) = known {
            world.goes_on("A", known);
        }
        world.denied_to_b();
    }
    assert!(world.call("B", "Read", None).lets_through());
    assert!(world.call("B", "Read", Some("s1")).lets_through());
    assert!(world.sessions[1].calls.iter().all(|call| call.visits.is_empty()));
    assert_eq!(world.call("B", "a", Some("s1")).code, Some(Code::HeldElsewhere), "its subagents are of the session");
    assert!(world.call("A", "b", Some("s2")).lets_through(), "and those of the holder are of the holder");
    assert_eq!(world.holder(), Some("A"));
}

#[test]
fn the_next_call_goes_on_where_the_session_is_over() {
    for over in [FactValue::Known(false.into()), FactValue::Absent] {
        let mut world = World::new();
        world.goes_on("A", over);
        assert!(world.call("B", "Read", None).lets_through());
        assert_eq!(world.holder(), Some("A"), "reading takes nothing over");
        assert!(world.call("B", "b", None).lets_through());
        assert_eq!(world.holder(), Some("B"));
        world.ended("B", "ok");
        world.goes_on("B", FactValue::Known(true.into()));
        assert_eq!(world.call("A", "a", None).code, Some(Code::HeldElsewhere), "the first has lost it");
        assert!(world.call("B", "a", None).lets_through());
        world.ended("B", "ok");
        assert_eq!(world.holder(), None, "the phase with the parts is over");
        assert!(world.call("A", "c", None).lets_through());
    }
}

#[test]
fn an_end_or_a_clear_gives_the_runs_free_with_those_of_its_subagents() {
    let ends: [&[(&str, Value)]; 3] = [
        &[("A", json!({"event": "session_end"}))],
        &[("A", json!({"event": "command", "by": "human", "name": "end_session", "args": null}))],
        &[("B", json!({"event": "session_start", "source": "clear", "parent": "A"}))],
    ];
    for end in ends {
        let mut world = World::new();
        let run = world.project.runs.iter_mut().find(|run| run.skill == "two").unwrap();
        let branch = run.branch.as_mut().unwrap();
        (branch.agent, branch.session) = (Some("s".into()), Some("A".into()));
        for (session, event) in end {
            world.play(session, event.clone());
        }
        assert_eq!(world.holder(), None, "{end:?}");
        assert!(world.call("B", "b", None).lets_through(), "{end:?}: what its subagent did is free");
        assert_eq!(world.holder(), Some("B"));
    }
    let mut world = World::new();
    world.play("B", json!({"event": "session_start", "source": "fork", "parent": "A"}));
    world.denied_to_b();
}
