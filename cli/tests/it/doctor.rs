//! `phasegate doctor`: whether the guard is really there.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use serde_json::{Value, json};

use crate::support::{SKILL, World};

/// A world that `init` wired, with a client on its `PATH` that says this version.
fn wired(version: &str) -> World {
    let world = World::guarded("block");
    world.run(&["init", "claude-code"], 0);
    world.write(".claude/skills/careful/SKILL.md", "---\nname: careful\ndescription: x\n---\n");
    program(&world.home().join("bin/claude"), &format!("echo '{version} (Claude Code)'"));
    world
}

fn program(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{text}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn doctor(world: &World, args: &[&str], status: i32) -> Value {
    let args: Vec<_> = ["--json", "doctor"].iter().chain(args).copied().collect();
    let path = format!("{}:{}", world.home().join("bin").display(), world.search_path().display());
    let output = world.phasegate(&args).env("PATH", path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(status), "{text}{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_str(&text).unwrap()
}

/// The findings of a level, with what each section is about before it.
fn found(report: &Value, level: &str) -> Vec<String> {
    let sections = report["sections"].as_array().unwrap();
    let all = sections.iter().flat_map(|section| {
        let about = section["about"].as_str().unwrap();
        section["findings"].as_array().unwrap().iter().map(move |finding| (about, finding))
    });
    let text = |finding: &Value| finding["what"].as_str().unwrap().to_string();
    all.filter(|(_, finding)| finding["level"] == level)
        .map(|(about, finding)| format!("{about}: {}", text(finding)))
        .collect()
}

fn says(all: &[String], text: &str) {
    assert!(all.iter().any(|found| found.contains(text)), "{text}: {all:#?}");
}

#[test]
fn a_guard_that_is_wired_and_was_heard_of_has_no_problem() {
    let world = wired("2.1.329");
    says(&found(&doctor(&world, &[], 0), "warning"), "sessions: no event of any session ever arrived");
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    world.call("s", "t1", "Read", json!({"file_path": "a.rs"}));
    let report = doctor(&world, &["--platform", "claude-code"], 0);
    assert_eq!((&report["problems"], &report["warnings"]), (&json!(0), &json!(0)), "{report:#}");
    let good = found(&report, "ok");
    says(&good, "claude-code: client 2.1.329 is between those that were recorded");
    says(&good, "which is this program");
    says(&good, "sessions: session `s`: last event `tool_call` at ");
    says(&good, "policy: block mode");
    says(&good, "policy: remembered outside of the project: guarded, block mode");
    says(&good, "are consistent");
    says(&found(&report, "note"), "wall: this user can change the settings");
}

#[test]
fn what_no_one_can_enforce_is_said_for_every_platform() {
    let world = wired("2.1.329");
    let limits = doctor(&world, &[], 0)["limits"].as_array().unwrap().clone();
    let told = |id: &str| limits.iter().filter(|limit| limit["platform"] == id).count();
    assert_eq!(told("claude-code"), phasegate_adapters::find("claude-code").unwrap().diagnostics().limits().len());
    assert!(world.run(&["doctor"], 0).contains("`phasegate doctor --verbose` lists"));
    let text = world.run(&["doctor", "--verbose"], 0);
    for limit in limits {
        assert!(text.contains(limit["way"].as_str().unwrap()), "{limit}");
    }
}

#[test]
fn each_way_in_which_the_guard_is_not_there_is_a_problem() {
    let unwired = World::guarded("block");
    fs::create_dir(unwired.root().join(".claude")).unwrap();
    says(&found(&doctor(&unwired, &[], 1), "problem"), "no settings file has a hook that runs the guard");

    let unguarded = World::unguarded();
    let problems = found(&doctor(&unguarded, &[], 1), "problem");
    says(&problems, "policy: no config guards the project");
    says(&problems, "platforms: no platform is detected here");

    let invalid = wired("2.1.329");
    invalid.write(".phasegate/config.yaml", "mod: block\n");
    says(&found(&doctor(&invalid, &[], 1), "problem"), "policy: the config has mistakes");

    let off = wired("2.1.329");
    off.write(".claude/settings.local.json", r#"{"disableAllHooks": true}"#);
    says(&found(&doctor(&off, &[], 1), "problem"), "claude-code: `");

    let gone = wired("2.1.329");
    gone.frame("s", "SessionStart", json!({"source": "startup"}));
    fs::remove_dir_all(gone.root().join(".phasegate")).unwrap();
    says(&found(&doctor(&gone, &[], 1), "problem"), "the accepted ones stay in force: the files are gone");
}

#[test]
fn a_client_that_the_project_does_not_use_is_no_problem_of_it() {
    let world = wired("2.1.329");
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    fs::create_dir_all(world.home().join(".pi/agent")).unwrap();
    let report = doctor(&world, &[], 0);
    says(&found(&report, "note"), "not used in this project: Pi is on this machine");
    assert!(report["sections"].as_array().unwrap().iter().all(|section| section["about"] != "pi"), "{report:#}");
    doctor(&world, &["--platform", "pi"], 1);
}

#[test]
fn programs_that_no_tool_can_register_patterns_for_are_told() {
    let world = wired("2.1.329");
    world.write(".phasegate/config.yaml", "mode: block\nsafety: {programs: [gcloud]}\n");
    let says_so = |world: &World| {
        let all = found(&doctor(world, &["--platform", "claude-code"], 0), "warning");
        all.iter().any(|found| found.contains("no server in the client's settings offers the tool `plan_skill_safety`"))
    };
    assert!(says_so(&world));
    world.write(".mcp.json", r#"{"mcpServers": {"phasegate": {"command": "phasegate", "args": ["mcp", "serve"]}}}"#);
    assert!(!says_so(&world));
    fs::remove_file(world.root().join(".mcp.json")).unwrap();
    world.write(".phasegate/config.yaml", "mode: block\nsafety: {programs: [gcloud], prompt: false}\n");
    assert!(!says_so(&world), "where the agent is told of no tool, none is missing");
    world.write(".phasegate/config.yaml", "mode: block\n");
    assert!(!says_so(&world));
    world.run(&["safety", "approve", "acme"], 0);
    assert!(says_so(&world), "what a person approved counts as what the settings name");
}

#[test]
fn a_program_that_is_gone_or_another_is_told() {
    for (program_text, level, says_so) in [
        (None, "problem", "which does not exist"),
        (Some("exit 1"), "problem", "which cannot be run"),
        (Some("echo phasegate 0.0.0"), "warning", "which says `phasegate 0.0.0`"),
        (Some(concat!("echo phasegate ", env!("CARGO_PKG_VERSION"))), "note", "another file of the same version"),
    ] {
        let world = wired("2.1.329");
        let other = world.home().join("other/phasegate");
        if let Some(text) = program_text {
            program(&other, text);
        }
        let settings = world.root().join(".claude/settings.json");
        let text = fs::read_to_string(&settings).unwrap();
        let own = r#"\"$HOME\"/.local/share/phasegate/bin/phasegate hook"#;
        assert!(text.contains(own), "{text}");
        fs::write(&settings, text.replace(own, &format!("{} hook", other.display()))).unwrap();
        let report = doctor(&world, &[], i32::from(level == "problem"));
        says(&found(&report, level), says_so);
    }
}

#[test]
fn a_client_nobody_recorded_is_a_warning_and_one_that_is_not_found_a_note() {
    says(&found(&doctor(&wired("9.9.9"), &[], 0), "warning"), "client 9.9.9 was never recorded");
    let world = wired("9.9.9");
    fs::remove_file(world.home().join("bin/claude")).unwrap();
    says(&found(&doctor(&world, &[], 0), "note"), "the client's version is not known");
}

#[test]
fn state_that_others_may_write_is_a_problem() {
    let world = wired("2.1.329");
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    fs::set_permissions(world.state(), fs::Permissions::from_mode(0o777)).unwrap();
    says(&found(&doctor(&world, &[], 1), "problem"), "state: `");
}

#[test]
fn a_session_that_goes_by_an_earlier_policy_is_noted() {
    let world = wired("2.1.329");
    world.frame("s", "SessionStart", json!({"source": "startup"}));
    world.write(".phasegate/skills/more.yaml", &SKILL.replace("skill: careful", "skill: more"));
    world.frame("next", "SessionStart", json!({"source": "startup"}));
    says(&found(&doctor(&world, &[], 0), "note"), "it uses an earlier policy");
}

#[test]
fn a_platform_that_is_not_known_is_said() {
    let output = World::unguarded().phasegate(&["doctor", "--platform", "nothing"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("possible values: claude-code"));
}

#[test]
fn a_folder_below_is_told_what_a_client_that_starts_there_loads() {
    let world = World::guarded("block");
    fs::create_dir(world.root().join("src")).unwrap();
    let below = world.root().join("src").display().to_string();
    let args = ["--project", below.as_str(), "--platform", "claude-code"];
    world.run(&["init", "claude-code", "--no-user"], 0);
    let report = doctor(&world, &args, 1);
    says(&found(&report, "problem"), "no settings file has a hook that runs the guard");
    says(
        &found(&report, "note"),
        &format!("reads the project's settings in `{below}`, not in `{}`", world.root().display()),
    );
    world.run(&["init", "claude-code"], 0);
    assert_eq!(found(&doctor(&world, &args, 0), "problem"), Vec::<String>::new());
}
