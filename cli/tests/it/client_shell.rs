//! The program as the shell of a client: this test is the client, which asks its hook and then starts its shell.
#![cfg(target_os = "linux")]
#![allow(clippy::print_stderr, reason = "a test that can show nothing here says why")]

use std::fs;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{Reply, World, reply};

const LOOK: &str = "
skill: look
start: [session]
phases:
  look:
    do: look at what is there
    allowed: [Read]
    unlisted: read_only
";

/// A world in which a phase only reads and the program is the client's shell; `None` where no level holds a line.
fn world(config: &str) -> Option<World> {
    world_of(config, LOOK)
}

/// The same with this skill.
fn world_of(config: &str, skill: &str) -> Option<World> {
    let world = World::unguarded().with_client();
    world.write(".phasegate/config.yaml", &format!("mode: block\n{config}"));
    world.write(".phasegate/skills/skill.yaml", skill);
    world.run(&["init", "claude-code"], 0);
    fs::create_dir(world.shell().parent().unwrap()).unwrap();
    fs::copy(world.home().join(".local/share/phasegate/shell/bash"), world.shell()).unwrap();
    let probe = world.phasegate(&["confine", "probe"]).output().unwrap();
    if probe.status.code() != Some(0) {
        eprintln!("no level works here: {}", String::from_utf8_lossy(&probe.stdout));
        return None;
    }
    world.start("s");
    Some(world)
}

fn asked(world: &World, id: &str, line: &str) -> Reply {
    reply(&world.call("s", id, "Bash", json!({"command": line})))
}

/// What the client writes around a line.
fn envelope(line: &str) -> String {
    format!(
        "\\builtin shopt -u extglob && eval '{}' < /dev/null && pwd -P >| /tmp/claude-0-cwd",
        line.replace('\'', r#"'"'"'"#)
    )
}

fn run(world: &World, text: &str) -> Output {
    let mut shell = Command::new(world.shell());
    shell.args(["-c", text]).current_dir(world.root()).env_clear().envs(world.variables()).output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Tells the hook that a line ended with this status.
fn ended(world: &World, id: &str, line: &str, status: i32) -> Output {
    let error = format!("Exit code {status}");
    let fields = json!({"tool_name": "Bash", "tool_input": {"command": line}, "tool_use_id": id, "error": error});
    world.frame("s", "PostToolUseFailure", fields)
}

fn status(world: &World) -> Value {
    serde_json::from_str(&world.run(&["--json", "status"], 0)).unwrap()
}

#[test]
fn a_line_that_is_not_known_to_read_runs_and_nothing_of_it_stays() {
    let Some(world) = world("") else { return };
    let line = "echo 'a b' > new; cat new";
    assert_eq!(asked(&world, "c1", line), Reply::Silent);
    let output = run(&world, &envelope(line));
    let told = told(&output);
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(73), b"a b\n".as_slice()), "{told}");
    assert!(told.starts_with("not kept: A new\nphasegate: Phase look of skill look only reads"), "{told}");
    assert!(told.contains("Now: look at what is there."), "{told}");
    assert!(!world.root().join("new").exists());
    ended(&world, "c1", line, 73);
    let status = status(&world);
    let session = &status["sessions"][0];
    assert!(session["not_kept"][0]["end"]["changes"][0]["path"].as_str().unwrap().ends_with("/new"), "{session}");
    assert_eq!(status.get("alarms"), None, "{status}");
}

#[test]
fn a_line_without_a_ticket_is_held_as_long_as_the_phase_holds_lines() {
    let Some(world) = world("") else { return };
    assert_eq!(asked(&world, "c1", "make"), Reply::Silent);
    assert_eq!(asked(&world, "c2", "ls"), Reply::Silent);
    let output = run(&world, &envelope("echo x > rewritten"));
    assert_eq!(output.status.code(), Some(73), "{}", told(&output));
    assert!(told(&output).contains("in a terminal of their own"), "{}", told(&output));
    // A line that waits for a person's yes is held after the next prompt too.
    world.frame("s", "UserPromptSubmit", json!({"prompt": "go on"}));
    let told = told(&run(&world, &envelope("make")));
    assert!(!told.contains("in a terminal of their own"), "{told}");
    assert_eq!(run(&world, &envelope("ls")).status.code(), Some(0));
    world.frame("s", "SessionEnd", json!({"reason": "exit"}));
    assert_eq!(run(&world, &envelope("echo x > mine")).status.code(), Some(0));
    assert!(world.root().join("mine").exists() && !world.root().join("rewritten").exists());
}

