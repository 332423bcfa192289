//! `phasegate end`: the way on where a call that nobody ends keeps a person from giving commands.

use crate::support::World;
use serde_json::json;

fn text_of(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The project, with a call that runs a program open in session `s`.
fn open() -> World {
    let world = World::guarded("block");
    world.start("s");
    world.call("s", "t1", "Bash", json!({"command": "make all"}));
    world
}

#[test]
fn a_session_ends_where_its_project_has_no_config_any_more() {
    let world = open();
    std::fs::remove_dir_all(world.root().join(".phasegate")).unwrap();
    // The client starts anew, and finds no config.
    world.start("s");
    world.call("s", "t2", "Bash", json!({"command": "make all"}));
    let ended = world.in_terminal(&["end", "s"]);
    assert!(ended.status.success(), "{ended:?}");
    world.run(&["init", "--undo"], 0);
}

#[test]
fn a_session_of_another_project_ends_by_its_name() {
    let world = open();
    let elsewhere = world.root().with_file_name("elsewhere");
    std::fs::create_dir_all(&elsewhere).unwrap();
    let project = elsewhere.to_str().unwrap();
    let refused = world.phasegate(&["gc", "--project", project]).output().unwrap();
    let text = text_of(&refused);
    let place = format!("session `s` of `{}`", world.root().canonicalize().unwrap().display());
    assert!(text.contains(&place) && text.contains("`phasegate end s`"), "{text}");
    assert!(!text.contains("/phasegate ..."), "no prompt takes this command: {text}");
    std::fs::remove_dir_all(world.root().join(".phasegate")).unwrap();
    let ended = world.in_terminal(&["end", "s", "--project", project]);
    assert!(ended.status.success(), "{ended:?}");
    world.phasegate(&["gc", "--project", project]).assert().success();
}

#[test]
fn a_call_that_was_only_asked_about_is_told_as_such() {
    let world = World::guarded("block");
    world.write(
        ".phasegate/rules/ask.cedar",
        "@id(\"ask\")\n@effect(\"ask\")\n@reason(\"look\")\nforbid(principal, action == Action::\"Bash\", resource);\n",
    );
    world.start("s");
    world.call("s", "t1", "Bash", json!({"command": "docker rm x"}));
    let refused = world.phasegate(&["access", "readonly"]).output().unwrap();
    let text = text_of(&refused);
    assert!(text.contains("about which a person was asked") && text.contains("any prompt in session `s`"), "{text}");
    world.frame("s", "UserPromptSubmit", json!({"prompt": "go on"}));
    world.run(&["access", "readonly"], 0);
}
