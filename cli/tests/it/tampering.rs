//! Changed journals: `audit verify` reports them, and the next call in block mode is denied.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::audit::lived;
use crate::support::{Reply, World, denied, reply};

/// The journal of session `s`.
fn journal(world: &World) -> PathBuf {
    let folder = world.state_file("project.journal").with_file_name("sessions");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|end| end == "journal"));
    assert_eq!(files.len(), 1, "{files:?}");
    files.remove(0)
}

/// What `audit verify` finds; it must find something, and change nothing.
fn found(world: &World) -> Vec<Value> {
    let before = snapshot(&world.state());
    let report: Value = serde_json::from_str(&world.run(&["--json", "audit", "verify"], 1)).unwrap();
    assert_eq!(report["fits"], false);
    let text = world.run(&["audit", "verify"], 1);
    for finding in report["findings"].as_array().unwrap() {
        for says in [&finding["message"], &finding["path"], &finding["suggestion"], &finding["code"]] {
            assert!(text.contains(says.as_str().unwrap()), "{says}: {text}");
        }
    }
    assert_eq!(before, snapshot(&world.state()), "verifying writes nothing");
    report["findings"].as_array().unwrap().clone()
}

fn snapshot(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            all.extend(snapshot(&path));
        } else {
            let bytes = fs::read(&path).unwrap();
            all.push((path, bytes));
        }
    }
    all.sort();
    all
}

