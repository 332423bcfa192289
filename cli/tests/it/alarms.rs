//! What happens past the guard: calls that ran though it denied them or was never asked, and ends that the client recorded
//! otherwise than the guard was told.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

fn shown(output: &Output, field: &str) -> String {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    answer.pointer(field).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// What the client shows its user with a reply.
fn told(output: &Output) -> String {
    shown(output, "/systemMessage")
}

/// What the client shows its user with the result of this call.
fn told_of(world: &World, session: &str, id: &str) -> String {
    told(&world.ok(session, id, "Read", json!({"file_path": "notes.md"})))
}

fn doctor(world: &World) -> String {
    String::from_utf8(world.phasegate(&["doctor"]).output().unwrap().stdout).unwrap()
}

/// A world with a client that keeps transcripts.
struct Recorded {
    world: World,
}

impl Recorded {
    fn new() -> Self {
        let recorded = Self { world: World::guarded("block") };
        fs::create_dir_all(recorded.file("s").parent().unwrap()).unwrap();
        recorded
    }

    fn file(&self, session: &str) -> PathBuf {
        self.world.home().join(format!(".claude/projects/p/{session}.jsonl"))
    }

    /// A frame of a session, which names its transcript.
    fn frame(&self, session: &str, event: &str, fields: Value) -> Output {
        let mut all = json!({"transcript_path": self.file(session)});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.world.frame(session, event, all)
    }

    fn start(&self, session: &str) -> Output {
        self.frame(session, "SessionStart", json!({"source": "startup"}))
    }

    fn stop(&self, session: &str) -> String {
        told(&self.frame(session, "Stop", json!({})))
    }

    /// Has the client add lines to a transcript.
    fn add(&self, file: &Path, lines: &str) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        let mut file = fs::OpenOptions::new().create(true).append(true).open(file).unwrap();
        file.write_all(lines.as_bytes()).unwrap();
    }

    /// Has the client record a call and its result.
    fn record(&self, session: &str, id: &str, content: &str, is_error: bool) {
        self.add(&self.file(session), &lines(id, content, is_error, "2099-01-01T00:00:00.000Z"));
    }

    /// The session makes a call that ran, as the guard is told.
    fn runs(&self, session: &str, id: &str) {
        let input = json!({"file_path": "notes.md"});
        self.world.call(session, id, "Read", input.clone());
        self.world.ok(session, id, "Read", input);
    }

    /// How often the person is told at this pause.
    fn quiet(&self, session: &str, why: &str) {
        assert_eq!(self.stop(session), "", "{why}");
        assert_eq!(self.world.run(&["audit", "verify"], 0).matches("error").count(), 0, "{why}");
    }
}

/// A call with its result, as a transcript has them.
fn lines(id: &str, content: &str, is_error: bool, at: &str) -> String {
    let call = json!({"type": "tool_use", "id": id, "name": "Bash", "input": {"command": "true"}});
    let result = json!({"type": "tool_result", "tool_use_id": id, "content": content, "is_error": is_error});
    let shell = json!({"stdout": content, "stderr": "", "interrupted": false});
    let kept = if is_error { json!(format!("Error: {content}")) } else { shell };
    let first = json!({"type": "assistant", "timestamp": at, "message": {"content": [call]}});
    let second = json!({"type": "user", "timestamp": at, "toolUseResult": kept, "message": {"content": [result]}});
    format!("{first}\n{second}\n")
}

#[test]
fn a_call_that_was_never_judged_is_told_until_a_person_accepts_it() {
    for mode in ["block", "warn"] {
        let world = World::guarded(mode);
        world.start("s");
        let result = world.ok("s", "t1", "Bash", json!({"command": "mv aside/phasegate bin/phasegate"}));
        let what = "the call `t1` of Bash ran, and the guard was never asked about it";
        for field in ["/systemMessage", "/hookSpecificOutput/additionalContext"] {
            let text = shown(&result, field);
            assert!(text.contains(what), "{mode} {field}: {text}");
        }
        assert!(doctor(&world).contains(what) && world.run(&["status"], 0).contains(what), "{mode}");
        let text = told(&world.start("t"));
        assert!(text.contains(what), "{mode}, the next session: {text}");
        let answer = world.run(&["reload"], 0);
        assert!(answer.contains("accepted: what went past the guard") && answer.contains(what), "{mode}: {answer}");
        assert!(!doctor(&world).contains(what) && told(&world.start("u")).is_empty(), "{mode}");
        assert_eq!(told_of(&world, "s", "t1"), "", "{mode}: it was accepted");
    }
}

