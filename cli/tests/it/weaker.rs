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

const HOOKS: &str = "---\nname: helper\ndescription: helps\nhooks:\n  PreToolUse: []\n---\nhelp\n";
const PLAIN: &str = "---\nname: helper\ndescription: helps\n---\nhelp\n";

/// What the guard says to a skill, and to a subagent.
fn loads(world: &World, session: &str) -> [Reply; 2] {
    let agent = json!({"subagent_type": "helper", "description": "d", "prompt": "p"});
    let skill = world.call(session, "t1", "Skill", json!({"skill": "other"}));
    [skill, world.call(session, "t2", "Agent", agent)].map(|output| reply(&output))
}

fn refuses(replies: &[Reply], what: &str) -> bool {
    replies
        .iter()
        .all(|reply| matches!(reply, Reply::Denied(text) if text.contains("settings-kept") && text.contains(what)))
}

/// The head of a skill may name hooks, which the client starts outside of every call once it loads the skill.
#[test]
fn no_text_is_loaded_that_names_what_a_client_starts_until_a_person_accepts_it() {
    for file in [".claude/skills/helper/SKILL.md", ".claude/agents/helper.md", ".claude/commands/deep/helper.md"] {
        let world = World::guarded("block");
        world.run(&["init", "claude-code"], 0);
        world.write(file, PLAIN);
        assert_eq!(told(&world, "first"), "");
        assert_eq!(loads(&world, "first"), [Reply::Silent, Reply::Silent], "{file}");
        world.write(file, HOOKS);
        let of_agents = file.contains("agents");
        let [skill, agent] = loads(&world, "first");
        assert!(refuses(&[skill], file), "{file}");
        assert_eq!(refuses(&[agent], file), of_agents, "{file}");
        let told = told(&world, "second");
        assert!(told.contains(file) && told.contains("name what it starts"), "{file}: {told}");
        assert!(refuses(&loads(&world, "second")[..1], file), "{file}");
        world.run(&["reload"], 0);
        assert_eq!(loads(&world, "second"), [Reply::Silent, Reply::Silent], "{file}");
    }
}

/// The client loads a text when its file changes, and keeps it: what is there when the text is used says nothing.
#[test]
fn no_text_is_loaded_from_files_that_changed_since_the_session_began() {
    for file in [".claude/skills/helper/SKILL.md", ".claude/agents/helper.md", ".claude/commands/helper.md"] {
        let world = World::guarded("block");
        world.run(&["init", "claude-code"], 0);
        world.write(file, PLAIN);
        assert_eq!(told(&world, "first"), "");
        // A skill's other files may change.
        world.write(".claude/skills/helper/scripts/run.py", "print(1)");
        world.write(file, HOOKS);
        world.write(file, PLAIN);
        let place = file.trim_end_matches("helper/SKILL.md").trim_end_matches("helper.md").trim_end_matches('/');
        let what = format!("files in `{place}` changed since this session began");
        assert!(refuses(&loads(&world, "first")[..1], &what), "{file}: {:?}", loads(&world, "first"));
        assert_eq!(refuses(&loads(&world, "first")[1..], &what), file.contains("agents"), "{file}");
        let typed = world.frame("first", "UserPromptSubmit", json!({"prompt": "/phasegate reload"}));
        assert!(!matches!(reply(&typed), Reply::Denied(text) if text.contains("settings-kept")), "{file}");
        world.run(&["reload"], 0);
        assert_eq!(loads(&world, "first"), [Reply::Silent, Reply::Silent], "{file}");
        // The client finds folders on the way to a file that it reads.
        world.write("sub/.claude/skills/nested/SKILL.md", HOOKS);
        world.write("sub/notes.md", "");
        assert_eq!(loads(&world, "first")[0], Reply::Silent, "{file}: nothing was read there");
        world.call("first", "t3", "Read", json!({"file_path": world.root().join("sub/notes.md")}));
        assert!(refuses(&loads(&world, "first")[..1], "sub/.claude/skills/nested/SKILL.md"), "{file}");
    }
}

/// The client's own `git` starts what the repository names, outside of every line.
#[test]
fn the_client_makes_no_copy_of_a_repository_that_names_other_programs_since_the_session_began() {
    let world = World::guarded("block");
    world.run(&["init", "claude-code"], 0);
    world.write(".git/config", "[core]\n\tbare = false\n");
    world.start("first");
    let copies = |session: &str| {
        let agent = json!({"subagent_type": "a", "description": "d", "prompt": "p", "isolation": "worktree"});
        [world.call(session, "t1", "Agent", agent), world.call(session, "t2", "EnterWorktree", json!({"name": "w"}))]
            .map(|output| reply(&output))
    };
    world.write(".git/config", "[core]\n\tbare = false\n[branch \"x\"]\n\tremote = origin\n");
    assert_eq!(copies("first"), [Reply::Silent, Reply::Silent], "it names no program");
    world.write(".git/config", "[core]\n\tsshCommand = evil\n");
    assert!(refuses(&copies("first"), "what `.git` has `git` start"), "{:?}", copies("first"));
    assert_eq!(loads(&world, "first"), [Reply::Silent, Reply::Silent], "others go on");
    let told = told(&world, "second");
    assert!(told.contains("have `git` start is new"), "{told}");
    assert!(refuses(&copies("second"), "what `.git` has `git` start"), "it is not taken up by another session");
    world.run(&["reload"], 0);
    assert_eq!(copies("first"), [Reply::Silent, Reply::Silent]);
    world.write(".git/hooks/post-checkout", "evil");
    assert!(refuses(&copies("first"), "what `.git` has `git` start"));
}
