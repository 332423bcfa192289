//! A skill that somebody starts in a session that does not go by its config.

use serde_json::json;

use crate::support::{Reply, World, reply};

const LATE: &str = include_str!("not_in_force.yaml");

fn told(world: &World, event: &str, fields: serde_json::Value) -> String {
    match reply(&world.frame("one", event, fields)) {
        Reply::Told(text) => text,
        Reply::Silent => String::new(),
        Reply::Denied(text) => panic!("denied: {text}"),
    }
}

fn invoked(world: &World, id: &str, skill: &str) -> String {
    let call = json!({"tool_name": "Skill", "tool_input": {"skill": skill}, "tool_use_id": id});
    told(world, "PreToolUse", call)
}

fn prompt(world: &World, text: &str) -> String {
    told(world, "UserPromptSubmit", json!({"prompt": text}))
}

fn started() -> World {
    let world = World::guarded("block");
    world.start("one");
    world
}

#[test]
fn a_skill_that_came_during_the_session_is_said_to_wait_for_a_reload() {
    let world = World::guarded("block");
    world.write(".claude/skills/late/SKILL.md", "---\nname: late\ndescription: x\n---\n");
    world.start("one");
    world.write(".phasegate/skills/late.yaml", LATE);
    for text in [
        invoked(&world, "t1", "late"),
        told(
            &world,
            "UserPromptExpansion",
            json!({"command_name": "late", "expansion_type": "slash_command", "command_args": "", "prompt": "/late"}),
        ),
    ] {
        assert!(text.contains("systemMessage") && text.contains("additionalContext"), "{text}");
        assert!(text.contains("`late` came into the configs after this session began"), "{text}");
        assert!(text.contains("/phasegate reload"), "{text}");
    }
    let refused = world.phasegate(&["start", "late", "--session", "one"]).output().unwrap();
    let text = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(text.contains("after this session began") && refused.status.code() == Some(2), "{text}");
    let output = world.phasegate(&["start", "late"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("not in force in them as it is now: one; `phasegate reload`"), "{text}");
    world.run(&["reload"], 0);
    assert!(!invoked(&world, "t2", "late").contains("came into"));
    let output = world.phasegate(&["start", "late"]).output().unwrap();
    assert!(output.stderr.is_empty());
}

#[test]
fn a_skill_that_changed_during_the_session_is_said_to_wait_for_a_reload() {
    let world = started();
    assert!(!invoked(&world, "t1", "careful").contains("changed"));
    let config = world.root().join(".phasegate/skills/careful.yaml");
    let text = std::fs::read_to_string(&config).unwrap();
    std::fs::write(config, format!("{text}\nforbidden: [WebFetch]\n")).unwrap();
    let text = invoked(&world, "t2", "careful");
    assert!(text.contains("`careful` changed after this session began"), "{text}");
    assert!(text.contains("keeps the version that it began with"), "{text}");
}

#[test]
fn a_new_skill_in_configs_with_errors_is_said_to_be_without_force() {
    let world = started();
    world.write(".phasegate/skills/late.yaml", "skill: late\nphases: 3\n");
    let text = invoked(&world, "t1", "late");
    assert!(text.contains("the configs have errors") && text.contains("phasegate check"), "{text}");
}

#[test]
fn a_prompt_that_names_a_skill_which_the_client_cannot_start_is_told() {
    let world = started();
    let text = prompt(&world, "/careful change a.rs");
    assert!(text.contains("no `SKILL.md`") && text.contains("phasegate init --skill careful"), "{text}");
    let text = prompt(&world, "/carefull change a.rs");
    assert!(text.contains("no skill is called `carefull`") && text.contains("`/careful`"), "{text}");
    for other in ["/compact", "/srv/x/careful", "careful", "/", "please /careful"] {
        assert_eq!(prompt(&world, other), "", "{other}");
    }
    world.write(".claude/skills/careful/SKILL.md", "---\nname: careful\ndescription: x\n---\n");
    world.write(".claude/commands/carefull.md", "do it");
    assert_eq!(prompt(&world, "/careful change a.rs"), "");
    assert_eq!(prompt(&world, "/carefull change a.rs"), "");
}