#[test]
fn a_call_that_ran_though_it_was_denied_stops_the_run_until_a_person_has_looked() {
    let world = World::guarded("block");
    world.start("s");
    world.call("s", "skill", "Skill", json!({"skill": "careful"}));
    let edit = json!({"file_path": "notes.md"});
    denied(&world.call("s", "t1", "Edit", edit.clone()), "not-done");
    let text = told(&world.ok("s", "t1", "Edit", edit.clone()));
    assert!(text.contains("the call `t1` of Edit ran, although the guard denied it"), "{text}");
    // What would have ended the phase proves nothing now.
    world.call("s", "t2", "Read", edit.clone());
    world.ok("s", "t2", "Read", edit.clone());
    let text = denied(&world.call("s", "t3", "Edit", edit.clone()), "ran-unguarded");
    assert!(text.contains("ran-unguarded]: stop, and ask the user to look: the call `t1`"), "{text}");
    assert_eq!(reply(&world.call("s", "t4", "Read", edit.clone())), Reply::Silent, "reading goes on");
    assert!(!told(&world.start("t")).is_empty());
    assert_eq!(reply(&world.call("t", "t5", "Edit", edit.clone())), Reply::Silent, "another session has no such run");
    world.run(&["reload"], 0);
    denied(&world.call("s", "t6", "Edit", edit.clone()), "not-done");
    world.call("s", "t7", "Read", edit.clone());
    world.ok("s", "t7", "Read", edit.clone());
    assert!(!matches!(reply(&world.call("s", "t8", "Edit", edit)), Reply::Denied(_)), "evidence counts again");
}

#[test]
fn the_end_of_a_batch_shows_calls_that_no_other_message_was_about() {
    let world = World::guarded("block");
    world.start("s");
    let call = |id: &str, answer: &str| json!({"tool_name": "Bash", "tool_use_id": id, "tool_input": {}, "tool_response": answer});
    let batch = |calls: Vec<Value>| told(&world.frame("s", "PostToolBatch", json!({"tool_calls": calls})));
    world.call("s", "t1", "Bash", json!({"command": "true"}));
    let none = ["PreToolUse:Bash hook error: no", "<tool_use_error>No such tool</tool_use_error>"];
    assert_eq!(batch(vec![call("t1", "x"), call("t2", none[0]), call("t3", none[1])]), "");
    let text = batch(vec![call("t1", "x"), call("t4", "(Bash completed with no output)")]);
    assert!(text.contains("the call `t4` of Bash ran") && !text.contains("`t1`"), "{text}");
}

#[test]
fn such_a_result_is_no_evidence() {
    let world = World::guarded("block");
    world.start("s");
    world.call("s", "skill", "Skill", json!({"skill": "careful"}));
    assert!(told_of(&world, "s", "t1").contains("is no evidence"));
    denied(&world.call("s", "t2", "Edit", json!({"file_path": "notes.md"})), "ran-unguarded");
}

#[test]
fn calls_that_were_judged_are_not_told() {
    let world = World::guarded("block");
    world.start("s");
    world.call("s", "skill", "Skill", json!({"skill": "careful"}));
    let read = |id| world.call("s", id, "Read", json!({"file_path": "notes.md"}));
    read("t1");
    assert_eq!(told_of(&world, "s", "t1"), "");
    assert_eq!(told_of(&world, "s", "t1"), "", "told twice");
    read("t2");
    world.frame("s", "PostToolBatch", json!({}));
    assert_eq!(told_of(&world, "s", "t2"), "", "late");
    read("t4");
    world.frame("s", "SessionStart", json!({"source": "resume"}));
    assert_eq!(told_of(&world, "s", "t4"), "", "resumed");
    read("t5");
    world.frame("t", "SessionStart", json!({"source": "clear"}));
    assert_eq!(told_of(&world, "t", "t5"), "", "cleared");
    assert_eq!(told_of(&world, "unheard-of", "t6"), "", "its start was not seen");
    for number in 0..40 {
        world.call("s", &format!("many{number}"), "Read", json!({"file_path": "notes.md"}));
    }
    assert_eq!(told_of(&world, "s", "t1"), "", "long ago");
    assert!(!doctor(&world).contains("never asked"));
}

