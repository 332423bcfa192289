//! What the program says about itself, in a form that other programs read.

use phasegate_core::Code;
use serde_json::Value;

use crate::support::World;

fn json(world: &World, args: &[&str]) -> Value {
    serde_json::from_str(&world.run(args, 0)).unwrap()
}

#[test]
fn adapters_name_every_capability_with_its_limit_and_what_is_detected() {
    let world = World::unguarded();
    let before = json(&world, &["--json", "adapters"]);
    assert_eq!(before[0]["detected"], Value::Array(vec![]));
    let signs = phasegate_adapters::all().into_iter().flat_map(|adapter| adapter.installer().places().signs);
    for sign in signs.filter(|sign| !sign.starts_with('~')) {
        std::fs::create_dir_all(world.root().join(sign)).unwrap();
    }
    let rows = json(&world, &["--json", "adapters"]);
    assert_eq!(rows.as_array().unwrap().len(), phasegate_adapters::all().len());
    for row in rows.as_array().unwrap() {
        assert!(!row["versions"].as_array().unwrap().is_empty());
        assert!(!row["detected"].as_array().unwrap().is_empty());
        let capabilities = row["capabilities"].as_object().unwrap();
        assert_eq!(capabilities.len(), 8);
        for (name, ability) in capabilities {
            assert_eq!(ability["can"] == "yes", ability["limit"].is_null(), "{name}: what is limited says how");
        }
    }
}

#[test]
fn every_code_is_listed_and_explained() {
    let world = World::unguarded();
    assert_eq!(json(&world, &["--json", "explain"]).as_array().unwrap().len(), Code::ALL.len());
    for code in Code::ALL {
        // The reader is the user whom an agent is told to ask.
        let remedy = code.remedy().replace("ask the user to ", "");
        assert!(world.run(&["explain", code.id()], 0).contains(&remedy), "{remedy}");
    }
}

#[test]
fn schemas_are_json_and_completions_are_there_for_every_shell() {
    let world = World::unguarded();
    for kind in ["skill", "settings", "event"] {
        assert!(json(&world, &["schema", kind])["$schema"].is_string(), "{kind}");
    }
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(world.run(&["completions", shell], 0).contains("phasegate"), "{shell}");
    }
}

#[test]
fn colours_are_for_terminals_or_those_who_ask() {
    let world = World::unguarded();
    let escapes = |args: &[&str]| world.run(args, 0).contains('\u{1b}');
    assert!(!escapes(&["explain", "not-done"]));
    assert!(escapes(&["--color", "always", "explain", "not-done"]));
    assert!(!escapes(&["--color", "never", "explain", "not-done"]));
}

#[test]
fn a_command_and_its_failure_are_json_where_json_was_asked_for() {
    let world = World::guarded("block");
    let activate = |skill: &'static str| ["--json", "start", skill, "--session", "s"];
    assert_eq!(failure(&world, &activate("careful"), 2), Value::Null, "no session is known");
    world.start("s");
    world.call("s", "t0", "Skill", serde_json::json!({"skill": "careful"}));
    assert_eq!(failure(&world, &activate("careful"), 1), "skill-active");
    let ended = json(&world, &["--json", "end"]);
    assert_eq!(ended, serde_json::json!({"status": "deactivated", "skill": "careful"}));
    assert_eq!(failure(&world, &activate("nothing"), 2), "skill-unknown");
    assert_eq!(failure(&world, &["--json", "start", "nothing"], 2), "skill-unknown");
    let begun = json(&world, &["--json", "start", "careful", "--mode", "warn", "--session", "s"]);
    assert_eq!((begun["status"].as_str(), begun["mode"].as_str()), (Some("activated"), Some("block")));
}

/// The code of a failure, which is one object on standard error whatever failed.
fn failure(world: &World, args: &[&str], status: i32) -> Value {
    let output = world.phasegate(args).output().unwrap();
    assert_eq!(output.status.code(), Some(status), "{args:?}");
    assert!(output.stdout.is_empty(), "{args:?}: {}", String::from_utf8_lossy(&output.stdout));
    let told: Value = serde_json::from_slice(&output.stderr).unwrap();
    assert_eq!(told.as_object().unwrap().keys().collect::<Vec<_>>(), ["error"]);
    assert_eq!(told["error"].as_object().unwrap().keys().collect::<Vec<_>>(), ["code", "help", "message"]);
    told["error"]["code"].clone()
}
