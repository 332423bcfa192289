//! What calls did to files, seen afterwards: a change that no analysis of a line sees stops the run, until it is undone or a
//! person accepts it.

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

pub(crate) const CODE: &str = "forbidden-change";

const SKILL: &str = r#"
skill: red
start: [session]
phases:
  test:
    allowed: [Read, {command: "*"}, {writes: "tests/**"}]
    forbidden: [{writes: "src/**", except: [{writes: "src/free/**"}, {command: format *}]}]
    done_when: {ok: {writes: "tests/**"}}
  write:
    allowed: [Read, Edit, Write, {command: "*"}]
"#;

const BEFORE: &str = "value = 1\n";

/// A project in whose first phase code is forbidden, with a session that was told so.
fn world(mode: &str) -> World {
    world_of(mode, "red", SKILL)
}

pub(crate) fn world_of(mode: &str, name: &str, skill: &str) -> World {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", &format!("mode: {mode}\n"));
    world.write(&format!(".phasegate/skills/{name}.yaml"), skill);
    world.write("src/a.py", BEFORE);
    world.write("src/deep/b.py", "b = 1\n");
    world.write("tests/a.py", "\n");
    world.write(".claude/settings.json", r#"{"permissions": {"allow": []}, "hooks": {}}"#);
    world.write(".claude/hooks/own.sh", "exit 0\n");
    world.write(".gitignore", "src/made/\n");
    shell(&world, "git init -q . && git add -A && git -c user.name=t -c user.email=t@example.com commit -qm start");
    world.start("s");
    world
}

/// Runs a line as the client would, once the guard let it through.
fn shell(world: &World, line: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(world.root()).env_clear().envs(world.variables());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// What the client shows its user, and what its agent reads.
fn told(output: &Output) -> String {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let field = |name: &str| answer.pointer(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let (person, agent) = (field("/systemMessage"), field("/hookSpecificOutput/additionalContext"));
    assert!(agent.contains(&person), "both are told: {answer}");
    person
}

/// Plays a line that the guard lets through: what is told with its result.
pub(crate) fn ran(world: &World, id: &str, line: &str) -> String {
    let input = json!({"command": line});
    let asked = world.call("s", id, "Bash", input.clone());
    assert!(!matches!(reply(&asked), Reply::Denied(_)), "{line}: {asked:?}");
    shell(world, line);
    told(&world.ok("s", id, "Bash", input))
}

/// Writes a program of which the guard knows nothing, and runs it.
pub(crate) fn tool(world: &World, id: &str, body: &str) -> String {
    let path = world.root().join("tool");
    fs::write(&path, format!("#!/bin/sh\nset -e\n{body}\n")).unwrap();
    shell(world, "chmod +x tool");
    ran(world, id, "./tool")
}

pub(crate) fn is_stopped(world: &World, id: &str) -> bool {
    match reply(&world.call("s", id, "Bash", json!({"command": "./other"}))) {
        Reply::Denied(text) => {
            assert!(text.contains(CODE), "{text}");
            true
        }
        _ => {
            world.ok("s", id, "Bash", json!({"command": "./other"}));
            false
        }
    }
}

fn text(world: &World, path: &str) -> Option<String> {
    fs::read_to_string(world.root().join(path)).ok()
}

/// Ways in which a program changes `src/a.py`, or what else is forbidden: what happens before, the line, and the path.
const WAYS: [(&str, &str, &str); 22] = [
    ("", "sed -i s/1/2/ src/a.py", "src/a.py"),
    ("", "printf 'value = 2\\n' > src/a.py", "src/a.py"),
    ("", "n=src; printf 'value = 2\\n' > $n/a.py", "src/a.py"),
    ("", "python3 -c \"open('src/'+'a.py','a').write('x')\"", "src/a.py"),
    ("", "perl -pi -e s/1/2/ src/a.py", "src/a.py"),
    ("", "mv src elsewhere && mkdir src && printf x > src/a.py && mv elsewhere/deep src/", "src/a.py"),
    ("", "ln src/a.py link && printf y >> link && rm link", "src/a.py"),
    ("", "ln -s src/a.py link && printf y >> link && rm link", "src/a.py"),
    ("", "printf y > n && mv -f n src/a.py", "src/a.py"),
    ("", "printf 'value = 2\\n' > n && cp n src/a.py", "src/a.py"),
    ("", "rm src/a.py", "src/a.py"),
    ("", "printf new > src/new.py", "src/new.py"),
    ("", "mkdir -p src/x/y && printf new > src/x/y/z.py", "src/x/y/z.py"),
    (
        "mkdir p && cp -r src p/ && printf t > p/src/a.py && tar cf a.tar -C p src && rm -r p",
        "tar xf a.tar",
        "src/a.py",
    ),
    ("printf 'all:\\n\\tprintf m > src/a.py\\n' > Makefile.in", "make -s -f Makefile.in", "src/a.py"),
    (
        "mkdir -p .git/hooks && printf '#!/bin/sh\\nprintf h > src/a.py\\n' > .git/hooks/post-commit && chmod +x .git/hooks/post-commit",
        "git -c user.name=t -c user.email=t@example.com commit -q --allow-empty -m x",
        "src/a.py",
    ),
    (
        "git config filter.f.smudge 'printf f > src/a.py; cat' && printf 'n.txt filter=f\\n' > .gitattributes && printf n > n.txt && git add n.txt .gitattributes && git -c user.name=t -c user.email=t@example.com commit -qm n && rm n.txt",
        "git checkout -q -- n.txt",
        "src/a.py",
    ),
    (
        "",
        "python3 -c \"import sqlite3 as s; c=s.connect('src/a.py.db'); c.execute('create table t(a)'); c.commit()\"",
        "src/a.py.db",
    ),
    // The same size, and the time of the last change put back.
    ("", "touch -r src/a.py ref && printf 'value = 9\\n' > src/a.py && touch -r ref src/a.py", "src/a.py"),
    ("", "printf 'value = 9\\n' | dd of=src/a.py conv=notrunc status=none", "src/a.py"),
    ("", "truncate -s 0 src/deep/b.py", "src/deep/b.py"),
    ("cp src/a.py old && printf v > src/a.py && git diff > p.diff && cp old src/a.py", "git apply p.diff", "src/a.py"),
];

#[test]
fn a_program_that_changes_what_is_forbidden_stops_the_run_until_it_is_as_it_was() {
    for (number, (before, body, path)) in WAYS.iter().enumerate() {
        let world = world("block");
        if !before.is_empty() {
            shell(&world, before);
        }
        let kept = (text(&world, "src/a.py"), text(&world, path));
        assert_eq!(tool(&world, "t0", "true"), "", "{body}");
        let told = tool(&world, "t1", body);
        assert!(told.contains(&format!("`./tool` (t1) changed `{path}`")), "{number} {body}: {told}");
        assert!(told.contains("\"test\" phase of red"), "{body}: {told}");
        assert!(is_stopped(&world, "t2"), "{body}");
        // What only reads passes.
        assert!(!matches!(reply(&world.call("s", "t3", "Read", json!({"file_path": path}))), Reply::Denied(_)));
        let listed = world.run(&["restore", "--list"], 0);
        assert!(listed.contains(path) && listed.contains("./tool"), "{listed}");
        let status = world.run(&["status"], 0);
        assert!(status.contains("stopped:") && status.contains(path), "{status}");
        assert!(is_stopped(&world, "t4"), "{body}: listing changes nothing");
        world.run(&["restore"], 0);
        assert_eq!((text(&world, "src/a.py"), text(&world, path)), kept, "{body}");
        assert!(!world.run(&["status"], 0).contains("stopped:"), "{body}");
        assert!(!is_stopped(&world, "t5"), "{body}");
        assert!(world.run(&["restore", "--list"], 0).contains("no call changed"), "{body}");
    }
}

#[test]
fn the_agent_can_undo_its_own_change() {
    for undo in [
        json!({"command": "git restore src/a.py"}),
        json!({"command": "git checkout -- src/a.py"}),
        json!({"command": "phasegate restore"}),
    ] {
        let world = world("block");
        tool(&world, "t1", "printf x > src/a.py");
        assert!(is_stopped(&world, "t2"));
        ran(&world, "t3", undo["command"].as_str().unwrap());
        assert_eq!(text(&world, "src/a.py").as_deref(), Some(BEFORE), "{undo}");
        assert!(!is_stopped(&world, "t4"), "{undo}");
    }
    let world = world("block");
    tool(&world, "t1", "printf x > src/a.py");
    let edit = json!({"file_path": "src/a.py", "old_string": "x", "new_string": BEFORE});
    assert!(!matches!(reply(&world.call("s", "t2", "Edit", edit.clone())), Reply::Denied(_)));
    world.write("src/a.py", BEFORE);
    world.ok("s", "t2", "Edit", edit);
    assert!(!is_stopped(&world, "t3"));
    // Another file than the changed one is none of it, and the phase is still the one that forbids it.
    tool(&world, "t4", "printf x > src/a.py");
    denied(&world.call("s", "t5", "Edit", json!({"file_path": "src/deep/b.py"})), CODE);
    denied(&world.call("s", "t6", "Bash", json!({"command": "git restore src/a.py src/deep/b.py"})), CODE);
    denied(&world.call("s", "t7", "Bash", json!({"command": "git restore src/a.py && ./tool"})), CODE);
    world.run(&["restore"], 0);
    denied(&world.call("s", "t8", "Edit", json!({"file_path": "src/a.py"})), "not-done");
}

#[test]
fn a_person_accepts_a_change_and_no_agent_does() {
    let world = world("block");
    tool(&world, "t1", "printf x > src/a.py");
    denied(&world.call("s", "t2", "Bash", json!({"command": "phasegate restore --keep"})), "self-protection");
    // While a call that can run programs is open, nobody knows who gives the command.
    let free = world.call("s", "t3", "Bash", json!({"command": "phasegate restore"}));
    assert!(!matches!(reply(&free), Reply::Denied(_)), "{free:?}");
    let refused = world.phasegate(&["restore", "--keep"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(String::from_utf8_lossy(&refused.stderr).contains("only a person"), "{refused:?}");
    world.ok("s", "t3", "Bash", json!({"command": "phasegate restore"}));
    assert!(is_stopped(&world, "t4"));
    assert!(world.run(&["restore", "--keep"], 0).contains("src/a.py"));
    assert!(!is_stopped(&world, "t5"));
    assert_eq!(text(&world, "src/a.py").as_deref(), Some("x"));
    assert!(
        tool(&world, "t6", "printf y > src/a.py").contains("changed `src/a.py`"),
        "from now on it is as it was then"
    );
}

#[test]
fn what_is_allowed_or_nobodys_doing_stops_nothing() {
    let world = world("block");
    assert_eq!(tool(&world, "t1", "printf x > notes.md; printf t > tests/a.py"), "");
    assert_eq!(tool(&world, "t2", "mkdir -p src/free && printf x > src/free/a.py"), "", "the line makes an exception");
    assert_eq!(tool(&world, "t3", "mkdir -p src/made && printf x > src/made/a.py"), "", "the repository ignores it");
    assert_eq!(tool(&world, "t4", "mkdir -p src/__pycache__ && printf x > src/__pycache__/a.pyc"), "");
    assert_eq!(tool(&world, "t5", "touch src/a.py && chmod +x src/a.py"), "", "the content is the same");
    assert!(!is_stopped(&world, "t6"));
    // A person at work.
    world.write("src/a.py", "value = 3\n");
    let input = json!({"command": "./other"});
    let asked = world.call("s", "t7", "Bash", input.clone());
    assert!(told(&asked).contains("`src/a.py` changed while no call was running"), "{asked:?}");
    world.ok("s", "t7", "Bash", input);
    assert!(!is_stopped(&world, "t8"), "told once, and taken for what it is");
    // What a call makes ignored is not believed.
    let said = tool(&world, "t9", "printf 'src/late/\\n' >> .gitignore && mkdir src/late && printf x > src/late/a.py");
    assert!(said.contains("changed `src/late/a.py`"), "{said}");
    world.run(&["restore"], 0);
    assert!(!is_stopped(&world, "t10"));
}

#[test]
fn a_phase_that_allows_it_is_told_nothing() {
    let world = world("block");
    tool(&world, "t0", "true");
    let input = json!({"file_path": "tests/a.py", "content": "x\n"});
    world.call("s", "t1", "Write", input.clone());
    world.write("tests/a.py", "x\n");
    world.ok("s", "t1", "Write", input);
    let edit = json!({"file_path": "src/a.py", "old_string": "1", "new_string": "2"});
    let asked = world.call("s", "t2", "Edit", edit.clone());
    assert!(!matches!(reply(&asked), Reply::Denied(_)), "{asked:?}");
    world.write("src/a.py", "value = 2\n");
    assert!(!told(&world.ok("s", "t2", "Edit", edit)).contains("changed"));
    assert!(!tool(&world, "t3", "printf x > src/a.py").contains("changed"));
    assert!(!is_stopped(&world, "t4"));
}

#[test]
fn what_lifts_the_line_that_forbids_ends_the_stop_too() {
    let skill = "skill: red\nstart: [session]\nphases:\n  work:\n    allowed: [Read, {command: \"*\"}]\n    \
                 forbidden: [{writes: \"src/**\", until: {approved: free}}]\n";
    let world = world_of("block", "red", skill);
    tool(&world, "t1", "printf x > src/a.py");
    assert!(is_stopped(&world, "t2"));
    world.run(&["approve", "free"], 0);
    assert!(!is_stopped(&world, "t3"));
    assert_eq!(text(&world, "src/a.py").as_deref(), Some("x"));
}

#[test]
fn an_agent_that_ends_its_turn_reads_first_what_has_to_be_put_back() {
    let world = world_of("block", "red", &format!("{SKILL}    done_when: {{ok: Edit}}\nfinish: required\n"));
    tool(&world, "t1", "printf x > src/a.py");
    let held = world.frame("s", "Stop", json!({"stop_hook_active": false}));
    let answer: Value = serde_json::from_slice(&held.stdout).unwrap();
    let reason = answer["reason"].as_str().unwrap_or_default();
    assert!(reason.starts_with("Put `src/a.py` back first (`phasegate restore`)"), "{answer}");
    world.run(&["restore"], 0);
    let held = world.frame("s", "Stop", json!({"stop_hook_active": false}));
    assert!(!String::from_utf8_lossy(&held.stdout).contains("back first"), "{held:?}");
}

#[test]
fn what_goes_on_after_its_call_is_found_by_the_next() {
    let world = world("block");
    tool(&world, "t0", "true");
    let input = json!({"command": "./tool &"});
    world.call("s", "t1", "Bash", input.clone());
    world.ok("s", "t1", "Bash", input);
    world.write("src/a.py", "late\n");
    let asked = world.call("s", "t2", "Bash", json!({"command": "./other"}));
    let text = denied(&asked, CODE);
    assert!(text.contains("`./tool &` (t1)") && text.contains("left running"), "{text}");
    world.run(&["restore"], 0);
    assert!(!is_stopped(&world, "t3"));
}

#[test]
fn what_goes_on_is_held_responsible_while_a_call_is_open_that_reads() {
    let world = world("block");
    tool(&world, "t0", "true");
    let input = json!({"command": "sh gen.sh &"});
    world.call("s", "t1", "Bash", input.clone());
    world.ok("s", "t1", "Bash", input);
    let wait = json!({"command": "sleep 3"});
    world.call("s", "t2", "Bash", wait.clone());
    world.write("src/a.py", "late\n");
    let said = told(&world.ok("s", "t2", "Bash", wait));
    assert!(said.contains("`sh gen.sh &` (t1)") && said.contains("left running"), "{said}");
    assert!(is_stopped(&world, "t3"));
}

#[test]
fn a_mode_that_warns_tells_and_stops_nothing() {
    let world = world("warn");
    tool(&world, "t0", "true");
    assert!(tool(&world, "t1", "printf x > src/a.py").contains("changed `src/a.py`"));
    assert!(!is_stopped(&world, "t2"));
}

#[test]
fn what_the_guard_depends_on_stops_every_call() {
    for (body, path) in [
        ("printf '{\"hooks\": {}, \"disableAllHooks\": true}' > .claude/settings.json", ".claude/settings.json"),
        ("printf '{\"disableAllHooks\": true}' > .claude/settings.local.json", ".claude/settings.local.json"),
        ("printf 'exit 1' > .claude/hooks/own.sh", ".claude/hooks/own.sh"),
        ("mkdir -p .claude/agents && printf x > .claude/agents/new.md", ".claude/agents/new.md"),
        (
            "mkdir -p ~/.claude && printf '{\"disableAllHooks\": true}' > ~/.claude/settings.json",
            "/home/.claude/settings.json",
        ),
    ] {
        let world = world("block");
        tool(&world, "t0", "true");
        let said = tool(&world, "t1", body);
        assert!(said.contains(&format!("{path}`, which the guard depends on")), "{body}: {said}");
        assert!(is_stopped(&world, "t2"), "{body}");
        // In every session of the project.
        world.start("other");
        denied(&world.call("other", "u1", "Edit", json!({"file_path": "tests/a.py"})), CODE);
        world.run(&["restore"], 0);
        assert!(!is_stopped(&world, "t3"), "{body}");
    }
}

/// Without the hooks nobody would be asked in the next session, so that a denial would come too late.
#[test]
fn settings_without_which_nothing_starts_the_guard_are_put_back_at_once() {
    for (body, path) in [
        ("printf '{}' | tee .claude/settings.json > ~/.claude/settings.json", ".claude/settings.json"),
        ("printf '{\"disableAllHooks\": true}' > .claude/settings.local.json", ".claude/settings.local.json"),
        (
            "mkdir -p a/.claude && printf '{\"disableAllHooks\": true}' > a/.claude/settings.local.json && \
             tar cf a.tar -C a .claude && tar xf a.tar",
            ".claude/settings.local.json",
        ),
    ] {
        let world = world("block").with_client();
        world.install_program();
        world.run(&["init", "claude-code", "--mode", "block"], 0);
        world.start("s");
        let kept = text(&world, path);
        assert_eq!(tool(&world, "t0", "true"), "", "{body}");
        let said = tool(&world, "t1", body);
        assert!(
            said.contains(&format!("`./tool` (t1) changed `{path}`")) && said.contains("put back"),
            "{body}: {said}"
        );
        assert_eq!(text(&world, path), kept, "{body}");
        assert!(!is_stopped(&world, "t2"), "{body}");
        assert!(world.run(&["restore", "--list"], 0).contains("no call changed"), "{body}");
    }
}

/// A person may do that, and so may a program that left every call behind: the person is asked.
#[test]
fn settings_without_which_nothing_starts_the_guard_stop_the_calls_whoever_changed_them() {
    let world = world("block").with_client();
    world.install_program();
    world.run(&["init", "claude-code", "--mode", "block"], 0);
    world.start("s");
    assert_eq!(tool(&world, "t0", "true"), "");
    world.write(".claude/settings.json", "{\"model\": \"other\"}");
    assert!(!is_stopped(&world, "t1"), "the user's own settings start it");
    world.write(".claude/settings.local.json", "{\"disableAllHooks\": true}");
    assert!(is_stopped(&world, "t2"));
    // The denial is the agent's to read: the person is told with the next answer.
    let next = || told(&world.frame("s", "PostToolBatch", json!({})));
    let said = next();
    assert!(said.contains("changed `.claude/settings.local.json`, which the guard depends on"), "{said}");
    assert_eq!(next(), "", "once");
    assert!(world.run(&["restore", "--list"], 0).contains("while no call was open"));
    fs::remove_file(world.root().join(".claude/settings.local.json")).unwrap();
    assert!(!is_stopped(&world, "t3"));
}

#[test]
fn nothing_is_put_back_through_a_link() {
    let world = world("block");
    tool(&world, "t0", "true");
    let said =
        tool(&world, "t1", "mkdir ../outside && printf theirs > ../outside/a.py && rm -r src && ln -s ../outside src");
    assert!(said.contains("changed `src/"), "{said}");
    assert!(world.run(&["restore"], 1).contains("is a link now"));
    assert_eq!(fs::read_to_string(world.root().join("../outside/a.py")).unwrap(), "theirs");
    assert!(is_stopped(&world, "t2"));
    shell(&world, "rm src && mkdir src");
    world.run(&["restore"], 0);
    assert_eq!(text(&world, "src/a.py").as_deref(), Some(BEFORE));
    assert!(!is_stopped(&world, "t3"));
}

#[test]
fn what_the_client_itself_writes_and_what_is_accepted_first_stop_nothing() {
    let world = world("block");
    tool(&world, "t0", "true");
    let answered = "printf '{\"permissions\": {\"allow\": [\"Bash(ls)\"]}, \"hooks\": {}}' > .claude/settings.json";
    assert_eq!(tool(&world, "t1", answered), "", "a person's answer to the client's own question");
    let said = tool(&world, "t2", "printf 'mode: warn\\n' > .phasegate/config.yaml");
    assert!(said.contains("`.phasegate/config.yaml` changed") && said.contains("accepted"), "{said}");
    assert!(!is_stopped(&world, "t3"));
}

#[test]
fn what_the_guard_compares_with_is_not_taken_away() {
    for body in [
        "rm \"$PHASEGATE_STATE_DIR\"/projects/*/effects/*; printf x > src/a.py",
        "for f in \"$PHASEGATE_STATE_DIR\"/projects/*/effects/*; do cp \"$f\" n; cat n > \"$f\"; done; printf x > src/a.py",
    ] {
        let world = world("block");
        tool(&world, "t0", "true");
        let said = tool(&world, "t1", body);
        assert!(said.contains("effects/") && said.contains("which the guard depends on"), "{body}: {said}");
        assert!(is_stopped(&world, "t2"), "{body}");
        world.run(&["restore"], 1);
        assert!(is_stopped(&world, "t3"), "nothing is kept to compare with: {body}");
        world.run(&["restore", "--keep"], 0);
        assert!(!is_stopped(&world, "t4"), "{body}");
        assert!(tool(&world, "t5", "printf y > src/a.py").contains("changed `src/a.py`"), "{body}");
    }
}

/// A client obeys what lies in the folder that it is started in: what is new there is told, and where it would start no guard,
/// or is another project's, it is a violation.
#[test]
fn what_a_client_would_obey_in_a_folder_below_is_seen() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\n");
    world.run(&["init", "claude-code"], 0);
    world.start("s");
    let told = tool(&world, "t1", "mkdir -p pkg/a/.claude && echo '{\"env\": {}}' > pkg/a/.claude/settings.json");
    assert!(told.contains("a client that is started in `pkg/a` obeys it"), "{told}");
    assert!(!is_stopped(&world, "t2"));
    for (id, path, text) in [
        ("a", "pkg/b/.claude/settings.local.json", r#"{"disableAllHooks": true}"#),
        ("b", "pkg/c/.claude/settings.json", r#"{"env": {"PHASEGATE_STATE_DIR": "/tmp/x"}}"#),
        ("c", "pkg/d/.phasegate/config.yaml", "mode: warn"),
    ] {
        let folder = path.rsplit_once('/').unwrap().0;
        tool(&world, id, &format!("mkdir -p {folder} && echo '{text}' > {path}"));
        assert!(is_stopped(&world, &format!("{id}2")), "{path}");
        world.run(&["restore"], 0);
        assert!(!is_stopped(&world, &format!("{id}3")) && self::text(&world, path).is_none(), "{path}");
    }
}