#[test]
fn the_transcript_shows_what_no_message_told() {
    let recorded = Recorded::new();
    let world = &recorded.world;
    recorded.start("s");
    recorded.runs("s", "t1");
    recorded.record("s", "t1", "text", false);
    recorded.record("s", "t2", "<tool_use_error>InputValidationError</tool_use_error>", true);
    recorded.record("s", "t3", "The user doesn't want to proceed with this tool use.", true);
    recorded.add(&recorded.file("s"), &lines("t4", "x", false, "2020-01-01T00:00:00.000Z"));
    recorded.quiet("s", "judged, rejected, older");
    let later = lines("t5", "ran", false, "2099-01-01T00:00:00.000Z");
    recorded.add(&recorded.file("s"), &later[..later.len() - 9]);
    assert_eq!(recorded.stop("s"), "", "half a line");
    recorded.add(&recorded.file("s"), &later[later.len() - 9..]);
    let text = recorded.stop("s");
    assert!(text.contains("the call `t5` ran"), "the whole of it: {text}");
    assert_eq!(recorded.stop("s"), "", "told once");
    let sub = recorded.file("s").with_extension("").join("subagents/agent-1.jsonl");
    recorded.add(&sub, &lines("t6", "Exit code 3\nx", true, "2099-01-01T00:00:00.000Z"));
    let text = told(&recorded.frame("s", "SubagentStop", json!({"agent_id": "1", "agent_type": "x"})));
    assert!(text.contains("the call `t6` of Bash ran"), "it failed, so it ran: {text}");
    let answer = world.run(&["audit", "verify"], 1);
    assert!(answer.contains("ran-unguarded") && answer.contains("`t5`") && answer.contains("`t6`"), "{answer}");
    world.run(&["reload"], 0);
    recorded.quiet("s", "a person accepted it");
}

#[test]
fn another_end_than_was_told_is_an_alarm() {
    for (told_ok, content, is_error) in [(true, "Exit code 1\n1 failed", true), (false, "fine", false)] {
        let recorded = Recorded::new();
        recorded.start("s");
        let (input, fields) = (json!({"command": "true"}), |fields: Value| {
            let mut all = json!({"tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": "t1"});
            all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            all
        });
        recorded.world.call("s", "t1", "Bash", input);
        let response = json!({"stdout": "forged", "stderr": "", "interrupted": false});
        if told_ok {
            recorded.frame("s", "PostToolUse", fields(json!({"tool_response": response})));
        } else {
            recorded.frame("s", "PostToolUseFailure", fields(json!({"error": "Exit code 1"})));
        }
        recorded.record("s", "t1", content, is_error);
        let text = recorded.stop("s");
        assert!(text.contains("told another end of the call `t1` of Bash"), "{told_ok}: {text}");
    }
}

#[test]
fn the_next_start_looks_at_what_a_session_left_that_ended_without_a_word() {
    let recorded = Recorded::new();
    recorded.start("s");
    recorded.runs("s", "t1");
    recorded.record("s", "t1", "text", false);
    recorded.record("s", "t2", "text", false);
    let text = told(&recorded.start("t"));
    assert!(text.contains("the call `t2` of Bash ran"), "{text}");
    recorded.world.run(&["reload"], 0);
    assert_eq!(told(&recorded.start("u")), "");
}

#[test]
fn a_session_whose_start_was_hidden_is_compared_from_its_first_message_on() {
    let recorded = Recorded::new();
    recorded.start("first");
    recorded.add(&recorded.file("s"), lines("t0", "x", false, "2099-01-01T00:00:00.000Z").lines().next().unwrap());
    recorded.frame("s", "UserPromptSubmit", json!({"prompt": "go"}));
    recorded.add(&recorded.file("s"), "\n");
    let result = lines("t0", "x", false, "2099-01-01T00:00:00.000Z");
    recorded.add(&recorded.file("s"), &format!("{}\n", result.lines().nth(1).unwrap()));
    assert_eq!(recorded.stop("s"), "", "it was made before");
    recorded.record("s", "t1", "x", false);
    assert!(recorded.stop("s").contains("the call `t1` of Bash ran"));
}

#[test]
fn sessions_that_go_on_elsewhere_give_no_alarm() {
    let recorded = Recorded::new();
    recorded.start("first");
    // Before the guard was there.
    recorded.add(&recorded.file("s"), &lines("t0", "x", false, "2020-01-01T00:00:00.000Z"));
    recorded.frame("s", "SessionStart", json!({"source": "resume"}));
    recorded.runs("s", "t1");
    recorded.record("s", "t1", "x", false);
    recorded.quiet("s", "resumed");
    // A copy in another file, under another name, with its times.
    recorded.frame("f", "SessionStart", json!({"source": "fork"}));
    recorded.add(&recorded.file("f"), &lines("t0", "x", false, "2020-01-01T00:00:00.000Z"));
    recorded.record("f", "t1", "x", false);
    recorded.quiet("f", "forked");
}

