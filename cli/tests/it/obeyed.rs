//! Who changes what readers obey runs programs, and the session no longer believes that these readers only read.

use std::fs;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

/// `cli/tests/obeyed.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    changes: Vec<Row>,
    keeps: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    what: String,
    reader: String,
    calls: Vec<Call>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    tool: String,
    input: Value,
}

const SKILL: &str = "
skill: review
mode: block
phases:
  write: { allowed: [Write, Edit, Bash, mcp__fs__write_file], done_when: { ok: Edit } }
  look: { allowed: [Read] }
";
const STRICT: &str = "
skill: strict
mode: block
phases:
  write: { allowed: [Write, Edit], forbidden: ['@execute'] }
";

fn world() -> World {
    let world = World::unguarded();
    for (path, text) in [
        (".phasegate/skills/review.yaml", SKILL),
        (".phasegate/skills/strict.yaml", STRICT),
        ("notes.md", "x\n"),
        ("a.json", "{}\n"),
        ("data/__init__.py", ""),
        (".git/config", "[core]\n\tbare = false\n"),
        ("evil/.git/config", ""),
        ("bare/HEAD", ""),
    ] {
        world.write(path, text);
    }
    std::os::unix::fs::symlink(".git", world.root().join("linked")).unwrap();
    world
}

fn rows() -> File {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/obeyed.toml")).unwrap();
    toml::from_str(&text).unwrap()
}

/// An input with the folders of this world in it.
fn placed(world: &World, input: &Value) -> Value {
    let path = world.search_path();
    let bin = path.to_str().unwrap().split(':').next().unwrap();
    let home = format!("\"{}/", world.home().display());
    serde_json::from_str(&input.to_string().replace("BIN", bin).replace("\"~/", &home)).unwrap()
}

/// A session in a phase that allows reading only, in which this call was made in the phase before.
fn changed(world: &World, session: &str, call: &Call) {
    world.start(session);
    world.call(session, "s", "Skill", json!({"skill": "review"}));
    let edit = json!({"file_path": "notes.md", "old_string": "x", "new_string": "y"});
    for (id, tool, input) in [
        ("1", call.tool.as_str(), placed(world, &call.input)),
        ("2", "Edit", edit),
        ("3", "Read", json!({"file_path": "notes.md"})),
    ] {
        let answer = world.call(session, id, tool, input.clone());
        assert!(!matches!(reply(&answer), Reply::Denied(_)), "{tool} {input}: {answer:?}");
        world.ok(session, id, tool, input);
    }
}

fn bash(line: &str) -> Value {
    json!({"command": line})
}

#[test]
fn a_reader_is_denied_after_a_change_of_what_it_obeys() {
    let world = world();
    for (row, number) in rows().changes.iter().flat_map(|row| row.calls.iter().map(move |call| (row, call))).zip(0..) {
        let (row, call) = row;
        let session = format!("c{number}");
        changed(&world, &session, call);
        let answer = world.call(&session, "4", "Bash", bash(&row.reader));
        let denied = matches!(reply(&answer), Reply::Denied(_));
        assert!(denied, "{}: {} {}: {answer:?}", row.what, call.tool, call.input);
    }
}

#[test]
fn a_reader_runs_after_other_changes() {
    let world = world();
    for (row, number) in rows().keeps.iter().flat_map(|row| row.calls.iter().map(move |call| (row, call))).zip(0..) {
        let (row, call) = row;
        let session = format!("k{number}");
        changed(&world, &session, call);
        let answer = world.call(&session, "4", "Bash", bash(&row.reader));
        let denied = matches!(reply(&answer), Reply::Denied(_));
        assert!(!denied, "{}: {} {}: {answer:?}", row.what, call.tool, call.input);
    }
}

#[test]
fn a_change_that_is_denied_loses_no_trust_and_one_that_a_person_reloads_after_is_trusted_again() {
    let world = world();
    let config = json!({"file_path": ".git/config", "old_string": "x", "new_string": "fsmonitor = x"});
    changed(&world, "s", &Call { tool: "Edit".into(), input: config.clone() });
    denied(&world.call("s", "4", "Bash", bash("git status")), "unlisted");
    assert!(!matches!(reply(&world.call("s", "5", "Bash", bash("ls"))), Reply::Denied(_)));
    world.run(&["reload", "--session", "s"], 0);
    assert!(!matches!(reply(&world.call("s", "6", "Bash", bash("git status"))), Reply::Denied(_)));
    world.call("s", "7", "Edit", config);
    assert!(!matches!(reply(&world.call("s", "8", "Bash", bash("git status"))), Reply::Denied(_)));
}

#[test]
fn what_a_runner_starts_counts_again_when_a_person_has_it_read_anew_and_the_denial_says_so() {
    let world = world();
    world.run(&["safety", "register", "go-gmail", "READ=npx go-gmail * search *"], 0);
    let packages = json!({"file_path": "package.json", "content": "{}"});
    changed(&world, "s", &Call { tool: "Write".into(), input: packages });
    let answer = world.call("s", "4", "Bash", bash("npx go-gmail me search x"));
    let Reply::Denied(why) = reply(&answer) else { panic!("{answer:?}") };
    assert!(why.contains("`npx` runs was changed by earlier calls") && why.contains("`phasegate reload`"), "{why}");
    world.run(&["reload", "--session", "s"], 0);
    assert!(!matches!(reply(&world.call("s", "5", "Bash", bash("npx go-gmail me search x"))), Reply::Denied(_)));
}

#[test]
fn such_a_write_counts_as_running_programs() {
    let world = world();
    world.start("s");
    world.call("s", "s", "Skill", json!({"skill": "strict"}));
    let write = |path: &str, id: &str| world.call("s", id, "Write", json!({"file_path": path, "content": "x = y\n"}));
    for (id, path) in [("0", "src/a.rs"), ("1", "src/types.py")] {
        assert!(!matches!(reply(&write(path, id)), Reply::Denied(_)), "{path}");
    }
    denied(&write(".git/config", "2"), "forbidden");
}

#[test]
fn a_session_after_a_cleared_one_trusts_no_more_than_it() {
    let world = world();
    let config = json!({"file_path": ".git/config", "old_string": "x", "new_string": "fsmonitor = x"});
    changed(&world, "before", &Call { tool: "Edit".into(), input: config });
    world.frame("before", "SessionEnd", json!({"reason": "clear"}));
    world.frame("after", "SessionStart", json!({"source": "clear"}));
    world.call("after", "s", "Skill", json!({"skill": "review"}));
    for (id, tool, input) in [
        ("1", "Edit", json!({"file_path": "notes.md", "old_string": "x", "new_string": "y"})),
        ("2", "Read", json!({"file_path": "notes.md"})),
    ] {
        world.call("after", id, tool, input.clone());
        world.ok("after", id, tool, input);
    }
    denied(&world.call("after", "4", "Bash", bash("git status")), "unlisted");
    assert!(!matches!(reply(&world.call("after", "5", "Bash", bash("ls"))), Reply::Denied(_)));
}
