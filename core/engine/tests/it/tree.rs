//! Trees of runs: the leaf judges, its ancestors only forbid, and the strictest tree wins.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use phasegate_core::state::{Children, Run, Status};
use phasegate_core::{Change, Code, Decision, Effect, Event, Facts, Policy, State, step};
use proptest::prelude::*;
use serde_json::{Value, json};

const TOOLS: [&str; 5] = ["a", "b", "c", "Read", "never"];

fn matcher(text: &str) -> Value {
    json!({"text": text, "tool": {"exact": text}, "server": "bare"})
}

fn list(tools: &[&str]) -> Value {
    Value::from_iter(tools.iter().map(|tool| matcher(tool)))
}

fn phase(name: &str, allowed: &[&str], forbidden: &[&str], done: Option<&str>, next: Value) -> Value {
    let done = done.map(|tool| json!({"call": {"atom": 0, "wanted": {"outcome": "ok"}, "matcher": matcher(tool)}}));
    json!({
        "name": name, "do": "", "allowed": list(allowed), "forbidden": list(forbidden), "requires": null,
        "done_when": done, "optional": "no", "leave": "on_done", "next": next, "back": [],
    })
}

fn skill(name: &str, unlisted: &str, forbidden: &[&str], phases: Value) -> Value {
    json!({
        "name": name, "description": "", "version": name, "seed": false, "mode": "block", "scope": "session",
        "unlisted": unlisted, "leave_skill": "finished", "servers": [], "tools": [],
        "global_forbidden": list(forbidden), "phases": phases,
    })
}

fn policy(skills: &[Value]) -> Policy {
    serde_json::from_value(json!({"version": "v", "skills": skills})).unwrap()
}

/// The outer skill runs others in `work`, then goes on to `review`.
fn outer(forbidden: &[&str], in_work: &[&str]) -> Value {
    let work = phase("work", &[], in_work, None, json!([{"to": 1}]));
    skill("outer", "deny", forbidden, json!([work, phase("review", &["c"], &[], Some("c"), json!([]))]))
}

fn inner(name: &str, tool: &str) -> Value {
    skill(name, "deny", &[], json!([phase("do", &[tool], &[], Some(tool), json!([]))]))
}

fn run(id: &str, skill: &str, phase: &str) -> Run {
    serde_json::from_value(json!({
        "id": id, "skill": skill, "version": skill, "mode": "block", "scope": "session", "by": "human",
        "status": "active", "phase": phase, "phase_before": phase, "visit": 1, "visits": 1, "kept": [[0, 1]],
    }))
    .unwrap()
}

fn part(id: &str, skill: &str, agent: Option<&str>) -> Run {
    let branch = serde_json::from_value(json!({"name": id, "visit": 1, "agent": agent})).unwrap();
    Run { parent: Some("r1".into()), branch: Some(branch), ..run(id, skill, "do") }
}

/// A state with these runs, begun in this order.
fn state(runs: Vec<Run>) -> State {
    let mut state = State::default();
    runs.into_iter().for_each(|run| state.apply(&Change::RunBegun(Box::new(run))));
    state
}

fn play(policy: &Policy, state: &mut State, event: Value) -> Option<Decision> {
    let outcome = step(policy, state, &Event::from_value(event).unwrap(), &Facts::new());
    outcome.apply_to(state);
    outcome.decision
}

fn call(id: &str, tool: &str, agent: Option<&str>) -> Value {
    let mut call = json!({"event": "tool_call", "id": id, "tool": tool, "input": {}});
    if let Some(agent) = agent {
        call["agent"] = json!({"id": agent, "type": "t"});
    }
    call
}

fn ended(id: &str, outcome: &str) -> Value {
    json!({"event": "tool_result", "id": id, "outcome": outcome})
}

fn status(state: &State, id: &str) -> (Status, String) {
    let run = state.run(id).unwrap();
    (run.status, run.phase.clone())
}

