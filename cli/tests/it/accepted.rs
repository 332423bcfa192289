//! What a person accepted decides, in this session and in the next, whatever becomes of the files; and it costs an honest
//! person one word to accept others.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::{Value, json};

use crate::support::{Reply, SKILL, World, denied, reply};

/// A skill and a rule that are in force by themselves, so that every session shows whether they are.
const CONFIG: &str = "mode: block\n";
const RULES: &str = "@id(\"no-make\")\n@deny(\"no\")\nforbid (principal, action, resource)\nwhen { context has command && context.command.program == \"make\" };\n";
const OTHER_RULES: &str = "@id(\"no-make\")\n@deny(\"no\")\nforbid (principal, action, resource)\nwhen { context has command && context.command.program == \"gmake\" };\n";

/// A line that the agent, or a program of its, runs in the project, past the guard.
fn past_the_guard(world: &World, line: &str) {
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(world.root()).env_clear().envs(world.variables());
    command.env("PATH", std::env::var_os("PATH").unwrap_or_default());
    let identity = [("GIT_AUTHOR_NAME", "t"), ("GIT_AUTHOR_EMAIL", "t@example.com")];
    command.envs(identity).env("GIT_COMMITTER_NAME", "t").env("GIT_COMMITTER_EMAIL", "t@example.com");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A repository whose configs a session has seen, with a weaker config beside: as a branch, an archive, a folder.
fn seen() -> World {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", CONFIG);
    world.write(".phasegate/skills/careful.yaml", SKILL);
    world.write("a.rs", "x\n");
    past_the_guard(&world, "git init -q -b main . && git add -A && git commit -q -m start");
    past_the_guard(
        &world,
        "git checkout -q -b weak && sed -i s/block/warn/ .phasegate/config.yaml && git commit -q -a -m weak && \
         git diff main weak > ../weak.patch && mkdir -p ../weak && cp -r .phasegate ../weak && \
         tar cf ../weak.tar -C ../weak . && git checkout -q main",
    );
    world.start("first");
    assert!(holds(&world, "first"), "the guard works");
    world
}

/// Whether the skill is in force in block mode in this session.
fn holds(world: &World, session: &str) -> bool {
    world.call(session, &format!("s-{session}"), "Skill", json!({"skill": "careful"}));
    let write = json!({"file_path": "a.rs", "content": "y"});
    matches!(reply(&world.call(session, &format!("w-{session}"), "Write", write)), Reply::Denied(_))
}

/// What the client shows its user when this session starts.
fn told(world: &World, session: &str) -> String {
    shown(&world.start(session))
}

fn shown(output: &Output) -> String {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    answer["systemMessage"].as_str().unwrap_or_default().to_owned()
}

fn doctor(world: &World) -> String {
    String::from_utf8(world.phasegate(&["doctor"]).output().unwrap().stdout).unwrap()
}

/// A frame of a client that was started in another folder.
fn from_folder(world: &World, folder: &Path, session: &str, event: &str, fields: Value) -> Output {
    let mut frame = json!({"session_id": session, "transcript_path": "/t.jsonl", "cwd": folder,
        "permission_mode": "default", "hook_event_name": event});
    frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    let mut hook = world.phasegate(&["hook", "claude-code"]);
    hook.current_dir(folder).env("CLAUDE_PROJECT_DIR", folder).write_stdin(frame.to_string()).output().unwrap()
}

fn holds_in(world: &World, folder: &Path) -> (String, bool) {
    let send = |event, fields| from_folder(world, folder, "next", event, fields);
    let told = shown(&send("SessionStart", json!({"source": "startup"})));
    let call = |id: &str, tool: &str, input: Value| {
        send("PreToolUse", json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}))
    };
    call("s", "Skill", json!({"skill": "careful"}));
    let write = json!({"file_path": folder.join("a.rs"), "content": "y"});
    (told, matches!(reply(&call("w", "Write", write)), Reply::Denied(_)))
}

