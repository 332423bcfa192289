//! Rules over calls, from the file to the hook's answer.

use std::fs;

use serde_json::{Value, json};

use crate::support::{Reply, World, denied, reply};

const NO_PUBLISH: &str = r#"@id("no-publish") @reason("a published version cannot be taken back")
forbid(principal, action == Action::"Bash", resource)
when { context.command.program == "npm" && context.command.subcommand == "publish" };
"#;

fn bash(world: &World, session: &str, id: &str, command: &str) -> std::process::Output {
    world.call(session, id, "Bash", json!({"command": command}))
}

#[test]
fn a_file_of_rules_alone_guards_a_project() {
    let world = World::unguarded();
    world.write(".phasegate/rules/own.cedar", NO_PUBLISH);
    assert!(world.run(&["check"], 0).contains("1 file checked: 0 errors"));
    world.start("s");
    let text = denied(&bash(&world, "s", "1", "npm test && npm publish"), "phasegate: rule ");
    assert!(text.contains("rule no-publish forbids `npm publish`: a published version cannot be taken back"), "{text}");
    assert_eq!(reply(&bash(&world, "s", "2", "npm test")), Reply::Silent);
    assert_eq!(reply(&world.call("s", "3", "Edit", json!({"file_path": "a.rs"}))), Reply::Silent);
}

#[test]
fn a_rule_with_a_mistake_never_lets_a_call_through() {
    for mistake in [
        NO_PUBLISH.replace("command.program", "command.programm"),
        NO_PUBLISH.replace("\"Bash\"", "\"Bsh\""),
        NO_PUBLISH.replace("@id(\"no-publish\")", ""),
        NO_PUBLISH.replace("};", "}"),
        NO_PUBLISH.replace("@reason", "@effect(\"deni\") @reason"),
        NO_PUBLISH.replace("context.command", "context.path"),
        NO_PUBLISH.repeat(2),
        format!("{NO_PUBLISH}\u{0}"),
    ] {
        let world = World::unguarded();
        world.write(".phasegate/rules/own.cedar", &mistake);
        world.run(&["check"], 1);
        world.start("s");
        denied(&bash(&world, "s", "1", "npm publish"), "policy-invalid");
        denied(&bash(&world, "s", "2", "npm test"), "policy-invalid");
    }
}

#[test]
fn rules_deny_in_warn_mode_and_so_does_a_mistake_in_a_config_with_rules() {
    let world = World::guarded("warn");
    world.start("s");
    assert!(!matches!(reply(&bash(&world, "s", "1", "npm publish")), Reply::Denied(_)));
    world.write(".phasegate/rules/own.cedar", NO_PUBLISH);
    world.start("s2");
    denied(&bash(&world, "s2", "1", "npm publish"), "phasegate: rule ");
    for (number, config) in [
        "mode: warn\nrules: {default: denny}\n",
        "mode: warn\nruls: {default: deny}\n",
        "mode: warn\nuse: [no-such-skill]\n",
    ]
    .into_iter()
    .enumerate()
    {
        let world = World::guarded("warn");
        world.run(&["init", "claude-code", "--no-user"], 0);
        world.write(".phasegate/config.yaml", config);
        if number == 2 {
            world.write(".phasegate/rules/own.cedar", NO_PUBLISH);
        }
        world.start("s2");
        denied(&bash(&world, "s2", "1", "npm publish"), "policy-invalid");
    }
}

#[test]
fn a_mistake_is_told_with_its_place_and_what_was_meant() {
    let world = World::unguarded();
    world.write(".phasegate/rules/own.cedar", &NO_PUBLISH.replace("command.program", "command.programm"));
    for command in [&["--json", "check"][..], &["--json", "rules", "check"]] {
        let told: Value = serde_json::from_str(&world.run(command, 1)).unwrap();
        let found = &told["diagnostics"][0];
        assert_eq!(found["code"], "rule-invalid", "{told}");
        assert_eq!((&found["path"], &found["line"]), (&json!(".phasegate/rules/own.cedar"), &json!(3)), "{told}");
        assert_eq!(found["suggestion"], "did you mean `program`?", "{told}");
    }
}

