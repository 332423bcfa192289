//! `phasegate check --prove`: what is proven of skills, refuted with a transcript, or left open.

use std::fs;

use serde_json::Value;

use crate::support::World;

/// A skill that a claim holds for, and others do not.
const SKILL: &str = "
skill: tested
description: a test fails before the code changes
phases:
  test:
    allowed: [{writes: 'tests/**'}, {command: cargo test *}]
    done_when: {tests: failed}
  code:
    allowed: [{writes: 'src/**'}, {command: cargo test *}]
    done_when: {tests: passed, unchanged: 'src/**'}
    leave: on_done
";
const CLAIMS: &str = "
skill: tested
claims:
  - 'never {writes: \"src/**\"} before {tests: failed}'
  - 'never {writes: \"src/**\"} outside [code]'
  - 'always {tests: passed, unchanged: \"src/**\"}'
  - 'never {writes: \"tests/**\"} before {tests: passed}'
  - 'never {does: operate} before {tests: passed}'
";

fn world(files: &[[&str; 2]]) -> World {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\n");
    files.iter().for_each(|[path, text]| world.write(path, text));
    world
}

/// The words for the claims about a skill, in order.
fn verdicts(world: &World, skill: &str, code: i32) -> Vec<Value> {
    let output = world.run(&["--json", "check", &format!("--prove={skill}"), "--save", "refuted"], code);
    let value: Value = serde_json::from_str(&output).unwrap();
    value["claims"].as_array().unwrap().clone()
}

fn words(verdicts: &[Value]) -> Vec<&str> {
    verdicts.iter().map(|verdict| verdict["verdict"].as_str().unwrap()).collect()
}

#[test]
fn a_published_skill_has_a_phase_that_nothing_leads_to() {
    let world = world(&[]);
    let found = verdicts(&world, "lsp-safe-edit@compat", 1);
    assert_eq!(found[0]["verdict"], "refuted", "{found:?}");
    assert_eq!(found[0]["why"], "nothing leads to phase apply");
}

#[test]
fn claims_are_proven_refuted_with_a_transcript_or_left_open() {
    let world = world(&[[".phasegate/skills/tested.yaml", SKILL], [".phasegate/tests/tested.yaml", CLAIMS]]);
    let found = verdicts(&world, "tested", 1);
    let expected = ["proven", "proven", "proven", "proven", "proven", "proven", "refuted", "open"];
    assert_eq!(words(&found), expected, "{found:#?}");
    let saved = found[6]["saved"].as_str().unwrap();
    let lines = fs::read_to_string(saved).unwrap();
    assert_eq!(lines.lines().count(), 2, "the shortest one: {lines}");
    let played = world.run(&["replay", saved], 0);
    let last: Value = serde_json::from_str(played.lines().last().unwrap()).unwrap();
    assert_eq!(last["decision"], "allow");
    world.run(&["check"], 0);
}
