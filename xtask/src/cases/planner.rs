//! Cases of the task planner: the state file of the original is imported, and calls are those of its platform.

use serde::Deserialize;
use serde_json::{Map, Value, json};
use xtask::failure::{Failure, Result};

use super::case::{Call, Case};
use super::outcome::Outcome;
use super::player::Player;
use super::tasks;
use super::transcript::{AGENT, allowed, at, last, skill, state, with, write};

/// The phases of the original.
const PHASES: &str = include_str!("../../cases/planner.toml");

/// The table of the phases.
#[derive(Deserialize)]
struct Phases {
    phase: Vec<Phase>,
}

/// A phase of the original.
#[derive(Deserialize)]
struct Phase {
    name: String,
    /// A skill of it.
    skill: Option<String>,
    /// The phase that it is entered from.
    before: Option<String>,
    /// A document that it makes.
    document: Option<String>,
}

fn phases() -> Result<Vec<Phase>> {
    let phases: Phases = toml::from_str(PHASES).map_err(|error| Failure::new(format!("planner.toml: {error}")))?;
    Ok(phases.phase)
}

/// Why the rest is not played.
const TASKS: &str = "a function of the original's code: no call of an agent asks this, and no text shows it";
/// Why what happens at once is not played.
const AT_ONCE: &str = "cli/tests/it/stress.rs plays events at once";
const TEXT: &str = "the guard sees files and calls themselves, and reads no text about them";

/// What the agent says. Only the compat form takes its word.
const WORDS: [&str; 2] = ["@message", "@session_idle"];

/// The form that a case belongs to.
pub(super) fn form(case: &Case) -> &'static str {
    let check = case.setup.get("check").and_then(Value::as_str);
    let first = case.calls.first().map(|call| call.tool.as_str()).unwrap_or_default();
    match check {
        Some("next_phase") => "compat",
        None if WORDS.contains(&first) => "compat",
        _ => "strict",
    }
}

/// Where the workflow stands after what the agent says, and what was left out.
fn said(player: &Player, case: &Case) -> Result<Outcome> {
    let mut lines: Vec<Value> =
        case.setup.get("task_graph").filter(|graph| graph.is_object()).map(state).into_iter().collect();
    lines.extend(files(&case.setup));
    for (number, call) in case.calls.iter().enumerate() {
        let text = call.text("content").unwrap_or_default();
        let role = call.text("role").unwrap_or("assistant");
        lines.push(match call.tool.as_str() {
            "@message" => {
                json!({"event": "message", "id": format!("m{number}"), "role": role, "text": text, "complete": true})
            }
            "@session_idle" => {
                json!({"event": "message", "id": format!("i{number}"), "role": "assistant", "text": text, "complete": true})
            }
            _ => return Ok(Outcome::not_supported(TASKS)),
        });
    }
    let answer = last(player, &lines)?;
    let run = at(&answer, "/runs/0");
    let phases = (at(&case.expect, "/current_phase"), at(run, "/phase"));
    let Some(skipped) = case.expect.get("skipped_phases") else { return Ok(Outcome::of(phases.0, phases.1)) };
    let names = at(run, "/skipped").as_array().into_iter().flatten().map(|one| at(one, "/phase").clone());
    let got = json!({"current_phase": phases.1, "skipped_phases": names.collect::<Value>()});
    Ok(Outcome::of(&json!({"current_phase": phases.0, "skipped_phases": skipped}), &got))
}

pub(super) fn play(player: &Player, case: &Case) -> Result<Outcome> {
    let check = case.setup.get("check").and_then(Value::as_str);
    let first = case.calls.first();
    match (check, first) {
        (Some("exempt"), Some(call)) => exempt(player, case, call),
        (Some("skill_phase"), Some(call)) => skill_phase(player, case, call),
        (Some("transition"), Some(call)) => transition(player, case, call),
        (Some("artifacts"), Some(call)) => enters(player, case, call),
        (Some("next_phase"), Some(call)) => next_phase(player, case, call),
        (Some("artifact_path"), Some(call)) => artifact_path(player, case, call),
        (Some("protected_path"), Some(call)) => protected_path(player, case, call),
        (Some("review_findings"), Some(call)) => tasks::findings(player, case, call),
        (Some("review_pass"), Some(call)) => tasks::passes(player, case, call),
        (Some("test_evidence_text"), Some(call)) => tasks::evidence(case, call),
        (Some("test_file"), Some(call)) => tasks::test_file(case, call),
        (Some("all_task_ids"), Some(call)) => tasks::all_named(player, case, call),
        (Some("spec_findings" | "files_modified"), _) => Ok(Outcome::not_supported(TEXT)),
        (Some("task_id"), Some(call)) => task_id(player, case, call),
        (Some(_), _) => Ok(Outcome::not_supported(TASKS)),
        (None, Some(call)) if call.tool == "@ready_tasks" => tasks::ready(player, case),
        (None, Some(call)) if call.tool == "@wave_gate" => tasks::gate(player, case),
        (None, Some(call)) if call.tool == "@parallel" => Ok(Outcome::not_supported(AT_ONCE)),
        (None, Some(call)) if WORDS.contains(&call.tool.as_str()) => said(player, case),
        (None, Some(call)) if call.tool.starts_with('@') => Ok(Outcome::not_supported(TASKS)),
        (None, _) => decisions(player, case),
    }
}

