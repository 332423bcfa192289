//! What the agent says inside of a turn, as the client's own record has it: it counts before the call that follows is decided.

use std::fs;
use std::io::Write as _;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use phasegate_runtime::timestamp::timestamp;
use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

const SKILL: &str = "
skill: told
description: Words complete its phases
form: compat
mode: block
phases:
  think: {allowed: [Read], done_when: {says: '(?i)step done'}, leave: on_done, next: [draft]}
  draft: {allowed: [Write], done_when: {says: '(?i)step done'}, leave: on_done, next: [edit]}
  edit: {allowed: [Edit]}
";

/// A session in the phase `think`, with a client that keeps a transcript.
struct Session {
    world: World,
}

impl Session {
    fn new() -> Self {
        let world = World::unguarded();
        world.write(".phasegate/config.yaml", "mode: block\n");
        world.write(".phasegate/skills/told.yaml", SKILL);
        let session = Self { world };
        fs::create_dir_all(session.file().parent().unwrap()).unwrap();
        session.add("");
        session.frame("SessionStart", json!({"source": "startup"}));
        session
    }

    fn begun() -> Self {
        let session = Self::new();
        session.begin();
        session
    }

    fn begin(&self) {
        assert!(!matches!(self.call("begin", "Skill", json!({"skill": "told"})), Reply::Denied(_)));
    }

    fn file(&self) -> PathBuf {
        self.world.home().join(".claude/projects/p/s.jsonl")
    }

    fn add(&self, text: &str) {
        let mut file = fs::OpenOptions::new().create(true).append(true).open(self.file()).unwrap();
        file.write_all(text.as_bytes()).unwrap();
    }

    fn frame(&self, event: &str, fields: Value) -> Reply {
        let mut all = json!({"transcript_path": self.file()});
        all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        reply(&self.world.frame("s", event, all))
    }

    fn call(&self, id: &str, tool: &str, input: Value) -> Reply {
        self.frame("PreToolUse", json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}))
    }

    /// Whether a call passes that the phase `draft` lists, and no other.
    fn may_write(&self, id: &str) -> bool {
        let reply = self.call(id, "Write", json!({"file_path": "a.md", "content": "x"}));
        !matches!(reply, Reply::Denied(_))
    }

    fn may_edit(&self, id: &str) -> bool {
        !matches!(self.call(id, "Edit", json!({"file_path": "a.md"})), Reply::Denied(_))
    }
}

/// The present time, as the client writes it.
fn now() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    timestamp(i64::try_from(since).unwrap())
}

/// A line of a transcript with a block of the agent's; `with` is added to it.
fn line(block: Value, with: Value) -> String {
    let mut line = json!({"type": "assistant", "isSidechain": false, "timestamp": "2099-01-01T00:00:00.000Z",
        "message": {"role": "assistant", "model": "m", "content": [block]}});
    line.as_object_mut().unwrap().extend(with.as_object().unwrap().clone());
    format!("{line}\n")
}

fn said(text: &str, with: Value) -> String {
    line(json!({"type": "text", "text": text}), with)
}

fn made(id: &str) -> String {
    line(json!({"type": "tool_use", "id": id, "name": "Write", "input": {}}), json!({}))
}

#[test]
fn words_before_a_call_count_for_it_and_once() {
    let session = Session::begun();
    session.add(&made("t1"));
    let output = session.world.call("s", "t1", "Write", json!({"file_path": "a.md", "content": "x"}));
    denied(&output, "not-done");
    session.add(&(said("Thought it over. Step done.", json!({})) + &made("t2") + &made("t3")));
    assert!(session.may_write("t2"));
    assert!(session.may_write("t3") && !session.may_edit("t3"), "not twice");
    session.frame("PostToolBatch", json!({"tool_calls": []}));
    session.add(&(said("The second step done.", json!({"timestamp": "2099-01-01T00:00:01.000Z"})) + &made("t4")));
    assert!(session.may_edit("t4"));
}

#[test]
fn words_are_waited_for_and_count_for_the_next_call_where_they_come_too_late() {
    let session = Session::begun();
    let late = |after: u64, id: &str| {
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(Duration::from_millis(after));
                session.add(&(said("Step done.", json!({})) + &made(id)));
            });
            session.may_write(id)
        })
    };
    assert!(late(100, "t1"));
    let session = Session::begun();
    let began = Instant::now();
    assert!(!session.may_write("t1"));
    assert!(began.elapsed() < Duration::from_secs(3));
    session.add(&(said("Step done.", json!({})) + &made("t1") + &made("t2")));
    assert!(session.may_write("t2"));
}

#[test]
fn words_of_others_and_of_other_times_do_not_count() {
    let session = Session::new();
    session.add(&(said("Step done.", json!({"timestamp": now()})) + &made("begin")));
    session.begin();
    session.frame("PostToolBatch", json!({"tool_calls": []}));
    for (text, with) in [
        ("Step done.", json!({"isSidechain": true})),
        ("Step done.", json!({"isApiErrorMessage": true})),
        ("Step done.", json!({"type": "user"})),
        ("Step done.", json!({"timestamp": "2020-01-01T00:00:00.000Z"})),
        ("Step not finished.", json!({})),
    ] {
        session.add(&said(text, with));
    }
    let folder = session.file().with_extension("").join("subagents");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("agent-a.jsonl"), said("Step done.", json!({"isSidechain": true}))).unwrap();
    session.add(&made("t1"));
    assert!(!session.may_write("t1"));
}

#[test]
fn the_last_message_of_a_turn_counts_at_its_end_and_not_again() {
    let session = Session::begun();
    let at = json!({"timestamp": now()});
    session.frame("Stop", json!({"last_assistant_message": "Step done."}));
    // The client writes it down after it told of it.
    session.add(&said("Step done. In other words.", at));
    session.add(&made("t1"));
    assert!(session.may_write("t1") && !session.may_edit("t1"));
}