/// The next call is denied, and so is every other after it.
fn refused(world: &World, code: &str) {
    for id in ["t8", "t9"] {
        denied(&world.call("s", id, "Edit", json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"})), code);
    }
}

#[test]
fn journals_that_nobody_changed_fit_together() {
    let world = lived("block");
    let report: Value = serde_json::from_str(&world.run(&["--json", "audit", "verify"], 0)).unwrap();
    assert_eq!((&report["fits"], &report["findings"]), (&json!(true), &json!([])));
    assert_eq!(report["journals"].as_array().unwrap().len(), 2);
    assert!(world.run(&["audit", "verify"], 0).contains("everything fits"));
}

#[test]
fn one_altered_byte_anywhere_is_found_with_its_record() {
    let untouched = lived("block");
    let length = fs::read(journal(&untouched)).unwrap().len();
    for at in (0..length).step_by(length / 12) {
        let world = lived("block");
        let path = journal(&world);
        let mut bytes = fs::read(&path).unwrap();
        let at = at.min(bytes.len() - 2);
        let record = 1 + bytes[..at].iter().filter(|byte| **byte == b'\n').count();
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        let findings = found(&world);
        let named = findings.iter().any(|finding| finding["record"].as_u64().is_some_and(|seq| seq as usize <= record));
        assert!(named, "byte {at}, record {record}: {findings:?}");
    }
}

#[test]
fn an_altered_byte_denies_the_next_call() {
    for from_end in [3, 200, 2000] {
        let world = lived("block");
        let path = journal(&world);
        let mut bytes = fs::read(&path).unwrap();
        let at = bytes.len() - from_end.min(bytes.len());
        bytes[at] ^= 1;
        fs::write(&path, bytes).unwrap();
        refused(&world, "state-unreadable");
    }
}

#[test]
fn a_tail_that_was_cut_off_before_an_anchor_is_found_and_denies() {
    let world = lived("block");
    let path = journal(&world);
    let text = fs::read_to_string(&path).unwrap();
    let kept: String = text.lines().take(2).map(|line| format!("{line}\n")).collect();
    fs::write(&path, kept).unwrap();
    let findings = found(&world);
    assert!(findings.iter().any(|finding| finding["code"] == "state-missing"), "{findings:?}");
    refused(&world, "state-missing");
}

#[test]
fn a_deleted_journal_is_found_and_denies() {
    for whole_project in [false, true] {
        let world = lived("block");
        let path = if whole_project { world.state_file("project.journal") } else { journal(&world) };
        fs::remove_file(&path).unwrap();
        let findings = found(&world);
        let named = findings.iter().any(|finding| finding["path"] == json!(path.display().to_string()));
        assert!(named || whole_project, "{findings:?}");
        let output = world.call("s", "t8", "Read", json!({"file_path": "a.rs"}));
        denied(&output, "state-");
    }
}

#[test]
fn what_can_be_read_of_a_damaged_journal_is_shown_and_the_damage_is_told() {
    let world = lived("block");
    let path = journal(&world);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("old_string", "0ld_string", 1)).unwrap();
    let output = world.phasegate(&["audit", "show", "--session", "s"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stdout).contains("session begins"));
    assert!(String::from_utf8_lossy(&output.stderr).contains("state-unreadable"));
    assert_eq!(world.phasegate(&["doctor"]).output().unwrap().status.code(), Some(1));
}

/// A journal without its last record.
fn cut(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
    lines.pop();
    fs::write(path, lines.concat()).unwrap();
}

const PLAIN: &str = "skill: plain\nphases:\n  look:\n    allowed: [Read]\n    forbidden: [Edit]\n";

#[test]
fn the_last_record_of_a_session_that_begins_a_run_is_missed() {
    let world = World::guarded("block");
    world.write(".phasegate/skills/plain.yaml", PLAIN);
    world.start("s");
    world.frame("s", "UserPromptExpansion", json!({"expansion_type": "slash_command", "command_name": "plain"}));
    denied(&world.call("s", "t1", "Edit", json!({"file_path": "a.rs"})), "plain");
    let world = World::guarded("block");
    world.write(".phasegate/skills/plain.yaml", PLAIN);
    world.start("s");
    world.frame("s", "UserPromptExpansion", json!({"expansion_type": "slash_command", "command_name": "plain"}));
    cut(&journal(&world));
    assert!(found(&world).iter().any(|finding| finding["code"] == "state-missing"));
    refused(&world, "state-missing");
}

#[test]
fn the_last_record_of_a_project_that_begins_a_run_is_missed() {
    let world = World::guarded("block");
    world.write(".phasegate/skills/plain.yaml", PLAIN);
    world.start("s");
    world.run(&["start", "plain", "--project", world.root().to_str().unwrap()], 0);
    cut(&world.state_file("project.journal"));
    assert!(found(&world).iter().any(|finding| finding["code"] == "state-missing"));
    refused(&world, "state-missing");
    // A client lets no hook refuse that a session starts: it is told, and each call is denied.
    let Reply::Told(told) = reply(&world.start("new")) else { panic!("not told") };
    assert!(told.contains("state-missing"), "{told}");
    denied(&world.call("new", "t", "Read", json!({"file_path": "a"})), "state-missing");
}

#[test]
fn an_empty_memory_of_the_project_is_the_strictest_and_heals() {
    for mode in ["block", "warn"] {
        let world = World::guarded(mode);
        world.start("s");
        let memory = world.state_file("guarded");
        fs::write(&memory, "").unwrap();
        let doctor = String::from_utf8(world.phasegate(&["doctor"]).output().unwrap().stdout).unwrap();
        assert!(doctor.contains("is damaged"), "{doctor}");
        assert!(found(&world).iter().any(|finding| finding["path"].as_str().unwrap().ends_with("guarded")));
        assert_eq!(reply(&world.call("s", "t", "Read", json!({"file_path": "a"}))), Reply::Silent);
        assert_eq!(reply(&world.start("new")), Reply::Silent);
        assert!(fs::read_to_string(&memory).unwrap().contains(mode), "{mode}");
        world.run(&["audit", "verify"], 0);
        // The configs that were accepted stay in force, also where they are gone.
        fs::write(&memory, "").unwrap();
        fs::remove_dir_all(world.root().join(".phasegate")).unwrap();
        let Reply::Told(told) = reply(&world.start("other")) else { panic!("not told: {mode}") };
        assert!(told.contains("the accepted ones stay in force"), "{told}");
        world.call("other", "t", "Skill", json!({"skill": "careful"}));
        let edit = json!({"file_path": "a.rs", "old_string": "a", "new_string": "b"});
        let answer = reply(&world.call("other", "t2", "Edit", edit));
        assert!(matches!(&answer, Reply::Denied(text) | Reply::Told(text) if text.contains("not-done")), "{answer:?}");
        assert_eq!(matches!(answer, Reply::Denied(_)), mode == "block", "{answer:?}");
    }
}