/// The line that imports a state; in `execute` it has a task, as no other has come there.
fn with_task(graph: &Value) -> Value {
    let has_tasks = at(graph, "/tasks").as_array().is_some_and(|tasks| !tasks.is_empty());
    if at(graph, "/current_phase") != "execute" || has_tasks {
        return state(graph);
    }
    state(&with(graph.clone(), "tasks", json!([{"id": "T1", "wave": 1}])))
}

/// A state in a phase, with the documents of all phases before it, and the files.
fn all_made(phases: &[Phase], phase: &str) -> Vec<Value> {
    let here = phases.iter().position(|known| known.name == phase).unwrap_or_default();
    let made: Map<String, Value> = phases
        .iter()
        .take(here + 1)
        .filter_map(|one| Some((one.name.clone(), json!(one.document.as_ref()?))))
        .collect();
    let mut lines =
        vec![state(&json!({"current_phase": phase, "phase_artifacts": made, "tasks": [{"id": "T1", "wave": 1}]}))];
    let content = |path: &Value| match path.as_str().is_some_and(|path| path.ends_with(".json")) {
        true => r#"{"tasks": [{"id": "T1", "wave": 1}]}"#,
        false => "a text",
    };
    lines.extend(made.values().map(|path| json!({"event": "file", "path": path, "content": content(path)})));
    lines
}

fn files(setup: &Value) -> Vec<Value> {
    let file = |path: &str, content: &str| json!({"event": "file", "path": path, "content": content});
    match setup.get("files") {
        Some(Value::Object(files)) => {
            files.iter().map(|(path, content)| file(path, content.as_str().unwrap_or_default())).collect()
        }
        Some(Value::Array(files)) => files.iter().filter_map(Value::as_str).map(|path| file(path, "a text")).collect(),
        _ => Vec::new(),
    }
}

/// A call of the original's platform, as a line.
fn line(call: &Call) -> Option<Value> {
    let (tool, input) = match call.tool.to_lowercase().as_str() {
        "skill" => ("Skill", json!({"skill": call.text("name")?})),
        "task" => ("Agent", call.args.clone()),
        "edit" => ("Edit", json!({"file_path": call.text("filePath")?})),
        "patch" => ("Edit", json!({"file_path": call.text("filePath")?})),
        "write" => ("Write", json!({"file_path": call.text("filePath")?})),
        "read" => ("Read", json!({"file_path": call.text("filePath")?})),
        "bash" => ("Bash", call.args.clone()),
        "glob" => ("Glob", call.args.clone()),
        _ => return None,
    };
    Some(json!({"event": "tool_call", "tool": tool, "input": input}))
}

/// The phase of the feature, whichever run judged the call.
fn stands(answer: &Value) -> &str {
    let runs = at(answer, "/runs").as_array().into_iter().flatten();
    let feature = runs.clone().find(|run| at(run, "/skill") == "planned-feature");
    feature.map_or(at(answer, "/phase"), |run| at(run, "/phase")).as_str().unwrap_or_default()
}

/// A start is about the task that it names: of two tasks, it has to name one.
fn task_id(player: &Player, case: &Case, call: &Call) -> Result<Outcome> {
    let wanted = at(&case.expect, "/task");
    let id = wanted.as_str().unwrap_or("T1");
    let tasks = json!([{"id": id, "wave": 1}, {"id": "T99", "wave": 1}]);
    let mut lines = vec![state(&json!({"current_phase": "execute", "tasks": tasks}))];
    let mut input = call.args.clone();
    input.as_object_mut().into_iter().for_each(|input| drop(input.insert("subagent_type".to_owned(), AGENT.into())));
    lines.push(json!({"event": "tool_call", "tool": "Agent", "input": input}));
    let named = allowed(&last(player, &lines)?);
    Ok(Outcome::of(wanted, if named { wanted } else { &Value::Null }))
}

fn decisions(player: &Player, case: &Case) -> Result<Outcome> {
    let mut lines: Vec<Value> =
        case.setup.get("task_graph").filter(|graph| graph.is_object()).map(with_task).into_iter().collect();
    lines.extend(files(&case.setup));
    let before = lines.len();
    for call in &case.calls {
        let Some(line) = line(call) else { return Ok(Outcome::not_supported("a tool that the program does not know")) };
        lines.push(line);
    }
    let answers = player.answers(&lines)?;
    let words = |values: &[Value]| {
        values
            .iter()
            .map(|one| at(one, "/decision").as_str().unwrap_or("none").to_owned())
            .collect::<Vec<_>>()
            .join(", ")
    };
    let expected = at(&case.expect, "/results").as_array().cloned().unwrap_or_default();
    Ok(Outcome::of(&words(&expected), &words(answers.get(before..).unwrap_or_default())))
}

