//! `phasegate start --import` and `export`: states of the seed's task planner, in and out again, as data.
//!
//! `PHASEGATE_BLESS=1` writes what is exported into `tests/workflow/states.json`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::support::World;

#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct States {
    states: Vec<Case>,
    refused: Vec<Refused>,
}

/// A state, and what is exported of it, apart from the time.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    files: BTreeMap<String, String>,
    graph: Value,
    exports: Value,
}

/// A state that is not imported.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Refused {
    name: String,
    graph: Value,
    says: String,
}

const FILE: &str = ".opencode/state/active_task_graph.json";

fn world(files: &BTreeMap<String, String>, graph: &Value) -> World {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\nuse: [planned-feature]\n");
    files.iter().for_each(|(path, text)| world.write(path, text));
    world.write(FILE, &graph.to_string());
    world
}

fn exported(files: &BTreeMap<String, String>, graph: &Value) -> Value {
    let world = world(files, graph);
    world.run(&["start", "planned-feature", "--import", FILE], 0);
    // What the run began with is kept: the file may lie elsewhere, and may be gone.
    fs::remove_file(world.root().join(FILE)).unwrap();
    let mut exported: Value = serde_json::from_str(&world.run(&["status", "export"], 0)).unwrap();
    let time = exported.as_object_mut().unwrap().remove("updated_at");
    assert!(time.is_some_and(|time| time.as_str().unwrap().ends_with('Z')));
    let verified = world.run(&["audit", "verify"], 0);
    assert!(verified.contains("everything fits"), "{verified}");
    exported
}

#[test]
fn golden_a_state_of_the_seed_comes_out_as_it_went_in() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/workflow/states.json");
    let mut all: States = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    let bless = std::env::var_os("PHASEGATE_BLESS").is_some();
    for case in &mut all.states {
        let (first, name) = (exported(&case.files, &case.graph), &case.name);
        // What was exported says the same as the state that it came from, and is itself a state.
        for key in ["current_phase", "skipped_phases"] {
            assert_eq!(first[key], case.graph[key], "{name}: {key}");
        }
        for (task, before) in first["tasks"].as_array().unwrap().iter().zip(case.graph["tasks"].as_array().unwrap()) {
            for key in ["id", "wave", "depends_on", "description", "agent", "spec_anchors", "new_tests_required"] {
                assert_eq!(task[key], before[key], "{name}: {key} of {before}");
            }
        }
        assert_eq!(exported(&case.files, &first), first, "{name}: exported, imported and exported again");
        if bless {
            case.exports = first;
        } else {
            assert_eq!(first, case.exports, "{name}");
        }
    }
    if bless {
        fs::write(&path, serde_json::to_string_pretty(&all).unwrap() + "\n").unwrap();
    }
    for Refused { name, graph, says } in &all.refused {
        let world = world(&BTreeMap::new(), graph);
        let output = world.phasegate(&["start", "planned-feature", "--import", FILE]).output().unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && text.contains(says), "{name}: {text}");
        world.run(&["status", "runs"], 1);
    }
}

#[test]
fn an_imported_run_goes_on_in_a_session_and_takes_over_no_live_one() {
    let graph = json!({"current_phase": "specify", "phase_artifacts": {}, "skipped_phases": ["brainstorm"]});
    let world = world(&BTreeMap::new(), &graph);
    world.run(&["start", "planned-feature", "--import", FILE], 0);
    world.run(&["start", "planned-feature", "--import", FILE], 1);
    world.start("one");
    let call = |id: &str, skill: &str| {
        let output = world.call("one", id, "Skill", json!({"skill": skill}));
        String::from_utf8(output.stdout).unwrap().contains("\"deny\"")
    };
    assert!(call("1", "architecture-tech-lead"), "the specification is not there");
    assert!(!call("2", "specify"));
    // A command of a person goes through the session, whose agent is told.
    world.run(&["advance", "architecture"], 1);
    world.run(&["advance", "architecture", "--yes"], 0);
    assert!(!call("3", "architecture-tech-lead"));
    let verified = world.run(&["audit", "verify"], 0);
    assert!(verified.contains("2 journals"), "{verified}");
    let moves = world.run(&["audit", "export"], 0);
    assert!(moves.contains("\"triggered_by\":\"advance\""), "{moves}");
}

const EVERY_WAY: &str = "
skill: odd
description: A skill with every sort of way
phases:
  research:
    allowed: [Read]
    done_when: {ok: Read}
    next: [{to: plan}, {to: build, early: true, when: {file: quick.md}}, {to: ship, when: {file: 'a-file-with-a-rather-long-name-<x>.md'}}]
  plan: {optional: true, allowed: [WebFetch], done_when: {ok: WebFetch}, next: [{to: build}]}
  build: {allowed: [Edit], done_when: {ok: Edit}, back: [{to: plan, limit: 2}, {to: research, limit: 1, when: {file: again.md}}]}
  ship: {allowed: [Write], done_when: {ok: Write}, back: [{to: build, limit: 3}, {to: research, limit: 2}]}
";

#[test]
fn a_drawing_has_every_way() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\n");
    world.write(".phasegate/skills/odd.yaml", EVERY_WAY);
    let mermaid = world.run(&["status", "graph", "odd"], 0);
    for way in [["p0", "p2"], ["p3", "p0"], ["p2", "p1"]] {
        let [from, to] = way;
        let drawn =
            mermaid.lines().any(|line| line.starts_with(&format!("  {from} -")) && line.ends_with(&format!(" {to}")));
        assert!(drawn, "{way:?}");
    }
    world.run(&["status", "graph", "nonsense"], 2);
    world.run(&["status", "graph"], 1);
    world.run(&["status", "graph", "--run", "p9"], 2);
}

