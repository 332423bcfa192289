//! `init`: what it writes, that it writes nothing twice, and that it can take all of it back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::support::{World, denied};
use serde_json::{Value, json};

const SETTINGS: &str = "{\n  \"permissions\": { \"allow\": [\"Read\"] },\n  \"hooks\": {\"Stop\": []}\n}\n";

fn files(folder: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
            found.insert(path, String::new());
        } else {
            found.insert(path.clone(), fs::read_to_string(&path).unwrap());
        }
    }
    found
}

#[test]
fn init_keeps_what_is_there_writes_nothing_twice_and_can_be_undone() {
    let world = World::unguarded();
    world.write(".claude/settings.json", SETTINGS);
    let before = files(&world.root());

    let dry = world.run(&["init", "--skill", "lsp-refactor", "--mode", "block", "--dry-run", "--verbose"], 0);
    assert!(dry.contains("+mode: block") && dry.contains("hook claude-code"), "{dry}");
    assert_eq!(files(&world.root()), before, "--dry-run writes nothing");

    world.run(&["init", "--skill", "lsp-refactor", "--mode", "block"], 0);
    let settings: Value =
        serde_json::from_str(&fs::read_to_string(world.root().join(".claude/settings.json")).unwrap()).unwrap();
    assert_eq!(settings["permissions"], json!({"allow": ["Read"]}));
    assert!(settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"].as_str().unwrap().contains("hook claude-code"));
    let once = files(&world.root());
    assert!(world.run(&["init", "--skill", "lsp-refactor"], 0).contains("nothing to change"));
    assert_eq!(files(&world.root()), once);

    world.run(&["init", "--skill", "lsp-rename"], 0);
    let config = fs::read_to_string(world.root().join(".phasegate/config.yaml")).unwrap();
    assert!(config.contains("mode: block") && config.contains("- lsp-refactor\n  - lsp-rename"), "{config}");
    world.run(&["check"], 0);

    let dry = world.run(&["init", "--undo", "--dry-run"], 0);
    assert!(dry.contains("removed .phasegate/config.yaml\n") && !dry.contains("-mode: block"), "{dry}");
    world.run(&["init", "--undo"], 0);
    assert_eq!(files(&world.root()), before, "every file is as it was");
    assert!(world.run(&["init", "--undo"], 0).contains("nothing to undo"));
}

#[test]
fn what_an_administrator_writes_is_shown_to_anybody() {
    let world = World::guarded("block");
    let shown = world.run(&["init", "claude-code", "--managed", "--dry-run"], 0);
    for part in
        ["managed-settings.d/50-phasegate.json", "allowManagedModsOnly", "on('plugin.register'", "nothing was changed"]
    {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
fn undo_leaves_a_file_that_was_changed_since_and_takes_only_its_own_part_out_of_settings() {
    let world = World::unguarded();
    world.run(&["init", "claude-code", "--skill", "lsp-refactor"], 0);
    let path = world.root().join(".claude/settings.json");
    let mut settings: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    settings["model"] = json!("m");
    fs::write(&path, settings.to_string()).unwrap();
    world.write(".phasegate/config.yaml", "mode: warn\n");
    world.run(&["init", "claude-code", "--undo"], 1);
    let after: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
    assert_eq!(after["model"], "m");
    assert!(!after.to_string().contains("phasegate"), "{after}");
    assert_eq!(fs::read_to_string(world.root().join(".phasegate/config.yaml")).unwrap(), "mode: warn\n");
}

#[test]
fn undo_takes_out_what_an_earlier_init_wrote_into_a_file_that_was_edited_since() {
    for (first, model) in [(Some("{\"model\":\"m\"}\n"), true), (None, false)] {
        let world = World::unguarded();
        if let Some(text) = first {
            world.write(".claude/settings.json", text);
        }
        let path = world.root().join(".claude/settings.json");
        world.run(&["init", "claude-code"], 0);
        let mut settings: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
        settings["hooks"].as_object_mut().unwrap().remove("Stop").unwrap();
        fs::write(&path, settings.to_string()).unwrap();
        world.run(&["init", "claude-code"], 0);
        assert!(fs::read_to_string(&path).unwrap().contains("\"Stop\""));
        assert!(world.run(&["init", "--undo"], 0).contains("undone"));
        if model {
            let after: Value = serde_json::from_str(&fs::read_to_string(&path).unwrap()).unwrap();
            assert_eq!(after, json!({"model": "m"}));
        } else {
            assert!(files(&world.root()).is_empty(), "{:?}", files(&world.root()));
        }
    }
}

#[test]
fn undo_gives_back_to_the_letter_what_was_there_first_also_a_hook_of_ours() {
    let world = World::unguarded();
    let old = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"/old/phasegate hook claude-code"}]}]}}"#;
    world.write(".claude/settings.json", old);
    world.run(&["init"], 0);
    world.run(&["init", "--undo"], 0);
    assert_eq!(fs::read_to_string(world.root().join(".claude/settings.json")).unwrap(), old);
}