/// In its own plan mode the client asks its user about a line that it does not know. One that keeps nothing needs no answer.
#[test]
fn nobody_is_asked_in_the_clients_plan_mode_about_a_line_that_is_held() {
    let Some(world) = world("") else { return };
    let asks = |id: &str, line: &str, mode: &str| {
        let (name, input) = ("Bash", json!({"command": line}));
        let fields = json!({"tool_name": name, "tool_input": input, "tool_use_id": id, "permission_mode": mode});
        String::from_utf8(world.frame("s", "PermissionRequest", fields).stdout).unwrap()
    };
    assert_eq!(asked(&world, "c1", "make"), Reply::Silent);
    assert!(asks("c1", "make", "plan").contains(r#""decision":{"behavior":"allow"}"#));
    for (id, line, mode) in [("c1", "make", "default"), ("c2", "make install", "plan")] {
        assert_eq!(asks(id, line, mode), "", "{line} in {mode}");
    }
}

#[test]
fn a_held_line_that_ran_elsewhere_is_an_alarm() {
    let Some(world) = world("") else { return };
    let line = "echo x > new";
    assert_eq!(asked(&world, "c1", line), Reply::Silent);
    ended(&world, "c1", line, 1);
    let alarms = status(&world)["alarms"].to_string();
    assert!(alarms.contains("not_held"), "{alarms}");
    assert!(matches!(asked(&world, "c2", line), Reply::Denied(why) if why.contains("ran-unguarded")));
}

#[test]
fn what_needs_the_network_is_denied_and_so_is_everything_where_the_config_says_so() {
    let Some(world) = world("") else { return };
    for line in ["git push", "curl https://example.org", "make && git push"] {
        assert!(matches!(asked(&world, "c1", line), Reply::Denied(_)), "{line}");
    }
    let off = self::world("confine: off\n").unwrap();
    assert!(matches!(asked(&off, "c1", "make"), Reply::Denied(_)));
}

/// A skill with a phase in which commands run that nobody sees into.
const BUILD: &str = "
skill: build
start: [session]
unlisted: allow
phases:
  build:
    do: build it
    allowed: [{command: make}]
";

#[test]
fn no_program_of_a_line_changes_the_guards_own_files() {
    let Some(world) = world_of("", BUILD) else { return };
    fs::write(world.home().join(".bashrc"), "true\n").unwrap();
    world
        .write("evil.txt", "echo x > \"$STATE/x\"; echo x >> ~/.bashrc; mv ~/.local ~/.other; echo y > made; exit 7\n");
    assert_eq!(asked(&world, "c1", "sh evil.txt"), Reply::Silent);
    let text = format!("export STATE={}; {}", world.state().display(), envelope("sh evil.txt"));
    let output = run(&world, &text);
    assert_eq!(output.status.code(), Some(7), "{}", told(&output));
    assert!(told(&output).matches("Read-only file system").count() >= 2, "{}", told(&output));
    assert_eq!(fs::read_to_string(world.home().join(".bashrc")).unwrap(), "true\n");
    assert!(world.root().join("made").exists() && !world.state().join("x").exists());
    assert!(!world.home().join(".other").exists());
}

/// A phase that lists a folder whole.
const DOCS: &str = "
skill: docs
start: [session]
unlisted: read_only
phases:
  write:
    do: write the pages
    allowed: [{writes: \"docs/**\"}]
";

#[test]
fn what_a_line_changes_in_a_folder_that_the_phase_lists_whole_is_kept() {
    let Some(world) = world_of("", DOCS) else { return };
    world.write("docs/a.md", "");
    world.write("elsewhere/a.md", "");
    world.write("build.txt", "echo built > docs/out.md; echo evil > elsewhere/a.md\n");
    assert_eq!(asked(&world, "c1", "sh build.txt"), Reply::Silent);
    let output = run(&world, &envelope("sh build.txt"));
    let says = told(&output);
    assert!(
        says.starts_with("not kept: M elsewhere/a.md\n") && says.contains("keeps what it changes in `docs`"),
        "{says}"
    );
    assert_eq!(fs::read_to_string(world.root().join("docs/out.md")).unwrap(), "built\n");
    assert_eq!(fs::read_to_string(world.root().join("elsewhere/a.md")).unwrap(), "");
    // A link in its place leads nowhere.
    fs::rename(world.root().join("docs"), world.root().join("pages")).unwrap();
    std::os::unix::fs::symlink("elsewhere", world.root().join("docs")).unwrap();
    assert_eq!(asked(&world, "c2", "sh build.txt"), Reply::Silent);
    assert_eq!(run(&world, &envelope("sh build.txt")).status.code(), Some(73));
    assert!(!world.root().join("elsewhere/out.md").exists());
}

#[test]
fn no_line_writes_into_the_clients_own_folder_or_moves_its_texts_away() {
    let Some(world) = world_of("", BUILD) else { return };
    let dotfiles = world.home().join("dotfiles/skills");
    fs::create_dir_all(&dotfiles).unwrap();
    std::os::unix::fs::symlink(&dotfiles, world.home().join(".claude/skills")).unwrap();
    world.write(".claude/skills/known/SKILL.md", "---\nname: known\n---\n");
    world.start("t");
    let lines = "mkdir ~/.claude/later; mkdir ~/dotfiles/skills/x; mv .claude away\nrmdir .claude/skills\nrm .claude/skills/known/SKILL.md";
    world.write("move.txt", lines);
    assert_eq!(asked(&world, "c1", "sh move.txt"), Reply::Silent);
    let output = run(&world, &envelope("sh move.txt"));
    let says = told(&output);
    assert_eq!((says.matches("Read-only").count(), says.matches("busy").count()), (2, 2), "{says}");
    assert_eq!(output.status.code(), Some(0), "what lies in the project may change: {says}");
}

/// Settings have the client start programs by their files, outside of every line.
#[test]
fn no_line_changes_what_settings_start_or_the_guard_in_a_project_that_is_the_home() {
    let Some(world) = world_of("", BUILD) else { return };
    world.write(".claude/hooks/fmt.sh", "true\n");
    world.write("src/free.py", "true\n");
    let settings = world.root().join(".claude/settings.json");
    let mut text: Value = serde_json::from_str(&fs::read_to_string(&settings).unwrap()).unwrap();
    let hook =
        json!({"hooks": [{"type": "command", "command": "\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/fmt.sh src/free.py"}]});
    text["hooks"]["Stop"].as_array_mut().unwrap().push(hook);
    fs::write(&settings, text.to_string()).unwrap();
    fs::create_dir_all(world.home().join(".claude/projects/p/memory")).unwrap();
    let lines = "echo x > .claude/hooks/fmt.sh; echo x > ~/.claude/note; echo x > src/free.py; echo x > ~/.claude/projects/p/memory/m";
    world.write("write.txt", lines);
    assert_eq!(asked(&world, "c1", "sh write.txt"), Reply::Silent);
    let output = run(&world, &envelope("sh write.txt"));
    let says = told(&output);
    assert_eq!((output.status.code(), says.matches("Read-only").count()), (Some(0), 2), "{says}");
    assert_eq!(fs::read_to_string(world.root().join(".claude/hooks/fmt.sh")).unwrap(), "true\n");
    assert_eq!(fs::read_to_string(world.root().join("src/free.py")).unwrap(), "x\n");
}

/// The agent is told to put back what a call changed against the rules: the guard's program writes its state then.
#[test]
fn a_line_that_is_the_guards_own_program_alone_runs_as_without_a_guard() {
    let skill = "
skill: keep
start: [session]
unlisted: allow
forbidden: [{writes: kept.txt}]
phases:
  work: {do: work}
";
    let Some(world) = world_of("", skill) else { return };
    let line = "sh change.txt";
    world.write("change.txt", "echo evil > kept.txt\n");
    world.write("kept.txt", "good\n");
    world.call("s", "c0", "Read", json!({"file_path": "kept.txt"}));
    assert_eq!(asked(&world, "c1", line), Reply::Silent);
    run(&world, &envelope(line));
    world.ok("s", "c1", "Bash", json!({"command": line}));
    assert!(matches!(asked(&world, "c2", "sh other.txt"), Reply::Denied(why) if why.contains("phasegate restore")));
    assert_eq!(asked(&world, "c3", "phasegate restore"), Reply::Silent);
    let output = run(&world, &envelope("phasegate restore"));
    assert_eq!(output.status.code(), Some(0), "{}", told(&output));
    assert_eq!(fs::read_to_string(world.root().join("kept.txt")).unwrap(), "good\n");
}

#[test]
fn no_program_of_a_line_speaks_to_its_client_as_a_person_does() {
    let Some(world) = world_of("", BUILD) else { return };
    let folder = world.home().join("socks");
    fs::create_dir(&folder).unwrap();
    let sockets = ["own", "beside"].map(|name| folder.join(name));
    let listeners = sockets.clone().map(|path| std::os::unix::net::UnixListener::bind(path).unwrap());
    let speaks = format!(
        "import socket, sys\nfor p in {sockets:?}:\n  s = socket.socket(socket.AF_UNIX)\n  try:\n    s.connect(p)\n  except OSError as e:\n    print(e.errno)\n"
    );
    world.write("speak.txt", &speaks);
    let bare = Command::new("python3").arg("speak.txt").current_dir(world.root()).output().unwrap();
    assert_eq!(told(&bare), "", "it would be reached");
    assert!(bare.stdout.is_empty());
    // The folder is covered where only sockets lie in it, else each of them.
    for (call, other, errors) in [("c1", None, "2\n2\n"), ("c2", Some("notes"), "111\n111\n")] {
        if let Some(name) = other {
            fs::write(folder.join(name), "").unwrap();
        }
        assert_eq!(asked(&world, call, "python3 speak.txt"), Reply::Silent);
        let output = run(&world, &envelope("python3 speak.txt"));
        assert_eq!(String::from_utf8_lossy(&output.stdout), errors, "refused: {}", told(&output));
    }
    drop(listeners);
}

#[test]
fn what_a_repository_names_for_git_to_run_is_held_too() {
    let Some(world) = world("") else { return };
    let git = |args: &[&str]| {
        let done = Command::new("git").args(args).current_dir(world.root()).env("HOME", world.home()).output().unwrap();
        assert!(done.status.success(), "{}", told(&done));
    };
    git(&["init", "-q"]);
    world.write("monitor.sh", "#!/bin/sh\necho x >> spoiled\n");
    git(&["config", "core.fsmonitor", "sh monitor.sh"]);
    git(&["status", "--short"]);
    assert!(world.root().join("spoiled").exists(), "git runs it");
    fs::remove_file(world.root().join("spoiled")).unwrap();
    assert_eq!(asked(&world, "c1", "git status --short"), Reply::Silent);
    let output = run(&world, &envelope("git status --short"));
    assert!(told(&output).contains("not kept: A spoiled"), "{}", told(&output));
    assert!(!world.root().join("spoiled").exists());
    // So is another program that obeys the checkout; and without such names nothing is said.
    git(&["config", "--unset", "core.fsmonitor"]);
    assert_eq!(asked(&world, "c2", "git status --short"), Reply::Silent);
    assert_eq!(run(&world, &envelope("git status --short")).status.code(), Some(0));
}

#[test]
fn the_clients_record_and_links_among_the_dotfiles_stay() {
    let Some(world) = world_of("", BUILD) else { return };
    let record = world.home().join(".claude/projects/p/s2.jsonl");
    fs::create_dir_all(record.parent().unwrap()).unwrap();
    fs::write(&record, "").unwrap();
    fs::create_dir(world.home().join("dot")).unwrap();
    fs::write(world.home().join("dot/zshrc"), "true\n").unwrap();
    std::os::unix::fs::symlink("dot/zshrc", world.home().join(".zshrc")).unwrap();
    world.frame("s2", "SessionStart", json!({"source": "startup", "transcript_path": record}));
    world.write(
        "evil.txt",
        &format!(
            "ln -sf ~/.bashrc {0}; rm -f {0}; echo x > other; mv -f other ~/.zshrc; mv ~/dot ~/dot2; true\n",
            record.display()
        ),
    );
    let call = json!({
        "transcript_path": record, "tool_name": "Bash", "tool_input": {"command": "sh evil.txt"}, "tool_use_id": "c1",
    });
    assert_eq!(reply(&world.frame("s2", "PreToolUse", call)), Reply::Silent);
    let output = run(&world, &envelope("sh evil.txt"));
    assert!(record.symlink_metadata().is_ok_and(|data| data.is_file()), "{}", told(&output));
    assert!(world.home().join(".zshrc").is_symlink() && world.home().join("dot/zshrc").exists(), "{}", told(&output));
}

/// The hooks of a client that a script of a line starts are held with the line: it is let answer, and makes no call.
#[test]
fn a_client_below_a_line_answers_prompts_and_calls_nothing() {
    let Some(world) = world_of("", BUILD) else { return };
    let hook = |id: &str, event: &str, fields: &str| {
        let frame = format!(
            r#"{{"session_id":"below","cwd":"{}","hook_event_name":"{event}",{fields}}}"#,
            world.root().display()
        );
        world.write(
            "child.sh",
            &format!("'{}' hook claude-code <<'END'\n{frame}\nEND\n", env!("CARGO_BIN_EXE_phasegate")),
        );
        assert_eq!(asked(&world, id, "sh child.sh"), Reply::Silent);
        reply(&run(&world, &envelope("sh child.sh")))
    };
    assert_eq!(hook("c1", "UserPromptSubmit", r#""prompt":"say hello""#), Reply::Silent);
    let call = r#""tool_name":"Bash","tool_use_id":"t","tool_input":{"command":"ls"}"#;
    let Reply::Denied(why) = hook("c2", "PreToolUse", call) else { panic!("not denied") };
    assert!(why.contains("state-not-saved") && why.contains("Use a subagent"), "{why}");
}

#[test]
fn a_skill_or_a_phase_says_whether_lines_are_held() {
    let Some(off) = world_of("", &LOOK.replace("phases:", "confine: off\nphases:")) else { return };
    assert!(matches!(asked(&off, "c1", "make"), Reply::Denied(_)), "as by the text");
    let phase = LOOK.replace("phases:", "confine: off\nphases:").replace("    do:", "    confine: auto\n    do:");
    assert_eq!(asked(&world_of("", &phase).unwrap(), "c1", "make"), Reply::Silent, "the phase says otherwise");
}

#[test]
fn a_config_can_require_that_lines_are_held() {
    for (config, skill) in
        [("confine: required\n", BUILD.to_owned()), ("", BUILD.replace("    do:", "    confine: required\n    do:"))]
    {
        let Some(world) = world_of(config, &skill) else { return };
        is_required(&world);
    }
}

fn is_required(world: &World) {
    assert_eq!(asked(world, "c1", "make"), Reply::Silent);
    // Another client, whose shell this program is not.
    fs::remove_file(world.shell()).unwrap();
    world.start("s2");
    let asks = |id: &str, line: &str| reply(&world.call("s2", id, "Bash", json!({"command": line})));
    fs::remove_dir_all(world.state().join("shells")).unwrap();
    let Reply::Denied(why) = asks("c1", "make") else { panic!("not denied") };
    assert!(why.contains("not-confined") && why.contains("phasegate init"), "{why}");
    assert_eq!(asks("c2", "ls"), Reply::Silent);
}