#[test]
fn what_no_session_saw_is_in_the_audit_log_too() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\naudit_log: audit.jsonl\n");
    world.write(".phasegate/skills/odd.yaml", &EVERY_WAY.replace("skill: odd", "skill: odd\nscope: project"));
    world.run(&["start", "odd"], 0);
    world.run(&["advance", "build"], 0);
    let log = fs::read_to_string(world.root().join("audit.jsonl")).unwrap();
    let events: Vec<Value> = log.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told = |at: usize, key: &str| events[at]["phase_event"][key].as_str().unwrap().to_string();
    assert_eq!((events.len(), told(0, "event"), told(1, "phase")), (2, "activate_skill".into(), "build".into()));
    assert_eq!(told(1, "triggered_by"), "advance");
}

/// The state as it is exported.
fn export(world: &World) -> Value {
    serde_json::from_str(&world.run(&["status", "export"], 0)).unwrap()
}

/// A call of a session that ends well; `Write` writes its file.
fn done(world: &World, id: &str, tool: &str, input: Value) {
    let asked = world.call("one", id, tool, input.clone());
    let reply = String::from_utf8(asked.stdout).unwrap();
    assert!(!reply.contains("\"deny\""), "{tool} {input}: {reply}");
    if tool == "Write" {
        world.write(input["file_path"].as_str().unwrap(), input["content"].as_str().unwrap());
    }
    let response = match tool {
        "Bash" => {
            json!({"stdout": "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out", "stderr": "", "interrupted": false})
        }
        _ => json!({"success": true, "type": "text"}),
    };
    let fields = json!({"tool_name": tool, "tool_use_id": id, "tool_input": input, "tool_response": response});
    world.frame("one", "PostToolUse", fields);
}

#[test]
fn an_exported_state_is_the_true_one_after_each_step() {
    let spec = |marks: usize| json!({"file_path": ".opencode/specs/f/spec.md", "content": "[NEEDS CLARIFICATION] ".repeat(marks) + "x"});
    let skill = |name: &str| json!({"skill": name});
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\nuse: [planned-feature]\n");
    world.run(&["start", "planned-feature"], 0);
    world.start("one");
    done(&world, "1", "Skill", skill("specify"));
    assert_eq!(export(&world)["current_phase"], "specify");
    done(&world, "2", "Write", spec(5));
    // The other system leaves a phase that is done at once.
    let state = export(&world);
    assert_eq!(state["current_phase"], "clarify");
    assert_eq!(state["phase_artifacts"]["specify"], ".opencode/specs/f/spec.md");
    done(&world, "3", "Skill", skill("clarify"));
    assert_eq!(export(&world)["phase_artifacts"]["specify"], ".opencode/specs/f/spec.md");
    done(&world, "4", "Write", spec(0));
    done(&world, "5", "Skill", skill("architecture-tech-lead"));
    done(&world, "6", "Write", json!({"file_path": ".opencode/plans/f.md", "content": "# Plan"}));
    done(&world, "7", "Skill", skill("task-planner"));
    let tasks = json!({"tasks": [{"id": "T1", "wave": 1}, {"id": "T2", "wave": 2}]});
    done(&world, "8", "Write", json!({"file_path": ".opencode/plans/f.json", "content": tasks.to_string()}));
    let state = export(&world);
    assert_eq!((&state["current_phase"], &state["skipped_phases"]), (&json!("execute"), &json!(["brainstorm"])));
    for (task, number) in [("T1", 10), ("T2", 20)] {
        let id = |at: usize| (number + at).to_string();
        done(&world, &id(0), "Skill", skill("code-implementer"));
        done(&world, &id(1), "Write", json!({"file_path": format!("src/{task}.rs"), "content": "fn a() {}"}));
        done(&world, &id(2), "Bash", json!({"command": "cargo test"}));
        done(&world, &id(3), "Skill", skill("review-skill"));
        let review = format!(".opencode/reviews/{task}.md");
        done(&world, &id(4), "Write", json!({"file_path": review, "content": "Verdict: PASSED"}));
        let state = export(&world);
        let at = if task == "T1" { 0 } else { 1 };
        assert_eq!(state["tasks"][at]["tests_passed"], true, "{state}");
        done(&world, &id(5), "Skill", skill("wave-gate"));
        done(&world, &id(6), "Bash", json!({"command": "cargo test"}));
    }
    // It waits for the person, which the other system does not know of.
    let state = export(&world);
    let gate = json!({"impl_complete": true, "tests_passed": true, "reviews_complete": true});
    assert_eq!((&state["current_phase"], &state["current_wave"]), (&json!("execute"), &json!(2)));
    assert_eq!(state["wave_gates"], json!({"1": gate, "2": gate}));
    for task in state["tasks"].as_array().unwrap() {
        assert_eq!((&task["status"], &task["tests_passed"]), (&json!("completed"), &json!(true)), "{state}");
    }
}

#[test]
fn a_run_that_no_session_has_seen_can_be_ended_and_skips_nothing_that_nobody_skips() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\nuse: [planned-feature]\n");
    world.run(&["start", "planned-feature"], 0);
    for order in [["advance", "accept"], ["skip", "decompose"]] {
        let refused = world.phasegate(&order).output().unwrap();
        let told = String::from_utf8(refused.stderr).unwrap();
        assert!(refused.status.code() == Some(1) && told.contains("nobody skips"), "{told}");
    }
    assert!(world.run(&["end", "planned-feature"], 0).contains("has ended in this project"));
    world.run(&["status", "runs"], 1);
}
