//! Skills that begin by what a program changed.

use serde_json::json;

use crate::effects::{CODE, is_stopped, ran, tool, world_of};
use crate::support::{Reply, denied, reply};

/// A skill that waits for a call that adds code, and asks for a test first.
const WAITING: &str = r#"
skill: waiting
start: [{before: {writes: "src/**", adds: code, except: [{command: format *}]}}]
phases:
  test:
    allowed: [{command: "*"}, {writes: "tests/**"}]
    forbidden: [{writes: "src/**", adds: code, except: [{command: format *}]}]
    done_when: {ok: {writes: "tests/**"}}
  write:
    allowed: [{command: "*"}, {writes: "{src,tests}/**"}]
"#;

#[test]
fn a_program_that_adds_code_begins_the_skill_that_waits_for_that() {
    let world = world_of("block", "waiting", WAITING);
    assert_eq!(tool(&world, "t1", "printf x > notes.md"), "");
    for (id, body) in [
        ("t2", "printf '# why\\nvalue = 1\\n' > src/a.py; rm src/deep/b.py"),
        ("t3", "mkdir src/new && mv src/a.py src/new/c.py"),
        ("t4", "printf 'f(\\n  a,\\n  b\\n)\\n' > src/f.ts"),
    ] {
        if id == "t4" {
            world.write("src/f.ts", "f(a, b)\n");
            assert!(!is_stopped(&world, "t4a"), "a person's file");
        }
        assert_eq!(tool(&world, id, body), "", "{body}: it adds none");
    }
    assert!(world.run(&["status"], 0).contains("no skill is active"));
    let said = tool(&world, "t5", "printf 'value = 3\\n' > src/new/c.py");
    assert!(
        said.contains("`./tool` (t5) changed `src/new/c.py`, which the \"test\" phase of waiting forbids"),
        "{said}"
    );
    assert!(is_stopped(&world, "t6"));
    world.start("other");
    denied(&world.call("other", "u1", "Bash", json!({"command": "./other"})), CODE);
    world.run(&["restore"], 0);
    // What was put back began nothing.
    assert!(!is_stopped(&world, "t7") && world.run(&["status"], 0).contains("no skill is active"));
    denied(&world.call("s", "t8", "Write", json!({"file_path": "src/b.py", "content": "b = 1\n"})), "not-done");
    // What began is in the record, which is decided again to the same.
    world.run(&["audit", "verify"], 0);
}

#[test]
fn a_program_begins_a_skill_whose_first_phase_allows_what_it_did() {
    let world = world_of("block", "waiting", &WAITING.replacen("\"src/**\", adds", "\"{src,tests}/**\", adds", 1));
    let said = tool(&world, "t1", "printf 'test\\n' > tests/new.py");
    assert!(!said.contains("forbids") && !world.run(&["status"], 0).contains("no skill is active"), "{said}");
    denied(&world.call("s", "t2", "Write", json!({"file_path": "src/b.py", "content": "b = 1\n"})), "not-done");
    world.run(&["audit", "verify"], 0);
}

/// A skill that asks whether files are as they were before the call that began it.
const DOCUMENTED: &str = r#"
skill: documented
start: [{before: {writes: "src/**"}}]
finish: required
phases:
  work:
    allowed: [{writes: ["src/**", "docs/**"]}]
    done_when: {any: [{unchanged: FILES}, {ok: {writes: "docs/**"}}]}
"#;

#[test]
fn a_run_that_a_program_begins_has_what_was_there_before_as_its_beginning() {
    let ended = |files: &str, body: &str| {
        let world = world_of("block", "documented", &DOCUMENTED.replacen("FILES", files, 1));
        tool(&world, "t1", body);
        assert!(!world.run(&["status"], 0).contains("no skill is active"), "{body}");
        let held = reply(&world.frame("s", "Stop", json!({"stop_hook_active": false})));
        world.run(&["audit", "verify"], 0);
        matches!(held, Reply::Silent)
    };
    // A program whose text names the file is no less.
    let world = world_of("block", "documented", &DOCUMENTED.replacen("FILES", "\"src/**\"", 1));
    tool(&world, "t0", "true");
    ran(&world, "t1", "python3 -c \"open('src/a.py', 'a').write('x')\"");
    let held = reply(&world.frame("s", "Stop", json!({"stop_hook_active": false})));
    assert!(!matches!(held, Reply::Silent), "{held:?}");
    world.run(&["audit", "verify"], 0);
    let (one, both) = ("echo 1 >> src/a.py", "echo 1 >> src/a.py; echo 1 >> tests/a.py");
    assert!(!ended("\"src/**\"", one));
    assert!(!ended("src", one));
    // What begins nothing is watched as well, where the skill asks about it.
    assert!(!ended("\"tests/**\"", both));
    assert!(ended("\"tests/**\"", one));
}