#[test]
fn the_leaf_judges_and_its_end_completes_the_phase_of_its_parent() {
    let policy = policy(&[outer(&[], &[]), inner("one", "a")]);
    let mut state = state(vec![run("r1", "outer", "work"), part("r2", "one", None)]);
    assert_eq!(state.run("r1").unwrap().children, Children::Live);
    let denied = play(&policy, &mut state, call("1", "c", None)).unwrap();
    assert_eq!((denied.effect, denied.skill.as_deref()), (Effect::Deny, Some("one")), "the review is to come");
    assert!(play(&policy, &mut state, call("2", "a", None)).unwrap().lets_through());
    play(&policy, &mut state, ended("2", "ok"));
    assert_eq!(status(&state, "r2"), (Status::Finished, "do".into()));
    assert_eq!(status(&state, "r1"), (Status::Active, "review".into()), "in the same step");
    assert!(state.run("r1").unwrap().evidence.is_empty(), "the parent has none of its part's evidence");
    play(&policy, &mut state, call("3", "c", None));
    play(&policy, &mut state, ended("3", "ok"));
    assert_eq!(status(&state, "r1").0, Status::Finished);
}

#[test]
fn ancestors_forbid() {
    for (policy, code) in [
        (policy(&[outer(&["a"], &[]), inner("one", "a")]), Code::GlobalForbidden),
        (policy(&[outer(&[], &["a"]), inner("one", "a")]), Code::PhaseForbidden),
    ] {
        let mut state = state(vec![run("r1", "outer", "work"), part("r2", "one", None)]);
        let denied = play(&policy, &mut state, call("1", "a", None)).unwrap();
        assert_eq!((denied.effect, denied.code), (Effect::Deny, Some(code)));
        assert_eq!(denied.skill.as_deref(), Some("outer"));
    }
}

#[test]
fn a_subagent_has_the_run_that_is_bound_to_it() {
    let policy = policy(&[outer(&[], &[]), inner("one", "a"), inner("two", "b")]);
    let runs = vec![run("r1", "outer", "work"), part("r2", "one", Some("s1")), part("r3", "two", Some("s2"))];
    let mut state = state(runs);
    assert!(play(&policy, &mut state, call("1", "a", Some("s1"))).unwrap().lets_through());
    assert!(!play(&policy, &mut state, call("2", "a", Some("s2"))).unwrap().lets_through());
    play(&policy, &mut state, ended("1", "ok"));
    assert_eq!(status(&state, "r2").0, Status::Finished);
    assert_eq!(status(&state, "r3").0, Status::Active, "a sibling takes no evidence of another");
    assert_eq!(status(&state, "r1"), (Status::Active, "work".into()), "the barrier waits for both");
    play(&policy, &mut state, call("3", "b", Some("s2")));
    play(&policy, &mut state, ended("3", "ok"));
    assert_eq!(status(&state, "r1"), (Status::Active, "review".into()));
}

#[test]
fn a_part_that_fails_fails_its_parent_and_what_is_left_ends() {
    let policy = policy(&[outer(&[], &[]), inner("one", "a"), inner("two", "b")]);
    let spent = Run { visit_budget: Some(0), ..part("r2", "one", None) };
    let mut state = state(vec![run("r1", "outer", "work"), spent, part("r3", "two", None)]);
    play(&policy, &mut state, json!({"event": "idle"}));
    assert_eq!(status(&state, "r2").0, Status::Failed);
    assert_eq!(status(&state, "r1"), (Status::Active, "work".into()), "no rollback edge is open: a person goes on");
    assert_eq!(state.run("r1").unwrap().children, Children::Failed);
    assert!(!play(&policy, &mut state, call("1", "b", None)).unwrap().lets_through());
    assert_eq!(status(&state, "r3").0, Status::Left);
}

#[test]
fn a_barrier_for_any_ends_the_others() {
    let policy = policy(&[outer(&[], &[]), inner("one", "a"), inner("two", "b")]);
    let any = |run: Run| {
        let branch = serde_json::from_value(json!({"name": run.id, "visit": 1, "barrier": "any"})).unwrap();
        Run { branch: Some(branch), ..run }
    };
    let runs = vec![run("r1", "outer", "work"), any(part("r2", "one", None)), any(part("r3", "two", None))];
    let mut state = state(runs);
    assert!(play(&policy, &mut state, call("1", "b", None)).unwrap().lets_through(), "the branch that lists it");
    play(&policy, &mut state, ended("1", "ok"));
    assert_eq!(status(&state, "r1"), (Status::Active, "review".into()));
    assert_eq!((status(&state, "r2").0, status(&state, "r3").0), (Status::Left, Status::Finished));
}

