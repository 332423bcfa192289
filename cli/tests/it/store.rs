//! State that is changed, removed or exposed: the next call in block mode is denied.

use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

fn read() -> Value {
    json!({"file_path": "a.rs"})
}

/// A world in which session `s` has so many records.
fn lived(mode: &str, records: usize) -> World {
    let world = World::guarded(mode);
    world.start("s");
    world.call("s", "t0", "Skill", json!({"skill": "careful"}));
    world.ok("s", "t0", "Skill", json!({"skill": "careful"}));
    for number in 3..records {
        world.call("s", &format!("t{number}"), "Read", read());
    }
    world
}

fn project_journal(world: &World) -> PathBuf {
    world.state_file("project.journal")
}

fn journal(world: &World) -> PathBuf {
    let folder = project_journal(world).with_file_name("sessions");
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    files.max_by_key(|path| path.metadata().unwrap().len()).unwrap()
}

fn next(world: &World) -> std::process::Output {
    world.call("s", "next", "Read", read())
}

fn modified(path: &Path) -> SystemTime {
    path.metadata().unwrap().modified().unwrap()
}

fn set_modified(path: &Path, time: SystemTime) {
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

/// Changes one byte of the first record, far above what the hook reads of a journal.
fn alter(path: &Path) {
    let text = fs::read_to_string(path).unwrap();
    fs::write(path, text.replacen("session_start", "session_stort", 1)).unwrap();
}

/// What is done to a world's state.
type Damage = fn(&World);

/// A place of a world.
type Where = fn(&World) -> PathBuf;

#[test]
fn a_byte_that_was_altered_far_up_is_seen_at_the_next_call_which_names_the_record() {
    let world = lived("block", 60);
    let path = journal(&world);
    assert!(path.metadata().unwrap().len() > 32 * 1024, "more than the snapshot and the records after it");
    assert_eq!(reply(&next(&world)), Reply::Silent);
    let good = fs::read(&path).unwrap();
    alter(&path);
    for _ in 0..2 {
        assert!(denied(&next(&world), "state-unreadable").contains("record 1 was changed"));
    }
    fs::write(&path, good).unwrap();
    assert_eq!(reply(&next(&world)), Reply::Silent, "as it was again");
    let text = fs::read_to_string(&path).unwrap();
    assert!(text.lines().last().unwrap().contains("\"unsealed\":true"), "and that is recorded");
    assert_eq!(reply(&next(&world)), Reply::Silent);
    assert!(!fs::read_to_string(&path).unwrap().lines().last().unwrap().contains("unsealed"));
    world.run(&["audit", "verify"], 0);
}

#[test]
fn setting_back_the_time_of_a_journal_hides_no_change() {
    let world = lived("block", 60);
    let path = journal(&world);
    // As if the last record was written some time ago.
    let sealed = modified(&path) - Duration::from_secs(60);
    set_modified(&path, sealed);
    assert_eq!(reply(&next(&world)), Reply::Silent, "the chain is read, and is whole");
    let sealed = modified(&path) - Duration::from_secs(60);
    alter(&path);
    set_modified(&path, sealed);
    denied(&next(&world), "state-unreadable");
}

#[test]
fn the_projects_journal_is_sealed_too() {
    let world = lived("block", 20);
    let path = project_journal(&world);
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replacen("\"session\":\"s\"", "\"session\":\"z\"", 1)).unwrap();
    denied(&next(&world), "state-unreadable");
}

#[test]
fn whatever_part_of_the_state_is_taken_away_is_missed() {
    let parts: [(&str, Damage); 7] = [
        ("the session's journal", |world| fs::remove_file(journal(world)).unwrap()),
        ("all journals of sessions", |world| fs::remove_dir_all(journal(world).parent().unwrap()).unwrap()),
        ("the project's journal", |world| fs::remove_file(project_journal(world)).unwrap()),
        ("both journals", |world| {
            fs::remove_file(journal(world)).unwrap();
            fs::remove_file(project_journal(world)).unwrap();
        }),
        ("all that is kept of the project", |world| {
            fs::remove_dir_all(project_journal(world).parent().unwrap()).unwrap();
        }),
        ("all that is kept of projects", |world| fs::remove_dir_all(world.state().join("projects")).unwrap()),
        ("everything", |world| fs::remove_dir_all(world.state()).unwrap()),
    ];
    for (what, take) in parts {
        // With one record, the project has not noted any yet.
        for records in [1, 12] {
            let world = if records == 1 { World::guarded("block") } else { lived("block", records) };
            world.start("s");
            take(&world);
            for _ in 0..2 {
                let output = next(&world);
                assert!(matches!(reply(&output), Reply::Denied(_)), "{what}, {records} records: {output:?}");
                denied(&output, "state-missing");
            }
        }
    }
}

#[test]
fn a_project_whose_state_is_all_gone_goes_on_with_sessions_that_start() {
    let world = lived("block", 12);
    fs::remove_dir_all(world.state()).unwrap();
    denied(&next(&world), "state-missing");
    denied(&world.call("other", "t", "Read", read()), "state-missing");
    world.start("new");
    assert_eq!(reply(&world.call("new", "t", "Read", read())), Reply::Silent);
    denied(&next(&world), "state-missing");
    denied(&world.call("third", "t", "Read", read()), "state-missing");
    world.start("s");
    assert_eq!(reply(&next(&world)), Reply::Silent);
}