fn exempt(player: &Player, case: &Case, call: &Call) -> Result<Outcome> {
    let mut lines = all_made(&phases()?, "init");
    lines.extend(line(call));
    Ok(Outcome::of(at(&case.expect, "/exempt"), &allowed(&last(player, &lines)?)))
}

/// The phase of a skill: the one that the feature goes to, or the one that a denial names.
fn skill_phase(player: &Player, case: &Case, call: &Call) -> Result<Outcome> {
    let mut lines = all_made(&phases()?, "init");
    lines.extend(line(call));
    let answer = last(player, &lines)?;
    let attempted = at(&answer, "/attempted").as_str().and_then(|told| told.rsplit_once(" \u{2192} "));
    let phase = match attempted {
        Some((_, "no phase")) => None,
        Some((_, phase)) => Some(phase),
        // What is allowed in every phase has none.
        None => Some(stands(&answer)).filter(|phase| *phase != "init"),
    };
    Ok(Outcome::of(at(&case.expect, "/phase"), &phase.map_or(Value::Null, |phase| json!(phase))))
}

fn transition(player: &Player, case: &Case, call: &Call) -> Result<Outcome> {
    let (Some(from), Some(to)) = (call.text("from"), call.text("to")) else {
        return Ok(Outcome::not_supported("a transition without its ends"));
    };
    let phases = phases()?;
    let Some(name) = phases.iter().find(|phase| phase.name == to).and_then(|phase| phase.skill.as_ref()) else {
        return Ok(Outcome::not_supported("no call leads to this phase"));
    };
    let mut lines = all_made(&phases, from);
    lines.push(skill(name));
    let answer = last(player, &lines)?;
    Ok(Outcome::of(at(&case.expect, "/valid"), &(allowed(&answer) && stands(&answer) == to)))
}

fn enters(player: &Player, case: &Case, call: &Call) -> Result<Outcome> {
    let phases = phases()?;
    let row = phases.iter().find(|phase| Some(phase.name.as_str()) == call.text("phase"));
    let Some(Phase { name: to, skill: Some(name), before, .. }) = row else {
        return Ok(Outcome::not_supported("no call leads to this phase"));
    };
    let made = case.setup.pointer("/task_graph/phase_artifacts").cloned().unwrap_or_default();
    let mut lines =
        vec![state(&json!({"current_phase": before, "phase_artifacts": made, "tasks": [{"id": "T1", "wave": 1}]}))];
    lines.extend(files(&case.setup));
    lines.push(skill(name));
    let answer = last(player, &lines)?;
    Ok(Outcome::of(at(&case.expect, "/valid"), &(allowed(&answer) && stands(&answer) == to)))
}

fn next_phase(player: &Player, case: &Case, call: &Call) -> Result<Outcome> {
    let graph = json!({"current_phase": call.text("phase"), "tasks": [{"id": "T1", "wave": 1}]});
    let answer = last(player, &[state(&graph)])?;
    let told = at(&answer, "/obligations/0/context").as_str().unwrap_or_default();
    let next = told.split_once("Next phase: \"").and_then(|(_, rest)| rest.split_once('"')).map(|(next, _)| next);
    // After the last phase there is that phase.
    Ok(Outcome::of(at(&case.expect, "/next"), &json!(next.or(call.text("phase")))))
}

/// A path is one of a document if the phase that makes it may write it.
fn artifact_path(player: &Player, case: &Case, call: &Call) -> Result<Outcome> {
    let path = call.text("path").unwrap_or_default();
    let phase = if path.contains("/plans/") { "architecture" } else { "specify" };
    let mut lines = all_made(&phases()?, phase);
    lines.push(write(path));
    let answer = last(player, &lines)?;
    let told = at(&answer, "/obligations").as_array().into_iter().flatten();
    let deprecated = |text: &str| text.contains("that place is deprecated");
    let warned = told.into_iter().any(|one| one["context"].as_str().is_some_and(deprecated));
    let got = json!({"allowed": allowed(&answer), "legacy_warning": warned});
    Ok(Outcome::of(&case.expect, &got))
}

fn protected_path(player: &Player, case: &Case, call: &Call) -> Result<Outcome> {
    let mut lines = all_made(&phases()?, "execute");
    lines.push(write(call.text("path").unwrap_or_default()));
    Ok(Outcome::of(at(&case.expect, "/protected"), &!allowed(&last(player, &lines)?)))
}