#[test]
fn a_joined_tree_stays_a_tree() {
    let policy = policy(&[outer(&[], &[]), inner("one", "a")]);
    let runs = vec![run("r1", "outer", "work"), part("r2", "one", None)];
    let mut state = State::default();
    play(&policy, &mut state, json!({"event": "join", "from": "x", "runs": runs}));
    assert!(play(&policy, &mut state, call("1", "a", None)).unwrap().lets_through());
    play(&policy, &mut state, ended("1", "ok"));
    assert_eq!(status(&state, "r1"), (Status::Active, "review".into()));
}

/// A skill of one phase that a call of this tool completes.
fn part_skill(name: &str, tool: &str, leave: &str, unlisted: &str) -> Value {
    let mut skill = skill(name, unlisted, &[], json!([phase("do", &[tool, "Read"], &[], Some(tool), json!([]))]));
    skill["phases"][0]["leave"] = json!(leave);
    skill
}

/// A skill that looks, runs these, and ends with a review.
fn running(parts: &[Value], parallel: bool) -> Value {
    let mut work = phase("work", &[], &[], None, json!([{"to": 2}]));
    let each: Vec<Value> = parts.iter().map(|part| json!({"branch": part["name"], "skill": part["name"]})).collect();
    work["run"] = json!({"each": each, "parallel": parallel, "enters": list(&["a", "b"])});
    let look = phase("look", &["Read"], &[], None, json!([{"to": 1}]));
    let mut outer =
        skill("outer", "read_only", &[], json!([look, work, phase("review", &["c"], &[], Some("c"), json!([]))]));
    outer["children"] = json!(parts);
    outer
}

fn some() -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::subsequence(TOOLS.to_vec(), 0..=TOOLS.len())
}

fn unlisted() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["allow", "read_only", "deny"])
}

/// A skill of one phase that only ends by a command.
fn plain(name: &str, unlisted: &str, allowed: &[&str], forbidden: &[&str]) -> Value {
    skill(name, unlisted, forbidden, json!([phase("do", allowed, &[], None, json!([]))]))
}