#[test]
fn no_change_of_the_files_changes_what_is_in_force_in_this_or_the_next_session() {
    const NOBODY_SAW: [(&str, &str); 24] = [
        ("an archive", "tar xf ../weak.tar -C ."),
        (
            "an archive of one program, unpacked by another",
            "python3 -c \"import tarfile; tarfile.open('../weak.tar').extractall('.')\"",
        ),
        ("another branch", "git checkout -q weak"),
        ("files of another commit", "git checkout -q weak -- ."),
        ("a merge", "git merge -q weak"),
        ("a hard reset", "git reset -q --hard weak"),
        ("a patch", "git apply ../weak.patch"),
        (
            "a stash",
            "git checkout -q weak && git reset -q --soft main && git stash -q && git checkout -q main && git stash pop -q",
        ),
        (
            "a hook of git",
            "printf '#!/bin/sh\\nsed -i s/block/warn/ .ph*/config.yaml\\n' > .git/hooks/post-commit && chmod +x .git/hooks/post-commit && git commit -q --allow-empty -m x",
        ),
        (
            "a filter of git",
            "git config filter.w.smudge 'sed s/block/warn/' && echo '*.yaml filter=w' > .gitattributes && rm -r .ph* && git checkout -q -- .ph*",
        ),
        (
            "an index that was changed by itself",
            "git update-index --cacheinfo 100644,$(git rev-parse weak:.phasegate/config.yaml),.phasegate/config.yaml && git checkout-index -f -a",
        ),
        (
            "a name that is computed",
            "python3 -c \"import pathlib; p = pathlib.Path('etagesahp.'[::-1]) / 'lmay.gifnoc'[::-1]; p.write_text('mode: warn')\"",
        ),
        ("a name from a file", "printf .phase > n && printf gate >> n && sed -i s/block/warn/ $(cat n)/config.yaml"),
        ("a copy of a folder", "cp -rT ../weak ."),
        ("a move of the folder", "mv .phasegate phasegate.old && cp -r ../weak/.phasegate ."),
        ("a link in the folder's place", "rm -r .phasegate && ln -s ../weak/.phasegate .phasegate"),
        ("a link in a file's place", "ln -sf ../../weak/.phasegate/config.yaml .phasegate/config.yaml"),
        ("the folder's end", "rm -r .phasegate"),
        ("a config's end", "rm .phasegate/skills/careful.yaml"),
        ("empty files", "for f in .phasegate/config.yaml .phasegate/skills/*; do : > $f; done"),
        ("a mistake in a file", "echo 'phases: [' >> .phasegate/skills/careful.yaml"),
        ("a second settings file", "echo '{\"mode\": \"warn\"}' > .phasegate/config.json"),
        ("a folder in a file's place", "rm .phasegate/config.yaml && mkdir .phasegate/config.yaml"),
        (
            "as many calls that are forbidden, but others",
            "sed -i 's/forbidden: .Edit, Write./forbidden: [Edits, Writes]/;s/allowed: .Read./allowed: [Read, Write]/' .phasegate/skills/careful.yaml",
        ),
    ];
    for (what, line) in NOBODY_SAW {
        let world = seen();
        past_the_guard(&world, line);
        assert!(holds(&world, "first"), "{what}: this session");
        for session in ["second", "third"] {
            let told = told(&world, session);
            assert!(
                told.contains("stay in force")
                    && told.contains("Restore the files") | told.contains("/phasegate reload"),
                "{what}: {told:?}"
            );
            assert!(holds(&world, session), "{what}: session {session}");
        }
        assert!(world.run(&["status"], 0).contains("the accepted ones stay in force"), "{what}");
        assert!(doctor(&world).contains("the accepted ones stay in force"), "{what}");
        assert!(world.run(&["audit", "verify"], 0).contains("fits"), "{what}");
    }
}

#[test]
fn a_rule_that_became_another_waits() {
    let world = World::unguarded();
    world.write(".phasegate/rules/make.cedar", RULES);
    world.start("first");
    let make = |session: &str| world.call(session, "t", "Bash", json!({"command": "make all"}));
    assert!(matches!(reply(&make("first")), Reply::Denied(_)));
    for (session, text) in [("second", Some(OTHER_RULES)), ("third", Some("")), ("fourth", None)] {
        match text {
            Some(text) => world.write(".phasegate/rules/make.cedar", text),
            None => past_the_guard(&world, "rm -r .phasegate/rules"),
        }
        let told = told(&world, session);
        assert!(told.contains("stay in force"), "{session}: {told:?}");
        assert!(matches!(reply(&make(session)), Reply::Denied(_)), "{session}");
    }
}