#[test]
fn undo_needs_no_sign_of_the_platform() {
    let world = World::unguarded();
    assert!(world.run(&["init", "--undo"], 0).contains("nothing to undo"));
    world.run(&["init", "claude-code", "--skill", "lsp-refactor"], 0);
    fs::remove_dir_all(world.root().join(".claude")).unwrap();
    assert!(world.run(&["init", "--undo"], 0).contains("undone"));
    assert!(files(&world.root()).is_empty(), "{:?}", files(&world.root()));
}

/// A client starts only skills of which it finds a `SKILL.md`.
#[test]
fn a_skill_that_the_client_cannot_start_gets_a_file_and_the_doctor_tells_of_it() {
    let world = World::unguarded();
    let doctor = || {
        let told: Value =
            serde_json::from_slice(&world.phasegate(&["doctor", "--json"]).output().unwrap().stdout).unwrap();
        told.to_string().matches("cannot start the skill").count()
    };
    world.write(".phasegate/config.yaml", "mode: block\nuse: [test-first, review-only]\n");
    world.write(".claude/skills/review-only/SKILL.md", "mine");
    world.run(&["init", "claude-code"], 0);
    assert_eq!(doctor(), 1, "test-first has none");
    world.run(&["init", "claude-code", "--skill", "test-first", "--skill", "review-only"], 0);
    assert_eq!(doctor(), 0);
    let text = |skill: &str| fs::read_to_string(world.root().join(format!(".claude/skills/{skill}/SKILL.md"))).unwrap();
    assert_eq!(text("review-only"), "mine");
    let made = text("test-first");
    assert!(made.starts_with("---\nname: test-first\ndescription: \"") && made.contains("1. **work**"), "{made}");
    world.run(&["check"], 0);
    world.run(&["init", "--undo"], 0);
    assert!(!world.root().join(".claude/skills/test-first").exists());
    assert_eq!(text("review-only"), "mine");
}

/// The agent reads the `SKILL.md`, and the guard goes by the config.
#[test]
fn a_skill_file_that_is_older_than_its_config_is_told_of_and_renewed() {
    let world = World::unguarded();
    let stale = || {
        let told: Value =
            serde_json::from_slice(&world.phasegate(&["doctor", "--json"]).output().unwrap().stdout).unwrap();
        told.to_string().matches("says what the skill was before its config changed").count()
    };
    let file = world.root().join(".claude/skills/rel/SKILL.md");
    world.write(".phasegate/skills/rel.yaml", "skill: rel\nphases:\n  one:\n    allowed: [Read]\n");
    world.run(&["init", "claude-code", "--skill", "rel"], 0);
    assert_eq!(stale(), 0);
    world.write(".phasegate/skills/rel.yaml", "skill: rel\nphases:\n  one:\n    allowed: [Read, Grep]\n");
    assert_eq!(stale(), 1);
    world.run(&["init", "claude-code", "--skill", "rel"], 0);
    assert_eq!(stale(), 0);
    assert!(fs::read_to_string(&file).unwrap().contains("Grep"));
    fs::write(&file, "mine").unwrap();
    assert_eq!(stale(), 0, "the text is the user's own");
}

/// A writing that failed leaves the record, and the folder that was made for the file.
#[test]
fn a_folder_that_init_made_is_removed_also_after_a_second_try() {
    let world = World::unguarded();
    world.run(&["init", "claude-code"], 0);
    fs::remove_file(world.root().join(".claude/settings.json")).unwrap();
    world.run(&["init", "claude-code"], 0);
    world.run(&["init", "--undo"], 0);
    assert!(files(&world.root()).is_empty(), "{:?}", files(&world.root()));
}

