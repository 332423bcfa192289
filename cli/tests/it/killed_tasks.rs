//! A workflow of forty tasks in four waves whose hook processes are killed at every step of a task: nothing is lost, and no
//! task is done twice.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::{Reply, World, reply};

const BIG: &str = "
skill: big
mode: block
scope: project
artifacts: {plan: {path: [plan.json]}}
phases:
  plan:
    allowed: [{writes: plan.json}]
    produces: [plan]
    leave: on_done
  work:
    run: {each: plan, barrier: wave, skill: unit}
  end:
    allowed: [{writes: end.txt}]
    done_when: {ok: {writes: end.txt}}
";
const UNIT: &str = "
skill: unit
mode: block
inputs: {id: 'T[0-9]+'}
unlisted: deny
phases:
  code:
    done_by: Explore
    allowed: [{writes: 'src/${id}.txt'}]
    done_when: {ok: {writes: 'src/${id}.txt'}}
";
const SESSION: &str = "s";
const TASKS: usize = 40;
const OF_A_WAVE: usize = 10;
/// The messages of a task, in order.
const STEPS: usize = 6;

/// A try at a task, whose subagent and calls have names of their own.
struct Try {
    task: usize,
    number: usize,
}

impl Try {
    fn message(&self, world: &World, step: usize) -> Value {
        let Self { task, number } = self;
        let (start, write) = (format!("start{number}"), format!("write{number}"));
        let agent = json!({"agent_id": format!("agent{number}"), "agent_type": "Explore"});
        let begun = json!({"description": "d", "prompt": format!("Task ID: T{task}"), "subagent_type": "Explore"});
        let file = format!("src/T{task}.txt");
        let written = json!({"file_path": world.root().join(&file), "content": "x"});
        let of = |event: &str, all: [Value; 2]| {
            let mut frame = json!({"session_id": SESSION, "transcript_path": "/t.jsonl", "cwd": world.root(),
                "permission_mode": "default", "hook_event_name": event});
            for fields in all {
                frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            }
            frame
        };
        let start = json!({"tool_name": "Agent", "tool_input": begun, "tool_use_id": start});
        let write = json!({"tool_name": "Write", "tool_input": written, "tool_use_id": write});
        match step {
            0 => of("PreToolUse", [start, json!({})]),
            1 => of("SubagentStart", [agent, json!({})]),
            2 => of("PreToolUse", [write, agent]),
            3 => {
                world.write(&file, &format!("try {number}"));
                let mut fields = write;
                fields["tool_response"] = json!({"type": "create"});
                of("PostToolUse", [fields, agent])
            }
            4 => of("SubagentStop", [json!({"stop_hook_active": false}), agent]),
            _ => {
                let mut fields = start;
                fields["tool_response"] = json!({"status": "completed"});
                of("PostToolUse", [fields, json!({})])
            }
        }
    }
}

/// The state of each task; empty once the phase with the tasks is over.
fn tasks(world: &World) -> BTreeMap<usize, String> {
    let output = world.phasegate(&["status", "runs", "--json"]).output().unwrap();
    if !output.status.success() {
        return BTreeMap::new();
    }
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let of_task = |task: &Value| {
        let id = task["id"].as_str().unwrap().trim_start_matches('T').parse().unwrap();
        (id, task["state"].as_str().unwrap().to_string())
    };
    let plan = told["runs"].as_array().unwrap().iter().find_map(|run| run.get("plan"));
    plan.iter().flat_map(|plan| plan["elements"].as_array().unwrap()).map(of_task).collect()
}

fn finished(world: &World) -> Vec<usize> {
    let tasks = tasks(world);
    if tasks.is_empty() {
        return (1..=TASKS).collect();
    }
    tasks.into_iter().filter(|(_, state)| state == "finished").map(|(task, _)| task).collect()
}

/// A run whose plan has been read.
fn begun() -> World {
    let world = World::unguarded().with_client();
    world.write(".phasegate/skills/big.yaml", BIG);
    world.write(".phasegate/skills/unit.yaml", UNIT);
    let all: Vec<Value> =
        (1..=TASKS).map(|task| json!({"id": format!("T{task}"), "wave": (task - 1) / OF_A_WAVE + 1})).collect();
    let written = json!({"file_path": world.root().join("plan.json"), "content": "x"});
    world.start(SESSION);
    world.call(SESSION, "skill", "Skill", json!({"skill": "big"}));
    world.ok(SESSION, "skill", "Skill", json!({"skill": "big"}));
    world.call(SESSION, "plan", "Write", written.clone());
    world.write("plan.json", &Value::from(all).to_string());
    world.ok(SESSION, "plan", "Write", written);
    assert_eq!(tasks(&world).len(), TASKS);
    world
}

fn go(world: &World, one: &Try, steps: std::ops::Range<usize>) {
    for step in steps {
        let said = reply(&world.hook(one.message(world, step).to_string()));
        assert!(!matches!(said, Reply::Denied(_)), "T{} step {step}: {said:?}", one.task);
    }
}

#[test]
fn forty_tasks_killed_at_every_step_are_all_done_once() {
    let world = begun();
    let mut number = 0;
    for task in 1..=TASKS {
        let before = finished(&world);
        assert_eq!(before, (1..task).collect::<Vec<_>>(), "none is lost, and none is done by another");
        if (task - 1) % OF_A_WAVE == 0 && task > 1 {
            assert!(tasks(&world)[&task] == "live", "the wave begins when the one before is done: {:?}", tasks(&world));
        }
        if task + OF_A_WAVE <= TASKS {
            let later = Try { task: task + OF_A_WAVE, number: 1_000 + task };
            let said = reply(&world.hook(later.message(&world, 0).to_string()));
            assert!(matches!(said, Reply::Denied(_)), "T{} belongs to a later wave: {said:?}", later.task);
        }
        let cut = task % STEPS;
        number += 1;
        let one = Try { task, number };
        go(&world, &one, 0..cut);
        world.killed(&one.message(&world, cut), Duration::from_millis((task * 7 % 5) as u64 * 4));
        world.frame(SESSION, "SessionStart", json!({"source": "resume"}));
        if !finished(&world).contains(&task) {
            number += 1;
            go(&world, &Try { task, number }, 0..STEPS);
        }
        assert!(finished(&world).contains(&task), "T{task} cut at {cut}: {:?}", tasks(&world));
    }
    let end = json!({"file_path": world.root().join("end.txt"), "content": "x"});
    assert!(!matches!(reply(&world.call(SESSION, "end", "Write", end)), Reply::Denied(_)));
    let exported = world.run(&["audit", "export"], 0);
    let began = exported.lines().filter(|line| line.contains("\"target\":\"activate_skill: skill=unit "));
    assert_eq!(began.count(), TASKS, "each task has one run");
    assert!(world.run(&["audit", "verify"], 0).contains("everything fits"));
}