#[test]
fn phases_in_a_skill_md_wait_too() {
    let world = World::unguarded();
    let text =
        "---\nname: careful\ndescription: x\ntool_permissions:\n  phases:\n    look:\n      allowed: [Read]\n---\n";
    world.write(".claude/skills/careful/SKILL.md", text);
    world.start("first");
    world.write(".claude/skills/careful/SKILL.md", "---\nname: careful\ndescription: x\n---\n");
    assert!(told(&world, "second").contains("stay in force"));
    world.write(".claude/skills/other/SKILL.md", "---\nname: other\ndescription: no phases\n---\n");
    world.write(".claude/skills/careful/SKILL.md", text);
    assert_eq!(told(&world, "third"), "", "what guards nothing is nobody's business");
}

#[test]
fn a_worktree_and_a_folder_below_go_by_what_was_accepted() {
    let world = seen();
    past_the_guard(&world, "git worktree add -q ../tree weak");
    let tree = world.root().with_file_name("tree");
    let (told, holds) = holds_in(&world, &tree);
    assert!(told.contains("stay in force") && holds, "worktree: {told}");

    let world = seen();
    past_the_guard(&world, "mkdir src && cp -r ../weak/.phasegate src");
    let (told, holds) = holds_in(&world, &world.root().join("src"));
    assert!(told.contains("stay in force") && holds, "folder below: {told}");
}

#[test]
fn configs_of_the_user_wait_in_every_project() {
    let world = seen();
    let config = world.home().join(".config/phasegate/config.yaml");
    std::fs::create_dir_all(config.parent().unwrap()).unwrap();
    std::fs::write(&config, "mode: block\n").unwrap();
    assert_eq!(told(&world, "second"), "", "block mode was in force already");
    std::fs::write(&config, "programs:\n  ship:\n    does: read\n").unwrap();
    assert!(told(&world, "third").contains("the settings trust the program `ship`"));
    let other = world.root().with_file_name("other");
    std::fs::create_dir_all(other.join(".phasegate/skills")).unwrap();
    std::fs::write(other.join(".phasegate/skills/careful.yaml"), SKILL).unwrap();
    let (told, holds) = holds_in(&world, &other);
    assert!(told.contains("stay in force") && holds, "another project: {told}");
}

#[test]
fn stored_texts_that_are_gone_or_changed_deny_until_a_person_accepts_what_is_there() {
    for line in ["rm -r ../state/accepted", "for f in ../state/accepted/*; do echo '[]' > $f; done"] {
        let world = seen();
        past_the_guard(&world, line);
        assert!(holds(&world, "first"), "{line}: the session has its policy");
        world.start("second");
        assert!(holds(&world, "second"), "{line}: the texts are there as they were");
        past_the_guard(&world, line);
        past_the_guard(&world, "git checkout -q weak");
        let text = denied(&world.call("third", "t", "Read", json!({"file_path": "a.rs"})), "policy-missing");
        assert!(text.contains("phasegate reload"), "{text}");
        world.run(&["reload"], 0);
        world.start("fourth");
        assert!(!holds(&world, "fourth"), "{line}: what a person accepted");
    }
}

#[test]
fn a_person_accepts_a_change_with_one_word() {
    for typed in [false, true] {
        let world = seen();
        past_the_guard(&world, "git merge -q weak");
        assert!(told(&world, "second").contains("block mode is gone"));
        if typed {
            let answer = prompt_in_a_terminal(&world, "second", "/phasegate reload");
            assert!(shown(&answer).contains("read anew") || !matches!(reply(&answer), Reply::Silent), "{answer:?}");
        } else {
            let answer = world.run(&["reload"], 0);
            assert!(answer.contains("accepted: the configs: block mode is gone"), "{answer}");
        }
        assert_eq!(told(&world, "third"), "", "typed: {typed}");
        assert!(!holds(&world, "third"), "typed: {typed}");
        assert!(!doctor(&world).contains("stay in force"));
    }
}

/// What a client sends for a prompt that a person typed.
pub(crate) fn prompt_in_a_terminal(world: &World, session: &str, text: &str) -> Output {
    let frame = json!({"session_id": session, "transcript_path": "/t.jsonl", "cwd": world.root(),
        "permission_mode": "default", "hook_event_name": "UserPromptSubmit", "prompt": text});
    let mut hook = world.phasegate(&["hook", "claude-code"]);
    hook.env("CLAUDE_CODE_ENTRYPOINT", "cli").write_stdin(frame.to_string()).output().unwrap()
}

