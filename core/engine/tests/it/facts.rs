//! Facts of rules: what counts, how long, and what is unknown.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use phasegate_core::policy::Scope;
use phasegate_core::rules::rule_fact::{AskedOfCalls, RuleFact};
use phasegate_core::{Event, Facts, Policy, State, step};
use serde_json::{Value, json};

const HOUR: i64 = 3_600_000;

/// A policy of one rule that forbids calls of `Write` while a fact is so.
fn policy(fact: &RuleFact, is: &Value) -> Policy {
    policy_of("Write", fact, is)
}

fn policy_of(action: &str, fact: &RuleFact, is: &Value) -> Policy {
    let read = json!({"get": [{"get": [{"var": "context"}, "facts"]}, "f"]});
    let when = if is.is_null() { read } else { json!({"of": [">=", {"l": read, "r": {"v": is}}]}) };
    let rule = json!({"id": "r", "forbids": "deny", "action": {"is": action}, "when": when, "facts": {"f": fact.key}});
    let level = json!({"rules": {"default": "permit", "rules": [rule]}, "facts": [fact]});
    serde_json::from_value(json!({"version": "v", "skills": [], "rules": [level]})).unwrap()
}

/// The line of a list that means calls of a tool.
fn tool(name: &str) -> Vec<phasegate_core::policy::matcher::Matcher> {
    serde_json::from_value(json!([{"text": name, "tool": {"exact": name}, "server": "bare"}])).unwrap()
}

struct World {
    policy: Policy,
    state: State,
}

impl World {
    fn new(fact: &RuleFact, is: &Value) -> Self {
        Self { policy: policy(fact, is), state: State::default() }
    }

    /// Plays an event; whether it was let through.
    fn event(&mut self, event: Value) -> bool {
        let outcome = step(&self.policy, &self.state, &Event::from_value(event).unwrap(), &Facts::new());
        outcome.apply_to(&mut self.state);
        outcome.decision.is_none_or(|decision| decision.lets_through())
    }

    fn call(&mut self, tool: &str, id: &str, time: i64) -> bool {
        let input = json!({"file_path": "a.rs"});
        self.event(json!({"event": "tool_call", "id": id, "tool": tool, "input": input, "time": time}))
    }

    /// Whether a call of `Write` passes. Nothing of it stays.
    fn passes(&self, time: i64) -> bool {
        Self { policy: self.policy.clone(), state: self.state.clone() }.call("Write", "w", time)
    }
}

#[test]
fn a_count_is_one_of_calls_that_were_let_through_within_its_time() {
    let fact = RuleFact::new(AskedOfCalls::Count(tool("Edit")), Scope::Session, Some(HOUR));
    let mut world = World::new(&fact, &json!(2));
    assert!(world.call("Edit", "1", 1000) && world.call("Read", "2", 1500) && world.passes(1600));
    assert!(
        world.call("Edit", "3", 2000) && !world.passes(2000) && !world.passes(1000 + HOUR) && world.passes(1001 + HOUR)
    );
    // A call that is denied does not count.
    assert!(!world.call("Write", "4", 3000));
    assert_eq!(world.state.session.facts.facts[&fact.key].calls.len(), 2);
}

/// A call of a server's tool with two arguments each of which may be a path, and a command with two paths.
fn of_two_parts() -> [(&'static str, &'static str, Value); 2] {
    let paths =
        json!(["a", "b"].map(|path| json!({"written": path, "resolved": path, "access": "write", "command": 0})));
    let command = json!({"words": [{"known": "cp"}, {"known": "a"}], "span": [0, 0], "verdict": "write"});
    let shell = json!({"tool": "Bash", "input": {"command": "cp a b"}, "labels": ["write", "execute", "shell"],
        "reading": {"commands": [command], "paths": paths}});
    let draft = json!({"tool": "draft", "server": "desk", "input": {"version": "1.0.0", "notes": "first"}});
    [("desk/draft", "draft", draft), ("Bash", "Bash", shell)]
}

#[test]
fn a_call_is_no_earlier_call_of_itself() {
    for (action, name, call) in of_two_parts() {
        let calls = AskedOfCalls::Count(tool(name));
        let fact = RuleFact::new(calls, Scope::Session, None);
        let mut world = World { policy: policy_of(action, &fact, &json!(1)), state: State::default() };
        let mut made = call.clone();
        made["event"] = json!("tool_call");
        assert!(world.event(made.clone()), "{action}: the first one");
        assert!(!world.event(made), "{action}: the second one");
        assert_eq!(world.state.session.facts.facts[&fact.key].calls[0].parts, 1, "{action}");
    }
}

