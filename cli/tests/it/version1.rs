//! State that the version before wrote: nothing of it is lost, and its session goes on.
//!
//! `tests/version1` holds what that version wrote for a session in `/srv/project`: its state folder, its project, and
//! what its own `audit` commands said (`recorded`).

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use phasegate_store::digest::sha256_hex;
use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";
/// How many records the session's journal has.
const RECORDS: usize = 25;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/version1")
}

/// The state of the version before, moved to where this world's project is.
fn moved() -> World {
    let world = World::unguarded();
    copy(&data().join("project"), &world.root());
    world.write("src/main.rs", "fn main() {}\n");
    copy(&data().join("state"), &world.state());
    let root = world.root();
    let root = root.to_str().unwrap();
    let projects = world.state().join("projects");
    let old = fs::read_dir(&projects).unwrap().next().unwrap().unwrap().path();
    let new = projects.join(&sha256_hex(root.as_bytes())[..32]);
    fs::rename(old, &new).unwrap();
    fs::write(new.join("root"), root).unwrap();
    for entry in fs::read_dir(world.state().join("sessions")).unwrap() {
        fs::write(entry.unwrap().path(), root).unwrap();
    }
    world
}

/// Copies a folder; files and folders are their owner's alone.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    fs::set_permissions(to, fs::Permissions::from_mode(0o700)).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let (from, to) = (entry.as_ref().unwrap().path(), to.join(entry.unwrap().file_name()));
        if from.is_dir() {
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).unwrap();
            fs::set_permissions(&to, fs::Permissions::from_mode(0o600)).unwrap();
        }
    }
}

fn recorded(name: &str) -> String {
    fs::read_to_string(data().join("recorded").join(name)).unwrap()
}

fn value(world: &World, args: &[&str]) -> Value {
    serde_json::from_str(&world.run(args, 0)).unwrap()
}

fn verified(world: &World) -> Vec<u64> {
    let output = world.phasegate(&["--json", "audit", "verify"]).output().unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!((&report["fits"], &report["findings"]), (&json!(true), &json!([])));
    report["journals"].as_array().unwrap().iter().map(|journal| journal["records"].as_u64().unwrap()).collect()
}

#[test]
fn its_journals_are_verified_and_shown_as_it_showed_them() {
    let world = moved();
    assert_eq!(verified(&world), [21, 25]);
    let shown = value(&world, &["--json", "audit", "show", "--last", "100"]);
    let wanted: Value = serde_json::from_str(&recorded("show.json")).unwrap();
    for (shown, wanted) in shown.as_array().unwrap().iter().zip(wanted.as_array().unwrap()) {
        assert_eq!(shown, wanted);
    }
    assert_eq!(shown.as_array().unwrap().len(), RECORDS);
    assert_eq!(world.run(&["audit", "export"], 0), recorded("export.jsonl"));
}

#[test]
fn each_of_its_records_is_decided_again() {
    let world = moved();
    for (at, wanted) in recorded("why.jsonl").lines().enumerate() {
        let wanted: Value = serde_json::from_str(wanted).unwrap();
        let output = world.phasegate(&["--json", "audit", "why", &(at + 1).to_string()]).output().unwrap();
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        // The value of a fact is written in another form by now.
        let keys = |value: &Value| value["facts"].as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        assert_eq!(keys(&found), keys(&wanted), "facts of record {}", at + 1);
        for part in ["seq", "engine", "event", "decision", "records", "problem", "policy_version"] {
            assert_eq!(found[part], wanted[part], "{part} of record {}", at + 1);
        }
        assert_eq!(found["again"]["possible"], true, "record {}", at + 1);
        // An approval of then was of no run: by now a name is approved where it waits.
        if found["event"]["name"] == "approve" {
            continue;
        }
        // A text of a decision may be worded otherwise by now, and a state may note more of an open call; what is decided
        // may not differ.
        let differs = found["again"]["differs"].as_array().unwrap();
        assert!(
            differs.iter().all(|what| what == "decision" || what == "text" || what == "state"),
            "record {}: {differs:?}",
            at + 1
        );
        let again = &found["again"]["decision"];
        for part in ["effect", "code", "skill", "phase"] {
            assert_eq!(again[part], found["decision"][part], "{part} of record {} decided again", at + 1);
        }
    }
}

#[test]
fn its_session_goes_on_where_it_stood() {
    let world = moved();
    let fetch = || json!({"url": "https://example.org", "prompt": "x"});
    let read = json!({"file_path": "src/main.rs"});
    let status = value(&world, &["--json", "status"]);
    assert_eq!((&status["skill_name"], &status["current_phase"]), (&json!("change"), &json!("edit")));
    // A call of then ends now: it is evidence in the project's run. The project's journal has a record with the change of
    // the run, and one with the head of the session's journal.
    world.ok(SESSION, "t7", "Read", read);
    assert_eq!(verified(&world), [23, 26]);
    denied(&world.call(SESSION, "n1", "NotebookEdit", json!({"notebook_path": "a.ipynb"})), "unlisted");
    // Edit was seen and the file is there, so the next phase is open.
    assert!(!matches!(reply(&world.call(SESSION, "n2", "WebFetch", fetch())), Reply::Denied(_)));
    world.ok(SESSION, "n2", "WebFetch", fetch());
    assert_eq!(value(&world, &["--json", "status"])["current_phase"], "review");
    // An approval of then was of no run, so it is given anew. The last phase is then done, and a call that it forbids ends
    // the run.
    world.run(&["approve", "change", "--session", SESSION], 0);
    let edit = json!({"file_path": "src/main.rs", "old_string": "a", "new_string": "b"});
    assert!(!matches!(reply(&world.call(SESSION, "n3", "Edit", edit)), Reply::Denied(_)));
    assert_ne!(value(&world, &["--json", "status"])["skill_name"], "change");
    for record in 26..=31 {
        let why = value(&world, &["--json", "audit", "why", &record.to_string()]);
        assert_eq!(why["again"]["differs"], json!([]), "record {record}");
    }
    assert_eq!(verified(&world)[1], 31);
    let shown = value(&world, &["--json", "audit", "show", "--last", "100"]);
    let wanted: Value = serde_json::from_str(&recorded("show.json")).unwrap();
    assert_eq!(shown.as_array().unwrap()[..RECORDS], wanted.as_array().unwrap()[..]);
}

#[test]
fn a_session_that_begins_beside_it_takes_part_in_the_projects_run() {
    let world = moved();
    world.start("another");
    let status = value(&world, &["--json", "status"]);
    assert!(status["sessions"].as_array().unwrap().iter().any(|session| session["session"] == "another"));
    assert_eq!(verified(&world).len(), 3);
}