#[test]
fn a_transcript_that_is_gone_or_shorter_is_told_and_holds_nothing_up() {
    let recorded = Recorded::new();
    recorded.start("s");
    recorded.world.call("s", "skill", "Skill", json!({"skill": "careful"}));
    recorded.runs("s", "t1");
    recorded.record("s", "t1", "x", false);
    recorded.quiet("s", "judged");
    fs::remove_file(recorded.file("s")).unwrap();
    let text = recorded.stop("s");
    assert!(text.contains("record of session `s` is gone"), "{text}");
    let edit = recorded.world.call("s", "t2", "Edit", json!({"file_path": "notes.md"}));
    assert!(!matches!(reply(&edit), Reply::Denied(_)), "{edit:?}");
}

/// Puts a module of the client into a folder: the file that names it, and its program.
fn module(folder: &Path, program: &str) {
    fs::create_dir_all(folder.join("hooks")).unwrap();
    fs::write(folder.join("hooks/hooks.json"), "{\"modules\": [\"./mod.mjs\"]}").unwrap();
    fs::write(
        folder.join("hooks/mod.mjs"),
        format!("export const register = on => {{ on({program}, () => ({{}})) }}\n"),
    )
    .unwrap();
}

/// Places that the client loads modules from: a project, a folder that the client may work in, and the user's home.
const PLACES: [&str; 7] = [
    "project/.claude/skills/m",
    "project/deep/er/.claude/skills/m",
    "home/.claude/skills/m",
    "home/.claude/dev-mods/s/m",
    "home/.claude/plugins/cache/market/m/1.0.0",
    "home/.claude/plugins/marketplaces/market/plugins/m",
    "home/.claude/plugins/marketplaces/market/external/deep/m",
];

#[test]
fn a_module_that_comes_after_the_first_session_is_an_alarm_until_a_person_accepts_it() {
    for place in PLACES {
        let world = World::guarded("block");
        let here = world.root().join("deep/er");
        fs::create_dir_all(&here).unwrap();
        let start =
            |session: &str| told(&world.frame(session, "SessionStart", json!({"source": "startup", "cwd": here})));
        let folder = world.home().parent().unwrap().join(place);
        let known = folder.with_file_name("known");
        module(&known, "'tool.call'");
        assert_eq!(start("first"), "", "{place}: what is there at first is accepted");
        assert_eq!(start("again"), "", "{place}");
        let edit = json!({"file_path": "notes.md"});
        for (change, program) in [("new", "'tool.check'"), ("changed", "'\\x74ool.call'")] {
            module(&folder, program);
            let session = format!("s-{change}");
            let text = start(&session);
            let what = format!("the client's module `{}` is new or was changed", folder.display());
            assert!(text.contains(&what), "{place}: {text}");
            world.call(&session, "skill", "Skill", json!({"skill": "careful"}));
            let read = reply(&world.call(&session, "t1", "Read", edit.clone()));
            assert!(!matches!(read, Reply::Denied(_)), "{place}: reading goes on");
            world.ok(&session, "t1", "Read", edit.clone());
            denied(&world.call(&session, "t2", "Edit", edit.clone()), "ran-unguarded");
            assert!(start("other").contains(&what), "{place}: the next session, too");
            assert!(world.run(&["reload"], 0).contains(&what), "{place}");
            denied(&world.call(&session, "t3", "Edit", edit.clone()), "not-done");
            assert_eq!(start(&format!("after-{change}")), "", "{place}");
        }
    }
}

#[test]
fn a_module_that_takes_no_calls_is_told_and_holds_nothing_up() {
    let world = World::guarded("block");
    world.start("first");
    let folder = world.home().join(".claude/skills/m");
    module(&folder, "'session.start'");
    let text = told(&world.start("s"));
    assert!(text.contains(&format!("the client's module `{}` is new", folder.display())), "{text}");
    assert!(!text.contains("past the guard"), "{text}");
    world.call("s", "skill", "Skill", json!({"skill": "careful"}));
    world.call("s", "t1", "Read", json!({"file_path": "notes.md"}));
    world.ok("s", "t1", "Read", json!({"file_path": "notes.md"}));
    assert!(!matches!(reply(&world.call("s", "t2", "Edit", json!({"file_path": "notes.md"}))), Reply::Denied(_)));
    assert!(world.run(&["reload"], 0).contains("is new"));
    assert_eq!(told(&world.start("t")), "");
    // What looks like one and is none.
    fs::write(world.home().join(".claude/skills/data.json"), "{\"modules\": 5, \"a\": \"\\u0041\"}").unwrap();
    fs::write(world.home().join(".claude/skills/m.mjs"), "on('tool.call')").unwrap();
    assert_eq!(told(&world.start("u")), "");
}

