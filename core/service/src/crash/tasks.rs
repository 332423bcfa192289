//! A workflow of 40 tasks, in waves and with dependencies, killed after every event and resumed: nothing is lost, and nothing
//! is done twice.

use std::collections::BTreeSet;
use std::fs;

use phasegate_core::State;
use phasegate_core::state::{Run, Status};
use phasegate_store::disk::faulty::{Change, watched};
use serde_json::{Value, json};

use super::{Image, World, decide, open, stride, unsynced};

const TASKS: usize = 40;
const OF_A_WAVE: usize = 8;
const FLOW: &str = "skill: flow\ndescription: A list of tasks, then each.\nscope: project\nmode: block\nartifacts: {tasks: \
                    {path: [plan.json]}}\nphases:\n  list: {produces: [tasks]}\n  execute: {requires: {artifact: tasks}, \
                    run: {each: tasks, after: after, barrier: wave, skill: task, gate: {ok: {command: gate}}}}\n";
const TASK: &str = "skill: task\ndescription: One task.\nscope: project\nmode: block\ninputs: {id: 'T[0-9]+'}\nphases:\n  \
                    write: {allowed: [{writes: 'src/${id}.rs'}], done_when: {ok: {writes: 'src/${id}.rs'}}, leave: \
                    on_done}\n";

/// The tasks: of each wave every second one waits for the one before.
fn plan() -> String {
    let task = |at: usize| {
        let after = (at % 2 == 1).then(|| format!("T{}", at - 1));
        json!({"id": format!("T{at}"), "wave": at / OF_A_WAVE, "after": after})
    };
    Value::from_iter((0..TASKS).map(task)).to_string()
}

fn flow(state: &State) -> Option<&Run> {
    state.project.runs.iter().find(|run| run.skill == "flow")
}

/// The names of the tasks that are done.
fn finished(state: &State) -> Vec<usize> {
    flow(state).and_then(|run| run.plan.as_ref()).map(|progress| progress.finished.clone()).unwrap_or_default()
}

/// What an agent does next that only knows where the workflow stands: a call, and then its result. `None`: it is over.
fn next(world: &World, state: &State) -> Option<[Value; 2]> {
    let id = format!("c{}", state.session.events);
    let result = || json!({"event": "tool_result", "id": id, "outcome": "ok", "exit_code": 0});
    let runs = |line: &str| {
        Some([json!({"event": "tool_call", "id": id, "tool": "Bash", "input": {"command": line}}), result()])
    };
    let writes = |path: &str| {
        let paths = json!([{"written": path, "access": "write"}]);
        let call = json!({
            "event": "tool_call", "id": id, "tool": "Write", "input": {"file_path": path}, "reading": {"paths": paths},
        });
        Some([call, result()])
    };
    let Some(run) = flow(state) else {
        return Some([json!({"event": "skill", "name": "flow", "by": "human"}), json!({"event": "idle"})]);
    };
    match &run.plan {
        _ if run.status != Status::Active => None,
        _ if run.at_gate() => runs("gate"),
        Some(progress) => {
            let (_, task) = progress.ready().next().unwrap();
            writes(&format!("src/{}.rs", task.id))
        }
        None if world.folder.path().join("project/plan.json").exists() => writes("src/T0.rs"),
        None => writes("plan.json"),
    }
}

/// Decides an event in a process of its own; the state after it.
fn tell(world: &World, state: &str, event: &Value) -> State {
    let runtime = world.runtime(state);
    let mut driver = open(&runtime, &world.project(&runtime)).unwrap();
    let outcome = decide(&mut driver, event).unwrap();
    let denied = outcome.decision.filter(|decision| !decision.lets_through());
    assert!(denied.is_none(), "{event}: {denied:?}");
    if event["input"]["file_path"] == "plan.json" {
        fs::write(world.folder.path().join("project/plan.json"), plan()).unwrap();
    }
    driver.state.clone()
}

/// What is left after these changes; `lost`: without all that was not synced.
fn image(changes: &[Change], lost: bool) -> Image {
    let lost: BTreeSet<usize> = if lost { unsynced(changes).into_iter().collect() } else { BTreeSet::new() };
    let mut image = Image::default();
    let kept = changes.iter().enumerate().filter(|(at, _)| !lost.contains(at));
    kept.for_each(|(_, change)| image.apply(change));
    image
}

/// Goes on by a step, or to the end, and looks that every task was done once.
fn resume(world: &World, name: &str, before: &BTreeSet<usize>, whole: bool) {
    let mut state = tell(world, name, &json!({"event": "session_start", "source": "resume"}));
    while let Some(events) = next(world, &state) {
        for event in events {
            state = tell(world, name, &event);
        }
        let all: Vec<usize> = finished(&state);
        let each: BTreeSet<usize> = all.iter().copied().collect();
        assert!(all.len() == each.len() && each.is_superset(before), "{name}: {before:?} then {all:?}");
        if !whole {
            return;
        }
    }
    let run = flow(&state).unwrap();
    assert_eq!((run.status, finished(&state).len()), (Status::Finished, TASKS), "{name}");
    let runtime = world.runtime(name);
    let journal = fs::read_to_string(world.project(&runtime).journal()).unwrap();
    let ended = journal.matches("\"run_ended\"").count();
    let begun = journal.matches("\"run_begun\"").count();
    assert_eq!((begun, ended), (TASKS + 1, TASKS + 1), "{name}: a task began or ended twice");
}

#[test]
fn a_workflow_of_40_tasks_that_is_killed_at_every_step_loses_nothing_and_does_nothing_twice() {
    let world = World::with(&[("flow", FLOW), ("task", TASK)]);
    let (mut changes, mut stops) = (Vec::new(), Vec::new());
    let mut play = |event: &Value| {
        let (after, made) = watched(None, || tell(&world, "state", event));
        changes.extend(made);
        stops.push((changes.len(), after.clone()));
        after
    };
    let mut state = play(&json!({"event": "session_start", "source": "startup"}));
    while let Some(events) = next(&world, &state) {
        for event in &events {
            state = play(event);
        }
    }
    assert_eq!(finished(&state).len(), TASKS);
    let from = world.folder.path().join("state");
    let file = world.folder.path().join("project/plan.json");
    for (at, (done, answered)) in stops.iter().enumerate() {
        for lost in [false, true] {
            let name = format!("killed-{at}-{lost}");
            let to = world.folder.path().join(&name);
            image(&changes[..*done], lost).write(&from, &to);
            let runtime = world.runtime(&name);
            let found = open(&runtime, &world.project(&runtime)).unwrap().state.clone();
            assert_eq!(found.project, answered.project, "{name}: what was answered is there");
            if flow(&found).is_none_or(|run| run.plan.is_none()) {
                let _ = fs::remove_file(&file);
            }
            // The agent goes on by a step everywhere, and to the end from some places.
            let whole = at % (6 * stride()) == 0;
            resume(&world, &name, &finished(answered).into_iter().collect(), whole);
            fs::write(&file, plan()).unwrap();
            fs::remove_dir_all(to).unwrap();
        }
    }
}
