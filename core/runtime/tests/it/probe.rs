//! What is asked before a tool is hidden: whether every call of it would be denied now.
#![allow(clippy::unwrap_used, reason = "tests")]

use phasegate_core::Event;
use phasegate_runtime::locations::Locations;
use phasegate_runtime::{Project, Runtime};
use serde_json::{Value, json};

const SKILL: &str = "skill: work\ndescription: Look first.\nmode: block\nunlisted: read_only\nphases:\n  look:\n    \
                     allowed: [Read, {tool: Bash, command: cargo check}, {tool: convert, args: {dry_run: true}}]\n    \
                     forbidden: [Write, {tool: Edit, writes: docs/**}, {tool: Grep, args: {path: .env}}]\n    \
                     done_when: { ok: Read }\n  change:\n    allowed: [Edit, rename]\n";

#[test]
fn a_tool_is_denied_without_arguments_only_where_every_call_of_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let [state, user, machine, home] = ["state", "user", "machine", "home"].map(|name| folder.path().join(name));
    let root = folder.path().join("project");
    std::fs::create_dir_all(root.join(".phasegate/skills")).unwrap();
    std::fs::write(root.join(".phasegate/skills/work.yaml"), SKILL).unwrap();
    let locations = Locations { state, user, machine, home };
    let project = Project::find(&locations, &root);
    let runtime = Runtime::new(locations, []);
    for event in [
        json!({"event": "session_start", "source": "startup"}),
        json!({"event": "skill", "name": "work", "by": "human"}),
    ] {
        runtime.handle_event(project.clone(), "s", Event::from_value(event).unwrap()).unwrap();
    }
    let denied = |calls: &[(&str, Value)]| {
        let event = |(tool, input): &(&str, Value)| json!({"event": "tool_call", "tool": tool, "input": input});
        let events = calls.iter().map(|call| Event::from_value(event(call)).unwrap()).collect();
        let answers = runtime.probe(&project, "s", events).unwrap().unwrap();
        answers.iter().map(|answer| !answer.lets_through()).collect::<Vec<_>>()
    };
    let any = |tools: &[&'static str]| denied(&tools.iter().map(|tool| (*tool, Value::Null)).collect::<Vec<_>>());
    // `Edit` belongs to a phase that is not open, `rename` too; `install` is not known to read.
    assert_eq!(any(&["Write", "Edit", "rename", "install"]), [true; 4]);
    assert_eq!(any(&["Read", "Bash", "convert", "Grep"]), [false; 4]);
    let call = [
        ("Grep", json!({"path": ".env"})),
        ("Bash", json!({"command": "rm x"})),
        ("convert", json!({})),
        ("Bash", json!({"command": "cargo check"})),
        ("Bash", json!({"command": "ls"})),
    ];
    assert_eq!(denied(&call), [true, true, true, false, false]);
}
