//! Configs that ask for less than before: the person is told when a session starts, until they accept it.

use serde_json::{Value, json};

use crate::support::{Reply, SKILL, World, denied, reply};

const CONFIG: &str = ".phasegate/config.yaml";
const CAREFUL: &str = ".phasegate/skills/careful.yaml";

/// What the client shows its user when this session starts.
fn told(world: &World, session: &str) -> String {
    let output = world.start(session);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    answer["systemMessage"].as_str().unwrap_or_default().to_owned()
}

fn doctor(world: &World) -> String {
    let output = world.phasegate(&["doctor"]).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// A project in block mode that a session has seen.
fn seen() -> World {
    let world = World::guarded("block");
    assert_eq!(told(&world, "first"), "");
    world
}

#[test]
fn less_is_told_at_each_start_and_by_the_doctor_until_a_person_accepts_it() {
    for (path, text, what) in [
        (CONFIG, "mode: warn\n".to_owned(), "block mode is gone"),
        (
            CONFIG,
            "mode: block\nprograms:\n  ship:\n    does: read\n".to_owned(),
            "the settings trust the program `ship`",
        ),
        (CAREFUL, SKILL.replace("skill: careful", "skill: other"), "skill `careful` is gone"),
        (CAREFUL, SKILL.replace("    forbidden: [Edit, Write]\n", ""), "skill `careful` has fewer forbidden calls"),
    ] {
        let world = seen();
        world.write(path, &text);
        for session in ["second", "third"] {
            let told = told(&world, session);
            assert!(told.contains("stay in force") && told.contains(what), "{what}: {told:?}");
        }
        assert!(doctor(&world).contains(what), "{what}");
        let answer = world.run(&["reload"], 0);
        assert!(answer.contains("accepted: the configs") && answer.contains(what), "{what}: {answer}");
        assert_eq!(told(&world, "fourth"), "", "{what}");
        assert!(!doctor(&world).contains(what), "{what}");
    }
}

#[test]
fn as_much_or_more_is_not_told_and_sets_the_mark() {
    let world = seen();
    world.write(".phasegate/skills/more.yaml", &SKILL.replace("skill: careful", "skill: more"));
    assert_eq!(told(&world, "second"), "");
    std::fs::remove_file(world.root().join(".phasegate/skills/more.yaml")).unwrap();
    let told = told(&world, "third");
    assert!(told.contains("skill `more` is gone"), "{told:?}");
}

#[test]
fn the_agent_cannot_accept_it() {
    let world = seen();
    world.write(CONFIG, "mode: warn\n");
    world.call("first", "t1", "Bash", json!({"command": "phasegate reload"}));
    assert_ne!(world.phasegate(&["reload"]).output().unwrap().status.code(), Some(0));
    assert!(told(&world, "second").contains("block mode is gone"));
}

/// Claude Code takes changed settings up at once, and starts their hooks outside of every call. What the guard reads is not
/// what the client reads a moment later, so a session in block mode keeps those that it began with.
#[test]
fn a_running_session_keeps_its_settings_and_what_nobody_accepted_is_told_at_each_start() {
    let world = World::guarded("block");
    world.run(&["init", "claude-code"], 0);
    assert_eq!(told(&world, "first"), "");
    let local = ".claude/settings.local.json";
    let changed = |source: &str| world.frame("first", "ConfigChange", json!({"source": source, "file_path": "x"}));
    for source in ["local_settings", "project_settings", "user_settings"] {
        denied(&changed(source), "settings-kept");
    }
    assert_eq!(reply(&changed("skills")), Reply::Silent);
    world.write(local, "{\"permissions\": {\"allow\": [\"Read\"]}}");
    assert_eq!(told(&world, "second"), "", "the client writes what its user answers");
    let hook = json!({"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "evil"}]}]}}).to_string();
    let utf16: Vec<u8> = [0xff, 0xfe].into_iter().chain(hook.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    let marked = [b"\xff".as_slice(), hook.as_bytes()].concat();
    for bytes in [hook.clone().into_bytes(), utf16, marked, b"{\"env\": {\"LD_PRELOAD\": \"x\"}}".to_vec()] {
        std::fs::write(world.root().join(local), bytes).unwrap();
        let told = told(&world, "third");
        assert!(told.contains("settings `.claude/settings.local.json`, which name what it starts, is new"), "{told}");
    }
    assert!(doctor(&world).contains(local));
    assert!(world.run(&["reload"], 0).contains(local));
    assert_eq!(told(&world, "fourth"), "");
    // A client that is started in a folder below reads those of that folder.
    world.write("sub/.claude/settings.local.json", &hook);
    let starts = json!({"source": "startup", "cwd": world.root().join("sub")});
    let output = world.frame("fifth", "SessionStart", starts);
    assert!(String::from_utf8_lossy(&output.stdout).contains("settings `sub/.claude/settings.local.json`"));
}

/// The head of a skill may name hooks, which the client starts outside of every call once it loads the skill.
#[test]
fn no_text_is_loaded_that_names_what_a_client_starts_until_a_person_accepts_it() {
    const HOOKS: &str = "---\nname: helper\ndescription: helps\nhooks:\n  PreToolUse: []\n---\nhelp\n";
    for file in [".claude/skills/helper/SKILL.md", ".claude/agents/helper.md", ".claude/commands/deep/helper.md"] {
        let world = World::guarded("block");
        world.run(&["init", "claude-code"], 0);
        world.write(file, &HOOKS.replace("hooks:\n  PreToolUse: []\n", ""));
        assert_eq!(told(&world, "first"), "");
        let loads = |session: &str| {
            let skill = world.call(session, "t1", "Skill", json!({"skill": "other"}));
            let agent = json!({"subagent_type": "helper", "description": "d", "prompt": "p"});
            (skill, world.call(session, "t2", "Agent", agent))
        };
        let (skill, agent) = loads("first");
        assert_eq!((reply(&skill), reply(&agent)), (Reply::Silent, Reply::Silent), "{file}");
        world.write(file, HOOKS);
        let (skill, agent) = loads("first");
        assert!(denied(&skill, "settings-kept").contains(file), "{file}");
        denied(&agent, "settings-kept");
        let told = told(&world, "second");
        assert!(told.contains(file) && told.contains("name what it starts"), "{file}: {told}");
        denied(&loads("second").0, "settings-kept");
        world.run(&["reload"], 0);
        assert_eq!(reply(&loads("second").0), Reply::Silent, "{file}");
    }
}