#[test]
fn a_call_does_not_change_files_before_itself() {
    let fact = RuleFact::new(AskedOfCalls::Passed { unchanged: true }, Scope::Session, None);
    for (action, _, call) in of_two_parts() {
        let mut policy = policy_of(action, &fact, &Value::Null);
        let negated = json!({"not": {"get": [{"get": [{"var": "context"}, "facts"]}, "f"]}});
        let mut rules = serde_json::to_value(&policy).unwrap();
        rules["rules"][0]["rules"]["rules"][0]["when"] = negated;
        policy = serde_json::from_value(rules).unwrap();
        let mut world = World { policy, state: State::default() };
        let kept = json!({"facts": {&fact.key: {"calls": [{"time": 0, "parts": 1}]}}});
        world.state.session.facts = serde_json::from_value(kept).unwrap();
        let mut made = call.clone();
        made["event"] = json!("tool_call");
        assert!(world.event(made.clone()), "{action}: nothing has changed since the tests");
        assert!(!world.event(made), "{action}: the first one has changed files");
    }
}

#[test]
fn a_call_that_a_person_refuses_is_no_earlier_call() {
    for within in [None, Some(HOUR)] {
        let fact = RuleFact::new(AskedOfCalls::Count(tool("Edit")), Scope::Session, within);
        let mut world = World::new(&fact, &json!(2));
        let mut rules = serde_json::to_value(&world.policy).unwrap();
        let own = rules["rules"][0]["rules"]["rules"].as_array_mut().unwrap();
        own.push(json!({"id": "ask", "forbids": "ask", "action": {"is": "Edit"}}));
        world.policy = serde_json::from_value(rules).unwrap();
        for (id, outcome) in [("1", "ok"), ("2", "refused"), ("3", "refused")] {
            assert!(!world.call("Edit", id, 1000), "a person is asked");
            world.event(json!({"event": "tool_result", "id": id, "outcome": outcome, "time": 2000}));
        }
        assert!(world.passes(3000));
        world.call("Edit", "4", 3000);
        assert!(!world.passes(3000), "it may run");
        world.event(json!({"event": "tool_result", "id": "4", "outcome": "ok", "time": 4000}));
        assert!(!world.passes(4000) && world.passes(3001 + HOUR) == within.is_some());
    }
}

#[test]
fn what_the_guard_cannot_tell_forbids() {
    let fact = RuleFact::new(AskedOfCalls::Count(tool("Edit")), Scope::Project, Some(HOUR));
    let mut world = World::new(&fact, &json!(10_000));
    for number in 0..513 {
        assert!(world.call("Edit", &number.to_string(), number));
    }
    // The first of them was let go.
    assert_eq!(world.state.project.facts.facts[&fact.key].calls.len(), 512);
    assert!(!world.passes(600) && !world.passes(HOUR) && world.passes(HOUR + 1));
    // The clock was set back.
    let mut back = World::new(&fact, &json!(10_000));
    assert!(back.call("Edit", "1", 2 * HOUR) && back.passes(2 * HOUR - 60_000) && !back.passes(HOUR));
}

#[test]
fn without_a_time_a_count_is_kept_in_one_entry() {
    let fact = RuleFact::new(AskedOfCalls::Count(tool("Edit")), Scope::Session, None);
    let mut world = World::new(&fact, &json!(600));
    for number in 0..599 {
        assert!(world.call("Edit", &number.to_string(), number));
    }
    assert!(world.passes(9 * HOUR) && world.call("Edit", "last", 10 * HOUR) && !world.passes(1));
    assert_eq!(world.state.session.facts.facts[&fact.key].calls.len(), 1);
}

#[test]
fn a_call_runs_until_it_ends_or_is_refused() {
    let fact = RuleFact::new(AskedOfCalls::Running(tool("Edit")), Scope::Project, Some(HOUR));
    for (end, ends) in [
        (json!({"event": "tool_result", "id": "1", "ok": true}), true),
        (json!({"event": "tool_result", "id": "1", "ok": false}), true),
        (json!({"event": "permission", "id": "1", "outcome": "refused"}), true),
        (json!({"event": "tool_result", "id": "2", "ok": true}), false),
    ] {
        let mut world = World::new(&fact, &Value::Null);
        assert!(
            world.passes(0) && world.call("Edit", "1", 0) && world.call("Read", "2", 0) && !world.passes(1),
            "{end}"
        );
        world.event(end.clone());
        assert_eq!(world.passes(2), ends, "{end}");
        assert!(world.passes(HOUR + 1));
    }
}

#[test]
fn a_call_of_a_process_that_is_gone_no_longer_runs() {
    let fact = RuleFact::new(AskedOfCalls::Running(tool("Edit")), Scope::Project, Some(HOUR));
    let mut world = World::new(&fact, &Value::Null);
    assert!(world.call("Edit", "1", 0) && !world.passes(1));
    let name = world.state.project.facts.facts[&fact.key].calls[0].call.clone().unwrap();
    assert_eq!(world.state.project.facts.unended().count(), 1);
    let mut write =
        json!({"event": "tool_call", "tool": "Write", "input": {}, "time": 2, "reading": {"gone": ["s:9"]}});
    assert!(!world.event(write.clone()), "another one is gone");
    write["reading"]["gone"] = json!([name]);
    assert!(world.event(write));
    assert!(world.state.project.facts.is_empty(), "nobody asks for its end any more");
}