#[test]
fn a_live_session_keeps_its_rules_until_they_are_loaded_anew() {
    let world = World::unguarded();
    world.write(".phasegate/rules/own.cedar", NO_PUBLISH);
    world.start("s");
    denied(&bash(&world, "s", "1", "npm publish"), "phasegate: rule ");
    world.write(".phasegate/rules/own.cedar", &NO_PUBLISH.replace("npm", "cargo"));
    denied(&bash(&world, "s", "2", "npm publish"), "phasegate: rule ");
    world.run(&["reload"], 0);
    assert_eq!(reply(&bash(&world, "s", "3", "npm publish")), Reply::Silent);
    denied(&bash(&world, "s", "4", "cargo publish"), "phasegate: rule ");
    fs::remove_file(world.root().join(".phasegate/rules/own.cedar")).unwrap();
    denied(&bash(&world, "s", "5", "cargo publish"), "phasegate: rule ");
}

#[test]
fn the_agent_does_not_change_rules() {
    let world = World::unguarded();
    world.write(".phasegate/rules/own.cedar", NO_PUBLISH);
    world.start("s");
    let path = world.root().join(".phasegate/rules/own.cedar");
    denied(&world.call("s", "1", "Write", json!({"file_path": path, "content": ""})), "self-protection");
    denied(&bash(&world, "s", "2", "rm .phasegate/rules/own.cedar"), "self-protection");
    denied(&bash(&world, "s", "3", "echo > .phasegate/rules/new.cedar"), "self-protection");
}

#[test]
fn a_record_without_arguments_is_decided_again_as_it_was() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "redact: [command]\nrules: {packs: [no-force-push, protect-secrets]}\n");
    world.start("s");
    denied(&bash(&world, "s", "1", "git push -f"), "phasegate: rule ");
    denied(&bash(&world, "s", "2", "git add . && git push \"$X\""), "phasegate: rule ");
    denied(&bash(&world, "s", "3", "cat .env"), "phasegate: rule ");
    assert_eq!(reply(&bash(&world, "s", "4", "git push origin main")), Reply::Silent);
    let (_, long) = (world.run(&["audit", "verify"], 0), "x".repeat(5000));
    assert_eq!(reply(&bash(&world, "s", "5", &format!("echo {long}"))), Reply::Silent);
    let told = world.run(&["audit", "verify"], 0);
    assert!(!told.contains("differ"), "{told}");
}

#[test]
fn why_shows_which_rules_are_about_a_call() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "rules: {packs: [no-force-push]}\n");
    world.write("call.json", r#"{"tool": "Bash", "input": {"command": "git status; git push -f"}}"#);
    let told: Value = serde_json::from_str(&world.run(&["--json", "rules", "why", "--call", "call.json"], 1)).unwrap();
    assert_eq!(told["decision"], "deny");
    assert_eq!(told["parts"][1]["command"]["subcommand"], "push");
    let holds: Vec<&Value> = told["rules"].as_array().unwrap().iter().filter(|rule| rule["truth"] == "yes").collect();
    assert_eq!(holds, [&json!({"rule": "no-force-push/force", "effect": "deny", "part": 1, "truth": "yes"})]);
    let text = world.run(&["rules", "why", "--call", "call.json"], 1);
    assert!(text.contains("deny    no-force-push/force  holds"), "{text}");
}

#[test]
fn init_writes_packs_that_exist() {
    let world = World::unguarded();
    let missing = world.phasegate(&["init", "claude-code", "--rules", "no-force-posh"]).output().unwrap();
    assert_eq!(missing.status.code(), Some(2));
    world.run(&["init", "claude-code", "--rules", "no-force-push"], 0);
    world.start("s");
    denied(&bash(&world, "s", "1", "git push --force"), "phasegate: rule ");
    assert!(world.run(&["rules", "explain"], 0).contains("no-force-push/force"));
    let listed = world.run(&["rules", "packs"], 0);
    assert!(listed.contains("protect-secrets") && listed.contains("read-only-production"), "{listed}");
    assert!(world.run(&["rules", "schema"], 0).contains("action \"Bash\""));
}
