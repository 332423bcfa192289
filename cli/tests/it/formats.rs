//! Artifacts that have a format: real files, as agents and people leave them.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::json;

use crate::support::{Reply, World, denied, reply};

const SKILL: &str = "
skill: planned
mode: block
artifacts:
  plan: {path: ['docs/plans/*.md', {glob: 'notes/*.md', deprecated: true}], format: formats/plan.yaml}
  list: {path: [list.json], format: {schema: schemas/list.json}}
phases:
  plan: {produces: [plan]}
  list: {produces: [list]}
  code: {allowed: [{writes: 'src/**'}]}
";

fn project() -> World {
    let world = World::unguarded();
    world.write(".phasegate/skills/planned.yaml", SKILL);
    world.write(".phasegate/formats/plan.yaml", "title: Plan\nsections: [Steps, Risks]\n");
    let schema = json!({"required": ["tasks"], "properties": {"tasks": {"type": "array", "minItems": 1}}});
    world.write(".phasegate/schemas/list.json", &schema.to_string());
    world.write("src/lib.rs", "");
    world
}

#[test]
fn what_is_wrong_with_a_file_is_told_until_it_is_right() {
    let world = project();
    let write = |id: &str, path: &str| world.call("one", id, "Write", json!({"file_path": path, "content": "x"}));
    world.start("one");
    world.call("one", "s", "Skill", json!({"skill": "planned"}));
    world.ok("one", "s", "Skill", json!({"skill": "planned"}));

    let Reply::Told(told) = reply(&write("a1", "notes/a.md")) else { panic!("not told") };
    assert!(told.contains("that place is deprecated: use `docs/plans/*.md`"), "{told}");
    let plan = "# Plan\n\n## Steps\n\nSee ## Risks below.\n\n## Risks\n\n<!-- none -->\n";
    world.write("notes/a.md", plan);
    world.ok("one", "a1", "Write", json!({"file_path": "notes/a.md", "content": "x"}));
    let text = denied(&write("b1", "list.json"), "not-done");
    assert!(text.contains("`notes/a.md`: the section `Risks` is empty (line 7)"), "{text}");
    assert!(!text.contains("that place is deprecated"), "it is told once: {text}");
    let text = world.run(&["status"], 0);
    assert!(text.contains("the section `Risks` is empty (line 7)") && text.contains("is deprecated"), "{text}");
    let text = world.run(&["check"], 0);
    assert!(text.contains("notes/a.md") && text.contains("move it to where `docs/plans/*.md`"), "{text}");

    world.write("notes/a.md", &plan.replace("<!-- none -->", "None."));
    assert!(!matches!(reply(&write("b2", "list.json")), Reply::Denied(_)), "whoever mends it");
    world.write("list.json", r#"{"tasks": []}"#);
    world.ok("one", "b2", "Write", json!({"file_path": "list.json", "content": "x"}));
    let text = denied(&write("c1", "src/lib.rs"), "not-done");
    assert!(text.contains("`list.json`: `/tasks`: "), "{text}");

    world.write("elsewhere.json", r#"{"tasks": [1]}"#);
    fs::remove_file(world.root().join("list.json")).unwrap();
    symlink("elsewhere.json", world.root().join("list.json")).unwrap();
    let text = denied(&write("c2", "src/lib.rs"), "not-done");
    assert!(text.contains("a new or changed file of the artifact `list`"), "a link is no file: {text}");

    fs::remove_file(world.root().join("list.json")).unwrap();
    world.write("list.json", &format!(r#"{{"tasks": ["{}"]}}"#, "x".repeat(1024 * 1024)));
    let text = denied(&write("c3", "src/lib.rs"), "not-done");
    assert!(text.contains("`list.json`: it is larger than 1 MiB"), "{text}");

    world.write("list.json", r#"{"tasks": [1]}"#);
    assert!(!matches!(reply(&write("c4", "src/lib.rs")), Reply::Denied(_)));
    assert!(world.run(&["audit", "verify"], 0).contains("fits"));
}

#[test]
fn a_format_is_a_part_of_the_version_of_its_skill() {
    let world = project();
    world.start("one");
    world.call("one", "s", "Skill", json!({"skill": "planned"}));
    world.ok("one", "s", "Skill", json!({"skill": "planned"}));
    // The run goes on by the format that it began with.
    world.write(".phasegate/formats/plan.yaml", "title: Plan\nsections: [Steps]\n");
    world.write("docs/plans/a.md", "# Plan\n\n## Steps\n\nOne.\n");
    let list = json!({"file_path": "list.json", "content": "x"});
    let text = denied(&world.call("one", "a", "Write", list), "not-done");
    assert!(text.contains("the section `Risks` is missing"), "{text}");
    world.write(".phasegate/formats/plan.yaml", "sections: [\n");
    let text = world.run(&["check"], 1);
    assert!(text.contains("`formats/plan.yaml`, line "), "{text}");
}