#[test]
fn without_any_state_a_session_under_way_is_only_told_in_warn_mode_or_after_init() {
    let world = World::guarded("warn");
    assert_eq!(reply(&next(&world)), Reply::Silent);
    let world = World::unguarded();
    world.run(&["init", "claude-code", "--skill", "lsp-verify", "--mode", "block"], 0);
    assert_eq!(reply(&next(&world)), Reply::Silent, "the guard came while the session was under way");
}

#[test]
fn a_memory_that_is_gone_with_the_config_is_written_anew_until_init_is_undone() {
    let world = World::unguarded();
    world.run(&["init", "claude-code", "--skill", "lsp-verify", "--mode", "block"], 0);
    world.start("s");
    let (memory, config) = (world.state_file("guarded"), world.root().join(".phasegate"));
    let moved = world.root().join("moved");
    let remembered = fs::read(&memory).unwrap();
    fs::remove_file(&memory).unwrap();
    assert_eq!(reply(&world.call("s", "t1", "Read", read())), Reply::Silent, "the config is there");
    fs::rename(&config, &moved).unwrap();
    let told = String::from_utf8(world.start("new").stdout).unwrap();
    assert!(told.contains("the files are gone"), "{told}");
    assert_eq!(reply(&world.call("new", "t", "Read", read())), Reply::Silent, "what was accepted decides");
    assert_eq!(fs::read(&memory).unwrap(), remembered);
    fs::rename(&moved, &config).unwrap();
    world.run(&["init", "claude-code", "--undo"], 0);
    world.start("later");
    assert_eq!(reply(&world.call("later", "t", "Write", json!({"file_path": "a", "content": ""}))), Reply::Silent);
    world.run(&["audit", "verify"], 0);
}

#[test]
fn a_session_that_starts_while_its_config_is_broken_is_not_taken_for_lost() {
    let world = World::guarded("block");
    world.write(".phasegate/config.yaml", "mode: [\n");
    world.start("s");
    denied(&next(&world), "policy-invalid");
    world.write(".phasegate/config.yaml", "mode: block\n");
    assert_eq!(reply(&next(&world)), Reply::Silent);
}

#[test]
fn state_that_others_could_have_written_is_not_believed() {
    let chmod = |path: &Path, mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let guarded = |world: &World| world.state_file("guarded");
    let places: [(Where, u32, u32); 6] = [
        (World::state, 0o770, 0o700),
        (|world| world.state().join("projects"), 0o707, 0o700),
        (|world| project_journal(world).parent().unwrap().to_path_buf(), 0o777, 0o700),
        (|world| journal(world).parent().unwrap().to_path_buf(), 0o720, 0o700),
        (journal, 0o660, 0o600),
        (project_journal, 0o606, 0o644),
    ];
    let world = lived("block", 12);
    for (place, bad, good) in places {
        let path = place(&world);
        chmod(&path, bad);
        assert!(denied(&next(&world), "state-exposed").contains("can be written by others"));
        chmod(&path, good);
        assert_eq!(reply(&next(&world)), Reply::Silent, "{}", path.display());
    }
    chmod(&guarded(&world), 0o622);
    denied(&next(&world), "state-exposed");
    chmod(&guarded(&world), 0o600);

    for path in [journal(&world), project_journal(&world), guarded(&world), journal(&world).parent().unwrap().into()] {
        let moved = world.root().join("moved");
        fs::rename(&path, &moved).unwrap();
        symlink(&moved, &path).unwrap();
        denied(&next(&world), "state-exposed");
        fs::remove_file(&path).unwrap();
        fs::rename(&moved, &path).unwrap();
        assert_eq!(reply(&next(&world)), Reply::Silent, "{}", path.display());
    }
}

#[test]
fn the_folder_of_all_state_may_be_a_link_of_the_users_own() {
    let world = World::guarded("block");
    let real = world.root().join("../real");
    fs::create_dir(&real).unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o700)).unwrap();
    symlink(&real, world.state()).unwrap();
    world.start("s");
    assert_eq!(reply(&next(&world)), Reply::Silent);
}

#[test]
fn what_is_made_is_its_owners_alone_whatever_the_process_would_let() {
    let world = World::guarded("block");
    let start = json!({"session_id": "s", "cwd": world.root(), "hook_event_name": "SessionStart", "source": "startup"});
    let line = format!("umask 0; printf %s '{start}' | exec {} hook claude-code", env!("CARGO_BIN_EXE_phasegate"));
    let mut shell = std::process::Command::new("/bin/sh");
    assert!(shell.args(["-c", &line]).env_clear().envs(world.variables()).status().unwrap().success());
    let mut all = vec![world.state()];
    while let Some(path) = all.pop() {
        let data = path.metadata().unwrap();
        assert_eq!(data.permissions().mode() & 0o077, 0, "{}", path.display());
        if data.is_dir() {
            all.extend(fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        }
    }
    assert_eq!(reply(&next(&world)), Reply::Silent);
}

#[test]
fn a_journal_of_a_newer_version_denies_and_is_left_as_it_is() {
    let world = lived("block", 4);
    let path = journal(&world);
    let text = fs::read_to_string(&path).unwrap().replace("{\"v\":3,", "{\"v\":4,");
    fs::write(&path, &text).unwrap();
    denied(&next(&world), "state-version");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
}