#[test]
fn a_call_that_was_made_with_other_arguments_is_an_alarm() {
    let home_path = "/h/notes.md";
    for (tool, asked, made, is_other) in [
        ("Bash", json!({"command": "ls"}), json!({"command": "rm -rf src"}), true),
        ("Bash", json!({"command": "/bin/x ls"}), json!({"command": "ls"}), true),
        ("Bash", json!({"command": "ls", "timeout": 5}), json!({"command": "ls", "description": "d"}), false),
        ("Read", json!({"file_path": home_path, "limit": 1}), json!({"file_path": "~/notes.md", "limit": "1"}), false),
        ("Read", json!({"file_path": home_path}), json!({"file_path": "/h/x/../notes.md"}), false),
        ("Read", json!({"file_path": home_path}), json!({"file_path": "/h/secret.md"}), true),
        (
            "Bash",
            json!({"command": "echo ".to_owned() + &"a".repeat(5000)}),
            json!({"command": "echo ".to_owned() + &"a".repeat(5000)}),
            false,
        ),
        (
            "Bash",
            json!({"command": "echo ".to_owned() + &"a".repeat(5000)}),
            json!({"command": "echo ".to_owned() + &"b".repeat(5000)}),
            true,
        ),
    ] {
        let recorded = Recorded::new();
        recorded.start("s");
        recorded.world.call("s", "t1", tool, asked.clone());
        let call = json!({"type": "tool_use", "id": "t1", "name": tool, "input": made});
        let line =
            json!({"type": "assistant", "timestamp": "2099-01-01T00:00:00.000Z", "message": {"content": [call]}});
        recorded.add(&recorded.file("s"), &format!("{line}\n"));
        let result = lines("t1", "x", false, "2099-01-01T00:00:00.000Z");
        recorded.add(&recorded.file("s"), &format!("{}\n", result.lines().nth(1).unwrap()));
        let text = recorded.stop("s");
        let what = "ran, and the guard was asked about other arguments of it";
        assert_eq!(text.contains(what), is_other, "{tool} {is_other}: {text}");
        let verified = recorded.world.phasegate(&["audit", "verify"]).output().unwrap();
        let verified = String::from_utf8(verified.stdout).unwrap();
        assert_eq!(verified.contains(what), is_other, "{tool} {is_other}: {verified}");
        assert_eq!(verified.contains("ran-unguarded"), is_other, "{tool} {is_other}: {verified}");
    }
}

#[test]
fn a_session_that_nothing_was_heard_of_is_found_by_verify() {
    let recorded = Recorded::new();
    recorded.start("s");
    recorded.runs("s", "t1");
    recorded.record("s", "t1", "x", false);
    // It was before the guard, and one that only spoke; one goes on with what another recorded.
    recorded.add(&recorded.file("old"), &lines("t2", "x", false, "2020-01-01T00:00:00.000Z"));
    recorded.add(&recorded.file("spoke"), "{}\n");
    recorded.record("copy", "t1", "x", false);
    recorded.quiet("s", "nothing ran");
    recorded.record("hidden", "t3", "x", false);
    let answer = recorded.world.run(&["audit", "verify"], 1);
    assert!(answer.contains("ran-unguarded") && answer.contains("`t3`") && answer.contains("hidden.jsonl"), "{answer}");
    recorded.world.run(&["reload"], 0);
    recorded.quiet("s", "a person accepted it");
}

#[test]
fn what_goes_on_from_a_session_with_an_alarm_is_held_too() {
    let world = World::guarded("block").with_client();
    world.start("s");
    assert!(told_of(&world, "s", "t1").contains("never asked"));
    for session in ["f1", "f2", "f3"] {
        world.frame(session, "SessionStart", json!({"source": "fork"}));
        world.call(session, "skill", "Skill", json!({"skill": "careful"}));
        let edit = world.call(session, &format!("t-{session}"), "Edit", json!({"file_path": "notes.md"}));
        denied(&edit, "ran-unguarded");
    }
}

#[test]
fn who_types_the_reload_is_told_what_that_accepts() {
    let world = World::guarded("block");
    world.start("s");
    told_of(&world, "s", "t1");
    let frame = json!({"session_id": "s", "cwd": world.root(), "hook_event_name": "UserPromptSubmit", "prompt": "/phasegate reload"});
    let mut hook = world.phasegate(&["hook", "claude-code"]);
    let output = hook.env("CLAUDE_CODE_ENTRYPOINT", "cli").write_stdin(frame.to_string()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("accepted: what went past the guard: the call `t1` of Read"), "{text}");
    assert_eq!(told(&world.start("t")), "");
}
