//! Which lines run held by the client's shell, by the rules alone: played by `phasegate replay --confine`.

use serde_json::{Value, json};

use crate::support::World;

/// The line of the decision table by which a shell line is answered, where a shipped skill stands in its first phase.
fn answered(skill: &str, confine: bool, line: &str) -> String {
    let world = World::guarded("block");
    let calls = [
        json!({"event": "session_start", "session": "s", "source": "startup", "cwd": world.root()}),
        json!({"event": "tool_call", "session": "s", "id": "c1", "tool": "Bash", "input": {"command": line}}),
    ];
    let transcript: String = calls.iter().map(|call| format!("{call}\n")).collect();
    let confine = if confine { &["--confine"][..] } else { &[] };
    let mut replay = world.phasegate(&["replay", "-", "--skill", skill, "--mode", "block"]);
    let output = replay.args(confine).write_stdin(transcript).output().unwrap();
    let stdout = String::from_utf8(output.stdout).unwrap();
    let told: Value = serde_json::from_str(stdout.lines().last().unwrap_or_default()).unwrap_or_default();
    assert!(!told.is_null(), "{}", String::from_utf8_lossy(&output.stderr));
    told["line"].as_str().unwrap_or("none").to_owned()
}

#[test]
fn a_phase_that_only_reads_lets_run_what_can_keep_nothing() {
    for (skill, line, held, bare) in [
        // What is not known to read.
        ("plan-mode", "python3 -m pytest -q", "confined", "unlisted_denied"),
        ("plan-mode", "sed -i s/a/b/ src/a.py && cargo test | tail -3; git diff --stat", "confined", "unlisted_denied"),
        ("plan-mode", "git commit -qam x", "confined", "unlisted_denied"),
        ("plan-mode", "./unknown --x", "confined", "unlisted_denied"),
        // What a later phase lists, and whose way is not open.
        ("careful-feature", "cargo test", "confined", "not_done"),
        // What reads runs as before.
        ("plan-mode", "ls && git status", "unlisted", "unlisted"),
        // What needs another machine.
        ("plan-mode", "git push", "unlisted_denied", "unlisted_denied"),
        ("plan-mode", "make && curl https://example.org", "unlisted_denied", "unlisted_denied"),
        ("plan-mode", "gh pr create --fill", "unlisted_denied", "unlisted_denied"),
        // What the phase lists stays, so nothing that is held stands beside it.
        ("plan-mode", "echo '{}' > plans/a.json", "allowed", "allowed"),
        ("plan-mode", "echo '{}' > plans/a.json; make", "unlisted_denied", "unlisted_denied"),
        // What writes an artifact of another phase.
        ("careful-feature", "echo x > docs/plan.md", "not_done", "not_done"),
        // A skill that lets pass what it does not list has nothing to hold.
        ("test-first", "make", "allowed", "allowed"),
        ("test-first", "sed -i s/a/b/ src/a.py", "forbidden", "forbidden"),
        // The compat form stays as it is.
        ("lsp-refactor@compat", "make", "unlisted", "unlisted"),
    ] {
        assert_eq!(answered(skill, true, line), held, "{skill}: {line}");
        assert_eq!(answered(skill, false, line), bare, "{skill}: {line}, not held");
    }
}
