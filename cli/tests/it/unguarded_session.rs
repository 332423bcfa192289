//! Sessions that a client keeps and that its plugin said nothing about, in the client's own database
//! (`adapters/ID/tests/sessions/VERSION.db`: the table of one session, with the folder and the times replaced).

use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

use phasegate_adapter::{Adapter, SessionTable};
use serde_json::{Value, json};

use crate::support::World;

/// The folder in the database as it is kept; slashes at the end make it long enough for every other one.
const FOLDER: usize = 300;
/// The times there.
const TIMES: [i64; 2] = [1_795_412_429_264, 1_795_412_438_350];
const MINUTE: i64 = 60_000;

fn platforms() -> Vec<(&'static dyn Adapter, SessionTable)> {
    let all = phasegate_adapters::all().into_iter();
    let found: Vec<_> = all.filter_map(|adapter| Some((adapter, adapter.diagnostics().session_table()?))).collect();
    assert!(!found.is_empty());
    found
}

/// Lets the client keep one session, in this folder and with these times.
fn keep(world: &World, adapter: &dyn Adapter, table: &SessionTable, folder: &Path, times: [i64; 2]) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../adapters").join(adapter.id()).join("tests/sessions");
    let mut sources = fs::read_dir(source).unwrap();
    let mut bytes = fs::read(sources.next().unwrap().unwrap().path()).unwrap();
    let project = |folder: &str| format!("{folder:/<FOLDER$}").into_bytes();
    replace(&mut bytes, &project("/project"), &project(folder.to_str().unwrap()));
    for (old, new) in TIMES.into_iter().zip(times) {
        replace(&mut bytes, &old.to_be_bytes()[2..], &new.to_be_bytes()[2..]);
    }
    let path = world.home().join(".local/share").join(table.database);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

fn replace(bytes: &mut [u8], old: &[u8], new: &[u8]) {
    let at = bytes.windows(old.len()).position(|part| part == old).unwrap();
    bytes[at..at + old.len()].copy_from_slice(new);
}

/// A project with the plugin, as installed an hour ago.
fn installed(adapter: &dyn Adapter) -> World {
    let world = World::unguarded();
    world.run(&["init", adapter.id(), "--mode", "block"], 0);
    let then = SystemTime::now() - Duration::from_secs(3600);
    for path in adapter.installer().places().installed_files(&world.root(), &world.home()) {
        if let Ok(file) = fs::File::options().write(true).open(path) {
            file.set_modified(then).unwrap();
        }
    }
    world
}

/// Keeps that the plugin's bridge last answered then.
fn answered(world: &World, adapter: &dyn Adapter, last: i64) {
    let beat = json!({
        "client_version": "9.9.9", "version": env!("CARGO_PKG_VERSION"), "bridge": null, "client": null,
        "started": last, "last": last, "ended": true,
    });
    let kept = world.state_file("init.json").with_file_name(format!("bridge-{}.json", adapter.id()));
    fs::write(kept, beat.to_string()).unwrap();
}

/// What the doctor says of a session without the guard.
fn told(world: &World, adapter: &dyn Adapter) -> Option<String> {
    let output = world.phasegate(&["--json", "doctor"]).output().unwrap();
    let said: Value = serde_json::from_slice(&output.stdout).unwrap();
    let sections = said["sections"].as_array().unwrap();
    let own = sections.iter().find(|section| section["about"] == adapter.id()).unwrap();
    let findings = own["findings"].as_array().unwrap();
    let text = |finding: &Value| finding["what"].as_str().unwrap().to_string();
    let found = findings.iter().find(|finding| text(finding).contains("ran here without the guard"))?;
    assert_eq!((&found["level"], output.status.code()), (&json!("problem"), Some(1)), "{found}");
    Some(text(found))
}

fn now() -> i64 {
    i64::try_from(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_millis()).unwrap()
}

#[test]
fn a_session_during_which_the_plugin_never_ran_is_found() {
    for (adapter, table) in platforms() {
        let world = installed(adapter);
        assert_eq!(told(&world, adapter), None);
        keep(&world, adapter, &table, &world.root(), [now() - 20 * MINUTE, now() - 10 * MINUTE]);
        let said = told(&world, adapter).unwrap();
        assert!(said.ends_with("the plugin has never run in this project"), "{said}");

        // One of before the plugin was installed, and one elsewhere.
        keep(&world, adapter, &table, &world.root(), [now() - 120 * MINUTE, now() - 90 * MINUTE]);
        assert_eq!(told(&world, adapter), None);
        keep(&world, adapter, &table, &world.home(), [now() - 20 * MINUTE, now() - 10 * MINUTE]);
        assert_eq!(told(&world, adapter), None);
        let below = world.root().join("src");
        fs::create_dir(&below).unwrap();
        keep(&world, adapter, &table, &below, [now() - 20 * MINUTE, now() - 10 * MINUTE]);
        assert!(told(&world, adapter).is_some());
    }
}

#[test]
fn a_session_after_the_plugins_last_word_is_found() {
    for (adapter, table) in platforms() {
        let world = installed(adapter);
        keep(&world, adapter, &table, &world.root(), [now() - 50 * MINUTE, now() - 10 * MINUTE]);
        answered(&world, adapter, now() - 10 * MINUTE);
        assert_eq!(told(&world, adapter), None);
        // A long reply without a call.
        answered(&world, adapter, now() - 15 * MINUTE);
        assert_eq!(told(&world, adapter), None);
        answered(&world, adapter, now() - 25 * MINUTE);
        let said = told(&world, adapter).unwrap();
        assert!(said.contains("the plugin last answered at "), "{said}");

        // A new session, a short one.
        keep(&world, adapter, &table, &world.root(), [now() - 10 * MINUTE, now() - 10 * MINUTE]);
        answered(&world, adapter, now() - 12 * MINUTE);
        assert!(told(&world, adapter).is_some());
    }
}

#[test]
fn a_plugin_that_was_taken_away_after_it_had_run_is_found() {
    for (adapter, table) in platforms() {
        let world = installed(adapter);
        answered(&world, adapter, now() - 40 * MINUTE);
        for path in adapter.installer().places().installed_files(&world.root(), &world.home()) {
            fs::remove_file(path).ok();
        }
        keep(&world, adapter, &table, &world.root(), [now() - 20 * MINUTE, now() - 10 * MINUTE]);
        assert!(told(&world, adapter).is_some());
    }
}