#[cfg(unix)]
#[test]
fn a_link_stays_one_and_its_target_is_written_whether_it_is_there_or_not() {
    for (target, text) in [("../mine/dot.json", None), ("../mine/dot.json", Some("{}\n")), ("loose.json", None)] {
        let world = World::unguarded();
        fs::create_dir(world.root().join(".claude")).unwrap();
        fs::create_dir(world.root().join("mine")).unwrap();
        let link = world.root().join(".claude/settings.json");
        std::os::unix::fs::symlink(target, &link).unwrap();
        let file = world.root().join(".claude").join(target);
        if let Some(text) = text {
            fs::write(&file, text).unwrap();
        }
        world.run(&["init"], 0);
        assert!(link.is_symlink());
        assert!(fs::read_to_string(&file).unwrap().contains("hook claude-code"));
        world.run(&["init", "--undo"], 0);
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&file).ok().as_deref(), text);
    }
}

#[test]
fn a_hook_that_its_user_wrapped_is_kept_and_named() {
    let world = World::unguarded();
    let hook = "LOG=1 phasegate hook claude-code || exit 2";
    world.write(
        ".claude/settings.json",
        &json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": hook, "timeout": 9}]}]}}).to_string(),
    );
    let before = files(&world.root());
    let output = world.phasegate(&["init"]).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && told.contains(hook) && told.contains("hooks.Stop"), "{told}");
    assert_eq!(files(&world.root()), before);
    assert!(world.run(&["init", "--undo"], 0).contains("nothing to undo"));
    assert_eq!(files(&world.root()), before);
}