fn effect(policy: &Policy, state: &State, tool: &str) -> Effect {
    let event = Event::from_value(call("x", tool, None)).unwrap();
    step(policy, state, &event, &Facts::new()).decision.unwrap().effect
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn an_ancestor_only_forbids(
        outer in (some(), some(), unlisted()),
        other in (some(), unlisted()),
        inner in (some(), some(), unlisted()),
    ) {
        let one = plain("one", inner.2, &inner.0, &inner.1);
        let with = policy(&[plain("outer", outer.2, &outer.0, &outer.1), one.clone()]);
        let else_listed = policy(&[plain("outer", other.1, &other.0, &outer.1), one]);
        let runs = || vec![run("r1", "outer", "do"), part("r2", "one", None)];
        let alone = state(vec![run("r2", "one", "do")]);
        for tool in TOOLS {
            let both = effect(&with, &state(runs()), tool);
            prop_assert_eq!(both, effect(&else_listed, &state(runs()), tool), "what it lists does not matter");
            let forbids = outer.1.contains(&tool);
            let wanted = if forbids { Effect::Deny } else { effect(&with, &alone, tool) };
            prop_assert_eq!(both, wanted, "{}", tool);
        }
    }

    #[test]
    fn the_strictest_tree_wins(
        one in (some(), some(), unlisted(), any::<bool>()),
        two in (some(), some(), unlisted(), any::<bool>()),
    ) {
        let policy = policy(&[plain("one", one.2, &one.0, &one.1), plain("two", two.2, &two.0, &two.1)]);
        let tree = |id: &str, skill: &str, warns: bool| {
            let run = run(id, skill, "do");
            if warns { Run { mode: phasegate_core::policy::Mode::Warn, ..run } } else { run }
        };
        let (first, second) = (tree("r1", "one", one.3), tree("r2", "two", two.3));
        for tool in TOOLS {
            let both = effect(&policy, &state(vec![first.clone(), second.clone()]), tool);
            let each = [first.clone(), second.clone()].map(|run| effect(&policy, &state(vec![run]), tool));
            prop_assert_eq!(both, each[0].max(each[1]));
        }
    }

    #[test]
    fn a_denied_call_moves_no_run_and_no_run_outlives_its_parent(
        parallel in any::<bool>(),
        leave in prop::sample::select(vec!["on_call", "on_done"]),
        unlisted in prop::sample::select(vec!["allow", "read_only", "deny"]),
        events in prop::collection::vec((0..TOOLS.len(), any::<bool>(), any::<bool>()), 1..40),
    ) {
        let parts = [part_skill("one", "a", leave, unlisted), part_skill("two", "b", leave, unlisted)];
        let policy = policy(&[running(&parts, parallel)]);
        let mut state = State::default();
        play(&policy, &mut state, json!({"event": "skill", "name": "outer", "by": "human"}));
        for (at, (tool, ok, stops)) in events.into_iter().enumerate() {
            let before: Vec<_> = state.session.runs.iter().map(|run| (run.id.clone(), run.phase.clone(), run.status)).collect();
            let decision = play(&policy, &mut state, call(&at.to_string(), TOOLS[tool], None)).unwrap();
            let after: Vec<_> = state.session.runs.iter().map(|run| (run.id.clone(), run.phase.clone(), run.status)).collect();
            prop_assert!(decision.lets_through() || before == after, "{} moved {before:?} to {after:?}", TOOLS[tool]);
            play(&policy, &mut state, ended(&at.to_string(), if ok { "ok" } else { "failed" }));
            if stops {
                play(&policy, &mut state, json!({"event": "stop"}));
            }
            for run in state.live_runs() {
                let Some(parent) = run.parent.as_deref() else { continue };
                let parent = state.run(parent).unwrap();
                prop_assert_eq!(parent.status, Status::Active);
                prop_assert_eq!(parent.visit, run.branch.as_ref().unwrap().visit);
            }
            let waits = |run: &Run| run.phase == "work" && run.status == Status::Active;
            let live = |run: &Run| state.live_runs().any(|part| part.parent.as_ref() == Some(&run.id));
            prop_assert!(state.session.runs.iter().filter(|run| waits(run)).all(live), "its runs begin with the phase");
        }
    }

    #[test]
    fn evidence_goes_to_one_leaf_of_each_tree(
        events in prop::collection::vec((0..TOOLS.len(), 0..3_usize, any::<bool>()), 1..24),
    ) {
        let policy = policy(&[outer(&["never"], &[]), inner("one", "a"), inner("two", "b"), plain("alone", "allow", &[], &[])]);
        let runs = vec![
            run("r1", "outer", "work"),
            part("r2", "one", None),
            part("r3", "two", Some("s1")),
            run("r4", "alone", "do"),
        ];
        let mut state = state(runs);
        for (at, (tool, agent, ok)) in events.into_iter().enumerate() {
            let agent = [None, Some("s1"), Some("s2")][agent];
            let before = state.clone();
            play(&policy, &mut state, call(&at.to_string(), TOOLS[tool], agent));
            let open = state.session.calls.iter().find(|call| call.id.as_deref() == Some(&at.to_string()));
            for visit in open.iter().flat_map(|call| &call.visits) {
                let judge = before.run(&visit.run).unwrap();
                prop_assert!(judge.children != Children::Live, "a run with live parts judges nothing: {}", judge.id);
                let bound = judge.branch.as_ref().and_then(|branch| branch.agent.as_deref());
                prop_assert!(bound.is_none() || bound == agent, "{} is another agent's", judge.id);
            }
            let in_tree = open.iter().flat_map(|call| &call.visits).filter(|visit| visit.run != "r4").count();
            prop_assert!(in_tree <= 1);
            let had: Vec<_> = state.session.runs.iter().map(|run| (run.id.clone(), run.evidence.len())).collect();
            let visits: Vec<String> = open.iter().flat_map(|call| call.visits.iter().map(|visit| visit.run.clone())).collect();
            play(&policy, &mut state, ended(&at.to_string(), if ok { "ok" } else { "failed" }));
            for (id, count) in had {
                let now = state.run(&id).unwrap().evidence.len();
                prop_assert!(now == count || visits.contains(&id), "{} took the evidence of another", id);
            }
        }
    }
}