#[test]
fn what_a_teammate_adds_comes_by_itself_if_it_only_asks_for_more() {
    let world = seen();
    world.write(".phasegate/skills/more.yaml", &SKILL.replace("skill: careful", "skill: more"));
    world.write(".phasegate/config.yaml", "# what the team agreed on\nmode: block\n");
    assert_eq!(told(&world, "second"), "");
    assert!(holds(&world, "second"));
    assert!(world.run(&["skill", "list"], 0).contains("more"));
    std::fs::remove_file(world.root().join(".phasegate/skills/more.yaml")).unwrap();
    assert!(told(&world, "third").contains("skill `more` is gone"));
    world.write(".phasegate/skills/more.yaml", &SKILL.replace("skill: careful", "skill: more"));
    assert_eq!(told(&world, "fourth"), "", "what was put back waits no more");
    // What says what a tool does may open the way for a call.
    let labels = "tools:\n  deploy: {labels: [read]}\n";
    world.write(".phasegate/skills/more.yaml", &(SKILL.replace("skill: careful", "skill: more") + labels));
    assert!(told(&world, "fifth").contains("skill `more`"));
}

#[test]
fn the_first_sight_of_a_clone_is_acceptance() {
    let world = seen();
    past_the_guard(&world, "git clone -q -b weak . ../clone");
    let clone = world.root().with_file_name("clone");
    let (told, holds) = holds_in(&world, &clone);
    assert!(told.is_empty() && !holds, "{told}");
}

#[test]
fn init_and_the_like_accept_what_they_write_and_nothing_that_waits() {
    let world = seen();
    world.run(&["skill", "new", "later"], 0);
    assert_eq!(told(&world, "second"), "");
    past_the_guard(&world, "sed -i s/block/warn/ .phasegate/config.yaml");
    world.run(&["skill", "new", "latest"], 0);
    assert!(told(&world, "third").contains("block mode is gone"));
    assert!(holds(&world, "third"));
}

/// A session of a client that was started with these variables, as a shell says them; the hook has `own` beside.
fn session_of_a_client(world: &World, session: &str, client: &[(&str, &str)], own: &str) -> String {
    let frame = json!({"session_id": session, "transcript_path": "/t.jsonl", "cwd": world.root(),
        "permission_mode": "default", "hook_event_name": "SessionStart", "source": "startup"});
    let line = format!(
        "printf %s '{frame}' | {own} CLAUDE_CODE_SESSION_ID={session} '{}' hook claude-code; true",
        world.phasegate(&[]).get_program().to_string_lossy()
    );
    let mut shell = Command::new("sh");
    shell
        .args(["-c", &line])
        .current_dir(world.root())
        .env_clear()
        .envs(world.variables())
        .envs(client.iter().copied());
    shown(&shell.output().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn where_no_person_is_the_environment_of_the_client_accepts() {
    const NAME: &str = "PHASEGATE_ACCEPT";
    let world = seen();
    past_the_guard(&world, "git checkout -q weak");
    let shown: Value = serde_json::from_str(&world.run(&["--json", "status"], 0)).unwrap();
    let digest = shown["offer"]["digest"].as_str().unwrap().to_owned();
    assert!(session_of_a_client(&world, "none", &[], "").contains("stay in force"));
    assert!(session_of_a_client(&world, "other", &[(NAME, "0123")], "").contains("stay in force"));
    let by_settings = session_of_a_client(&world, "settings", &[], "PHASEGATE_ACCEPT=project");
    assert!(by_settings.contains("stay in force"), "what the client's settings set says nothing: {by_settings}");
    let agents = [(NAME, "project"), ("CLAUDE_CODE_SESSION_ID", "first")];
    let by_an_agent = session_of_a_client(&world, "child", &agents, "");
    assert!(by_an_agent.contains("stay in force"), "what an agent starts accepts nothing: {by_an_agent}");
    assert_eq!(session_of_a_client(&world, "ci", &[(NAME, &digest)], ""), "");
    assert!(!holds(&world, "ci"));
    past_the_guard(&world, "git checkout -q main && rm .phasegate/skills/careful.yaml");
    assert_eq!(session_of_a_client(&world, "cloud", &[(NAME, "project")], ""), "");
}

#[test]
fn a_variable_inside_a_call_accepts_nothing() {
    let world = seen();
    past_the_guard(&world, "git checkout -q weak");
    world.start("agent");
    world.call("agent", "b", "Bash", json!({"command": "PHASEGATE_ACCEPT=project make reload"}));
    let refused = world.phasegate(&["reload"]).env("PHASEGATE_ACCEPT", "project").output().unwrap();
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(told(&world, "second").contains("stay in force"));
    assert!(holds(&world, "second"));
}