#[test]
fn a_skill_that_is_not_shipped_changes_nothing() {
    let world = World::unguarded();
    let output = world.phasegate(&["init", "claude-code", "--skill", "lsp-refactr"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("did you mean `lsp-refactor`?"));
    assert!(files(&world.root()).is_empty());
}

#[test]
fn settings_that_cannot_be_understood_are_not_overwritten() {
    let world = World::unguarded();
    world.write(".claude/settings.json", "{ \"hooks\": ");
    let before = files(&world.root());
    assert_eq!(world.phasegate(&["init"]).output().unwrap().status.code(), Some(2));
    assert_eq!(files(&world.root()), before);
}

#[test]
fn the_users_settings_guard_every_project() {
    let world = World::unguarded();
    world.run(&["init", "claude-code", "--user", "--skill", "lsp-refactor", "--mode", "block"], 0);
    assert!(files(&world.root()).is_empty());
    assert!(world.home().join(".claude/settings.json").exists());
    world.start("s");
    world.call("s", "t0", "Skill", json!({"skill": "lsp-refactor"}));
    denied(&world.call("s", "t1", "Edit", json!({"file_path": "a"})), "not-done");
    denied(&world.hook("nonsense"), "bad-input");
    world.run(&["init", "claude-code", "--user", "--undo"], 0);
    assert!(files(&world.home()).values().all(String::is_empty), "no file is left");
}

/// The command of a hook in the project's settings, or in the user's.
fn line(folder: &Path, event: &str) -> String {
    let text = fs::read_to_string(folder.join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    settings["hooks"][event][0]["hooks"][0]["command"].as_str().unwrap().to_string()
}

/// Whether the client denies a call there if the guard hangs.
fn is_strict(folder: &Path) -> bool {
    let text = fs::read_to_string(folder.join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    settings["hooks"]["PreToolUse"][0]["hooks"][0]["onFailure"] == "block"
}

#[test]
fn the_project_and_the_user_get_the_same_line_and_either_can_be_left_out() {
    for (args, project, user) in
        [(&[][..], true, true), (&["--no-user"][..], true, false), (&["--user"][..], false, true)]
    {
        for mode in ["warn", "block"] {
            let world = World::unguarded();
            world.run(&[&["init", "claude-code", "--mode", mode], args].concat(), 0);
            let there = |folder: &Path| folder.join(".claude/settings.json").exists();
            assert_eq!((there(&world.root()), there(&world.home())), (project, user), "{args:?}");
            if project && user {
                assert_eq!(line(&world.root(), "PreToolUse"), line(&world.home(), "PreToolUse"), "{mode}");
            }
            world.run(&[&["init", "--undo"], args].concat(), 0);
            let left = |folder: &Path| files(folder).values().any(|text| !text.is_empty());
            assert!(!left(&world.root()) && !left(&world.home()), "{args:?}");
        }
    }
}

#[test]
fn an_init_for_the_user_or_the_home_folder_keeps_what_a_project_in_block_mode_needs() {
    let world = World::unguarded();
    world.run(&["init", "claude-code", "--mode", "block"], 0);
    assert!(is_strict(&world.home()));
    // Status 1: the project's own mode holds here.
    world.run(&["init", "claude-code", "--user", "--mode", "warn"], 1);
    assert!(is_strict(&world.home()), "the settings of the user stand for the project, too");
    let home = world.home();
    let at_home = ["--project", home.to_str().unwrap(), "init", "claude-code", "--mode", "warn"];
    world.run(&at_home, 0);
    assert!(is_strict(&world.home()), "the project of the home folder has the same settings");
}

#[test]
fn a_project_whose_folder_is_gone_needs_no_hooks() {
    let world = World::unguarded();
    let gone = world.root().join("gone");
    fs::create_dir(&gone).unwrap();
    world.run(&["--project", gone.to_str().unwrap(), "init", "claude-code", "--mode", "block"], 0);
    world.run(&["init", "claude-code", "--mode", "warn"], 0);
    let says = |args: &[&str]| String::from_utf8(world.phasegate(args).output().unwrap().stderr).unwrap();
    let undo = ["init", "--undo", "--dry-run"];
    let said = says(&undo);
    assert!(said.contains(gone.to_str().unwrap()) && said.contains("init --undo --user"), "{said}");
    fs::remove_dir_all(&gone).unwrap();
    world.run(&["init", "claude-code", "--mode", "warn"], 0);
    assert!(!is_strict(&world.home()), "no project in block mode is left");
    world.run(&["init", "--undo"], 0);
    assert!(!world.home().join(".claude/settings.json").exists());
}

#[test]
fn the_users_hooks_stay_until_no_project_needs_them() {
    let world = World::unguarded();
    let inner = world.root().join("inner");
    fs::create_dir(&inner).unwrap();
    let settings = world.home().join(".claude/settings.json");
    let own = "{\n  \"model\": \"m\"\n}\n";
    fs::create_dir(world.home().join(".claude")).unwrap();
    fs::write(&settings, own).unwrap();
    let at = |folder: &Path, args: &[&str]| {
        let project = ["--project", folder.to_str().unwrap()];
        world.run(&[&project, args].concat(), 0)
    };
    at(&world.root(), &["init", "claude-code", "--mode", "block"]);
    at(&inner, &["init", "claude-code", "--mode", "warn"]);
    assert!(is_strict(&world.home()), "a guarded project is in block mode");
    assert!(!is_strict(&inner));
    for folder in [&world.home(), &inner] {
        assert_eq!(line(folder, "PreToolUse"), line(&world.root(), "PreToolUse"), "each event starts one process");
    }
    let doctor = |folder: &Path| {
        let project = ["--project", folder.to_str().unwrap(), "doctor"];
        String::from_utf8(world.phasegate(&project).output().unwrap().stdout).unwrap()
    };
    assert!(!doctor(&world.root()).contains("decided twice") && !doctor(&inner).contains("decided twice"));
    at(&world.root(), &["init", "claude-code", "--undo"]);
    assert!(fs::read_to_string(&settings).unwrap().contains("hook claude-code"), "the other project needs it");
    at(&inner, &["init", "claude-code", "--undo"]);
    assert_eq!(fs::read_to_string(&settings).unwrap(), own);
}

/// What the line does where the program is gone, ends badly, is empty, or answers.
#[cfg(unix)]
#[test]
fn without_the_program_the_line_says_what_to_install_and_the_mode_decides() {
    use std::os::unix::fs::PermissionsExt as _;
    for (mode, closed) in [("warn", false), ("block", true)] {
        let world = World::unguarded();
        world.run(&["init", "claude-code", "--mode", mode], 0);
        let program = world.link();
        fs::remove_file(&program).unwrap();
        for (script, answers) in [
            (None, None),
            (Some("exit 10"), Some(0)),
            (Some("exit 2"), Some(2)),
            (Some("exit 1"), None),
            (Some("kill -9 $$"), None),
            (Some(""), None),
        ] {
            if let Some(script) = script {
                fs::write(&program, if script.is_empty() { String::new() } else { format!("#!/bin/sh\n{script}\n") })
                    .unwrap();
                fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
            }
            for (shell, event) in [("sh", "PreToolUse"), ("bash", "PreToolUse"), ("sh", "Stop"), ("bash", "Stop")] {
                let output = std::process::Command::new(format!("/bin/{shell}"))
                    .args(["-c", &line(&world.root(), event)])
                    .env_clear()
                    .env("PATH", "/usr/bin:/bin")
                    .env("HOME", world.home())
                    .env("CLAUDE_PROJECT_DIR", world.root())
                    .stdin(std::process::Stdio::null())
                    .output()
                    .unwrap();
                let denies = closed && event == "PreToolUse";
                let wanted = answers.unwrap_or(if denies { 2 } else { 0 });
                assert_eq!(output.status.code(), Some(wanted), "{mode} {shell} {event} {script:?}: {output:?}");
                let told = String::from_utf8_lossy(&output.stdout);
                let says = told.contains("install phasegate from https://") && told.contains("phasegate init");
                assert_eq!(says, answers.is_none(), "{mode} {shell} {event} {script:?}: {told}");
                if answers.is_none() {
                    let message: Value = serde_json::from_str(&told).unwrap();
                    let field = if denies { "reason" } else { "systemMessage" };
                    assert!(message[field].is_string(), "{message}");
                }
            }
        }
    }
}

/// The user's line in every folder, where the program is gone: the folder's project decides, and not who ran `init` last.
#[cfg(unix)]
#[test]
fn without_the_program_only_projects_in_block_mode_deny() {
    let world = World::unguarded();
    let folders = ["strict/src", "lenient/src", "gone/src", "free"].map(|folder| world.home().join(folder));
    folders.iter().for_each(|folder| fs::create_dir_all(folder).unwrap());
    for (project, mode) in [("lenient", "warn"), ("gone", "block"), ("strict", "block")] {
        let project = world.home().join(project);
        world.run(&["--project", project.to_str().unwrap(), "init", "claude-code", "--mode", mode], 0);
    }
    fs::remove_dir_all(world.home().join("gone/.phasegate")).unwrap();
    fs::remove_file(world.link()).unwrap();
    let denies = |folder: &Path, path: &str| {
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", &line(&world.home(), "PreToolUse")]).env_clear().stdin(std::process::Stdio::null());
        shell.envs(world.variables()).env("PATH", path).env("CLAUDE_PROJECT_DIR", folder);
        shell.output().unwrap().status.code() == Some(2)
    };
    let denied = folders.each_ref().map(|folder| denies(folder, "/usr/bin:/bin"));
    assert_eq!(denied, [true, false, true, false], "{folders:?}");
    let settings = fs::read_to_string(world.home().join(".claude/settings.json")).unwrap();
    assert!(settings.contains("onFailure") && !denies(&world.home(), "/usr/bin:/bin"), "the home folder is no project");
    assert!(denies(&folders[3], "/none"), "nothing can be looked for");
    fs::create_dir_all(world.home().join(".config/phasegate")).unwrap();
    fs::write(world.home().join(".config/phasegate/config.json"), "{\"mode\":\"block\"}").unwrap();
    assert!(denies(&folders[3], "/usr/bin:/bin"), "the user's configs are for every folder");
}

#[test]
fn the_client_gives_up_on_a_hook_after_twice_its_deadline_at_most() {
    let world = World::unguarded();
    world.run(&["init", "claude-code", "--mode", "block"], 0);
    let text = fs::read_to_string(world.root().join(".claude/settings.json")).unwrap();
    let settings: Value = serde_json::from_str(&text).unwrap();
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        let seconds = groups[0]["hooks"][0]["timeout"].as_u64().unwrap();
        let deadline = phasegate_runtime::deadline::LIMIT.as_secs();
        assert!(seconds > deadline && seconds <= 2 * deadline, "{event}: {seconds}");
    }
}

#[test]
fn the_command_mode_renews_the_lines_of_project_and_user() {
    let world = World::guarded("warn");
    world.run(&["init", "claude-code"], 0);
    let once = files(&world.root());
    world.start("s");
    world.call("s", "t0", "Skill", json!({"skill": "careful"}));
    for (mode, denies) in [("block", true), ("warn", false)] {
        world.run(&["mode", mode, "careful"], 0);
        for folder in [world.root(), world.home()] {
            assert_eq!(is_strict(&folder), denies, "{mode} {}", folder.display());
        }
    }
    assert_eq!(files(&world.root()), once);
    world.run(&["init", "--undo"], 0);
    assert!(!world.root().join(".claude").exists() && !world.home().join(".claude").exists());
}

#[test]
fn undo_ends_that_a_project_is_guarded_whose_configs_a_person_removes_then() {
    let world = World::unguarded();
    world.run(&["init", "claude-code", "--mode", "block"], 0);
    world.write(".phasegate/skills/own.yaml", crate::support::SKILL);
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    world.run(&["init", "--undo"], 0);
    fs::remove_dir_all(world.root().join(".phasegate")).unwrap();
    let output = world.call("t", "t0", "Edit", json!({"file_path": "a", "old_string": "a", "new_string": "b"}));
    assert!(!String::from_utf8_lossy(&output.stdout).contains("policy-missing"), "{output:?}");
    assert!(world.run(&["status"], 0).contains("unguarded") || world.run(&["status"], 0).contains("not guarded"));
}
