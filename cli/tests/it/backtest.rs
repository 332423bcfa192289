//! Recorded sessions through the configs: what is counted, what is compared, and the page.

use std::fs;

use serde_json::{Value, json};

use crate::support::World;

const SKILL: &str = r#"
skill: look-first
start: [session]
phases:
  look:
    allowed: [Read]
    done_when: {ok: Read}
  edit:
    allowed: [Edit, Read]
"#;

/// The same without the first phase.
const FREE: &str = "skill: look-first\nstart: [session]\nphases:\n  edit:\n    allowed: [Edit, Read]\n";

fn world(skill: &str) -> World {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\n");
    world.write(".phasegate/skills/look-first.yaml", skill);
    world
}

/// A session of two edits, with a reading between them, as the client's file or as a transcript.
fn session(id: &str, as_client: bool) -> String {
    let call = |number: u8, tool: &str| {
        let input = json!({"file_path": "/p/src/a.py", "old_string": "1", "new_string": "2"});
        if !as_client {
            return [
                json!({"event": "tool_call", "session": id, "id": number.to_string(), "tool": tool, "input": input}),
                json!({"event": "tool_result", "session": id, "id": number.to_string(), "outcome": "ok"}),
            ];
        }
        let use_ = json!({"type": "tool_use", "id": format!("t{number}"), "name": tool, "input": input});
        let result = json!({"type": "tool_result", "tool_use_id": format!("t{number}"), "content": "done"});
        let line = |kind: &str, block: Value| {
            json!({"type": kind, "uuid": "u", "sessionId": id, "cwd": "/p", "timestamp": "2026-11-30T10:00:00Z",
                "message": {"content": [block]}})
        };
        [line("assistant", use_), line("user", result)]
    };
    let lines: Vec<_> = [call(1, "Edit"), call(2, "Read"), call(3, "Edit")].concat();
    lines.iter().map(|line| format!("{line}\n")).collect()
}

#[test]
fn a_clients_file_and_a_transcript_are_answered_alike() {
    let world = world(SKILL);
    for as_client in [false, true] {
        world.write("s.jsonl", &session("s", as_client));
        let report: Value = serde_json::from_str(&world.run(&["--json", "backtest", "s.jsonl"], 0)).unwrap();
        assert_eq!(report["total"], json!({"calls": 3, "warned": 0, "asked": 0, "denied": 1}), "{report}");
        let one = &report["sessions"][0];
        assert_eq!((&one["course"], &one["findings"][0]["call"]), (&json!("d.."), &json!(1)), "{report}");
        assert_eq!(one["findings"][0]["ended"], "ok");
        assert_eq!(one["findings"][0]["passes_elsewhere"], true, "the third call is the same");
        assert_eq!(report["sources"]["look-first / look"]["denied"], 1, "{report}");
        assert_eq!(report["left_out"], json!({}));
    }
}

#[test]
fn two_configs_differ_in_the_calls_that_they_answer_differently_and_no_others() {
    let (world, other) = (world(SKILL), world(FREE));
    world.write("a.jsonl", &session("a", false));
    world.write("b.jsonl", &session("b", true));
    let against = other.root().display().to_string();
    let text = world.run(&["--json", "backtest", "a.jsonl", "b.jsonl", "--against", &against], 0);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((&report["differing"], &report["total"]["calls"]), (&json!(2), &json!(6)), "{report}");
    let human = world.run(&["backtest", "a.jsonl", "--against", &against], 0);
    assert!(human.contains("allow -> deny") && human.contains("Edit /p/src/a.py"), "{human}");
}

#[test]
fn the_sessions_of_this_project_are_found_where_the_client_keeps_them() {
    let world = world(SKILL);
    let root = world.root().display().to_string();
    let kept = world.root().parent().unwrap().join("home/.claude/projects/x");
    fs::create_dir_all(&kept).unwrap();
    fs::write(kept.join("own.jsonl"), session("own", true).replace("\"/p\"", &format!("\"{root}\""))).unwrap();
    fs::write(kept.join("other.jsonl"), session("other", true)).unwrap();
    assert!(world.run(&["backtest"], 0).starts_with("1 session with 3 calls\n  1 (33.33 %) denied"));
    assert!(world.run(&["backtest", "--everywhere"], 0).starts_with("2 sessions with 6 calls"));
}

#[test]
fn what_cannot_be_read_is_counted_and_what_is_missing_is_said() {
    let world = world(SKILL);
    world.write("s.jsonl", &format!("{}{{\"event\": \"dance\"}}\n[]\nnot json\n", session("s", false)));
    let human = world.run(&["backtest", "s.jsonl"], 0);
    for why in ["unknown name `dance`", "1 × a line of no form that is known", "1 × a line that is no JSON"] {
        assert!(human.contains(why), "{why}: {human}");
    }
    let failed = world.phasegate(&["backtest", "none.jsonl"]).output().unwrap();
    assert_eq!(failed.status.code(), Some(2), "{failed:?}");
    assert!(String::from_utf8_lossy(&failed.stderr).contains("none.jsonl"), "{failed:?}");
    let none = world.phasegate(&["backtest"]).output().unwrap();
    assert!(String::from_utf8_lossy(&none.stderr).contains("no recorded sessions of this project"), "{none:?}");
}

#[test]
fn the_page_has_the_report_and_no_way_out_of_its_script() {
    let world = world(SKILL);
    world.write("s.jsonl", &session("s", false).replace("src/a.py", "src/</script><b>.py"));
    world.run(&["backtest", "s.jsonl", "--html", "page.html"], 0);
    let page = fs::read_to_string(world.root().join("page.html")).unwrap();
    assert!(page.contains("<\\/script><b>.py") && page.matches("</script>").count() == 1);
    assert!(!page.contains("/*REPORT*/null"));
}
