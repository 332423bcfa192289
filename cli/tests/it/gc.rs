//! `phasegate gc`: old journals go, by a person's command, and are not missed.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::audit::lived;
use crate::support::{World, denied};

/// Makes everything that is kept so many days old.
fn age(world: &World, days: u64) {
    let moment = SystemTime::now() - Duration::from_secs(days * 24 * 60 * 60);
    let mut folders = vec![world.state()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                File::options().write(true).open(path).unwrap().set_modified(moment).unwrap();
            }
        }
    }
}

fn gc(world: &World, args: &[&str]) -> Value {
    let args: Vec<_> = ["--json", "gc"].iter().chain(args).copied().collect();
    serde_json::from_str(&world.run(&args, 0)).unwrap()
}

#[test]
fn an_old_session_goes_and_is_not_missed() {
    let world = lived("block");
    assert_eq!(gc(&world, &[])["removed"], json!([]), "it is young");
    age(&world, 100);
    let shown = gc(&world, &["--dry-run"]);
    assert_eq!(shown["removed"][0]["session"], "s");
    assert!(world.run(&["audit", "show"], 0).contains("session begins"), "a dry run removes nothing");
    let text = world.run(&["gc"], 0);
    assert!(text.contains("of session s"), "{text}");
    world.run(&["audit", "verify"], 0);
    world.frame("two", "SessionStart", json!({"source": "startup"}));
    world.call("two", "t0", "Skill", json!({"skill": "careful"}));
    denied(&world.call("two", "t1", "Edit", json!({"file_path": "a.rs"})), "not-done");
}

#[test]
fn how_old_is_said_in_days() {
    let world = lived("block");
    age(&world, 10);
    assert_eq!(gc(&world, &["--dry-run", "--older-than", "30"])["removed"], json!([]));
    assert_eq!(gc(&world, &["--dry-run", "--older-than", "5"])["removed"][0]["session"], "s");
}

#[test]
fn a_live_run_in_block_mode_stays() {
    let world = World::guarded("block");
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    world.call("s", "t0", "Skill", json!({"skill": "careful"}));
    world.ok("s", "t0", "Skill", json!({"skill": "careful"}));
    age(&world, 100);
    let report = gc(&world, &[]);
    assert_eq!(report["kept"][0]["why"], "a run in block mode is live in it");
    assert!(report["removed"].as_array().unwrap().iter().all(|removed| removed["session"].is_null()), "{report}");
}

#[test]
fn the_agent_may_not_remove_anything() {
    let world = lived("block");
    world.frame("two", "SessionStart", json!({"source": "startup"}));
    world.call("two", "t1", "Bash", json!({"command": "make"}));
    let output = world.phasegate(&["gc", "--older-than", "0"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("command-refused"));
    world.run(&["audit", "show", "--session", "s"], 0);
}
