//! Cases of the task planner about its tasks: which of them are ready, the gate of a wave, reviews, tests.

use serde_json::{Value, json};
use xtask::failure::Result;

use super::case::{Call, Case};
use super::outcome::Outcome;
use super::player::{Client, Player};
use super::transcript::{AGENT, allowed, at, last, skill, state, with, write};

/// A result of the call before.
fn ended(id: &str) -> Value {
    json!({"event": "tool_result", "id": id, "ok": true})
}

/// A line as the call of this id.
fn named(id: &str, line: Value) -> Value {
    with(line, "id", json!(id))
}

/// A call that ended well.
fn done(id: &str, line: Value) -> [Value; 2] {
    [named(id, line), ended(id)]
}

/// A run of the whole test suite that passed.
fn tests(id: &str) -> [Value; 2] {
    let call = json!({"event": "tool_call", "id": id, "tool": "Bash", "input": {"command": "cargo test"}});
    let tests = json!([{"runner": "cargo", "passed": 3}]);
    [call, json!({"event": "tool_result", "id": id, "ok": true, "exit_code": 0, "tests": tests})]
}

/// The tasks that can be worked on.
pub(super) fn ready(player: &Player, case: &Case) -> Result<Outcome> {
    let answer = last(player, &[state(at(&case.setup, "/task_graph"))])?;
    let names: Vec<&String> = at(&answer, "/branches").as_object().into_iter().flat_map(|all| all.keys()).collect();
    Ok(Outcome::of(at(&case.expect, "/tasks"), &json!(names)))
}

/// A start is about one task: one that names several is denied.
pub(super) fn all_named(player: &Player, case: &Case, call: &Call) -> Result<Outcome> {
    let wanted = at(&case.expect, "/tasks").as_array().cloned().unwrap_or_default();
    let tasks: Vec<Value> = wanted.iter().chain([&json!("T99")]).map(|id| json!({"id": id, "wave": 1})).collect();
    let input = with(call.args.clone(), "subagent_type", json!(AGENT));
    let start = json!({"event": "tool_call", "tool": "Agent", "input": input});
    let answer = last(player, &[state(&json!({"current_phase": "execute", "tasks": tasks})), start])?;
    Ok(Outcome::of(&(wanted.len() == 1), &allowed(&answer)))
}

/// The gate of the present wave: its skill, and the tests.
pub(super) fn gate(player: &Player, case: &Case) -> Result<Outcome> {
    let graph = at(&case.setup, "/task_graph");
    let mut lines = vec![state(graph)];
    lines.extend(done("g1", skill("wave-gate")));
    lines.extend(tests("g2"));
    let answer = last(player, &lines)?;
    let runs = at(&answer, "/runs").as_array().into_iter().flatten();
    let root = runs.clone().find(|run| at(run, "/skill") == "planned-feature");
    // The wave is over where the feature is, or where tasks of the next one have begun.
    let moved = root.is_none_or(|run| at(run, "/phase") != "execute");
    let wave = at(graph, "/current_wave").as_u64().unwrap_or(1);
    let tasks = at(graph, "/tasks").as_array().into_iter().flatten();
    let later =
        tasks.filter(|task| at(task, "/wave").as_u64() > Some(wave)).filter_map(|task| at(task, "/id").as_str());
    let begun = later.into_iter().any(|id| at(&answer, "/branches").get(id).is_some());
    Ok(Outcome::of(at(&case.expect, "/passed"), &(moved || begun)))
}

/// Where a task stands after a review of this text: back in the work, finished, or still in the review.
fn reviewed(player: &Player, text: &str) -> Result<&'static str> {
    let review = Client::read()?.review;
    let graph = json!({"current_phase": "execute", "tasks": [{"id": "T1", "wave": 1}]});
    let mut lines = vec![state(&graph)];
    lines.extend(done("r1", write("src/code.rs")));
    lines.extend(tests("r2"));
    lines.extend(done("r3", skill("review-skill")));
    lines.push(named("r4", write(&review)));
    lines.push(json!({"event": "file", "path": review, "content": text}));
    lines.push(ended("r4"));
    let answer = last(player, &lines)?;
    Ok(match at(&answer, "/branches/T1").as_str() {
        Some("implement") => "blocked",
        Some(_) => "open",
        None => "passed",
    })
}

/// Findings of a review: a critical one sends the task back.
pub(super) fn findings(player: &Player, case: &Case, call: &Call) -> Result<Outcome> {
    let got = reviewed(player, call.text("content").unwrap_or_default())?;
    let wanted = at(&case.expect, "/verdict").as_str().unwrap_or_default();
    Ok(Outcome::of(&(wanted == "blocked"), &(got == "blocked")))
}

/// A text that says that a review found nothing.
pub(super) fn passes(player: &Player, case: &Case, call: &Call) -> Result<Outcome> {
    let got = reviewed(player, call.text("content").unwrap_or_default())?;
    Ok(Outcome::of(at(&case.expect, "/pass"), &(got == "passed")))
}

/// A file of tests is one that a line on `@tests` selects.
pub(super) fn test_file(case: &Case, call: &Call) -> Result<Outcome> {
    let text = "skill: files\nphases:\n  one:\n    forbidden: [{writes: \"@tests\"}]\n";
    let player = Player::with_skill("mode: block\n", "files", text)?;
    let start = json!({"event": "skill", "name": "files", "by": "human"});
    let answer = last(&player, &[start, write(call.text("path").unwrap_or_default())])?;
    Ok(Outcome::of(at(&case.expect, "/test_file"), &!allowed(&answer)))
}

/// What a runner printed is evidence where its line ran.
pub(super) fn evidence(case: &Case, call: &Call) -> Result<Outcome> {
    let transcript = call.text("transcript").unwrap_or_default();
    let line = match at(&case.expect, "/framework").as_str() {
        // The original takes the last line of Jest for one of pytest.
        Some("pytest") if transcript.contains(" total") => "npx jest",
        Some("maven") => "mvn test",
        Some("mocha") => "npx mocha",
        Some("pytest") => "pytest",
        _ => "npx vitest run",
    };
    let skill = "skill: proof\nphases:\n  one:\n    allowed: [{command: \"*\"}]\n    done_when: {tests: passed}\n";
    let player = Player::with_skill("mode: block\n", "proof", skill)?;
    player.begin("proof")?;
    player.ran(line, transcript)?;
    Ok(Outcome::of(at(&case.expect, "/passed"), &player.is_done()?))
}
