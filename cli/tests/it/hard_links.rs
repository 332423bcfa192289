//! Files with another name: what is written to one is written elsewhere too, where no line permits it.

use std::fs;

use serde_json::json;

use crate::support::{Reply, World, denied, reply};

const SKILL: &str = "
skill: planned
mode: block
phases:
  plan:
    allowed: [{writes: 'docs/**'}]
    done_when: {ok: {writes: 'docs/plan.md'}}
  code:
    requires: {approved: plan}
    allowed: [{writes: '**'}]
";

#[test]
fn a_plan_that_is_the_code_by_another_name_is_no_plan() {
    let world = World::unguarded();
    world.write(".phasegate/skills/planned.yaml", SKILL);
    world.write("src/lib.rs", "pub fn one() {}\n");
    world.write("docs/notes.md", "notes\n");
    fs::hard_link(world.root().join("src/lib.rs"), world.root().join("docs/plan.md")).unwrap();
    world.start("one");
    world.call("one", "s", "Skill", json!({"skill": "planned"}));
    world.ok("one", "s", "Skill", json!({"skill": "planned"}));

    let write = |path: &str| json!({"file_path": world.root().join(path), "content": "x"});
    let text = denied(&world.call("one", "w1", "Write", write("docs/plan.md")), "unlisted");
    assert!(text.contains("has another name too, by a hard link"), "{text}");
    let line = json!({"command": "echo x > docs/plan.md"});
    denied(&world.call("one", "w2", "Bash", line), "unlisted");
    assert!(!matches!(reply(&world.call("one", "w3", "Write", write("docs/notes.md"))), Reply::Denied(_)));
    fs::remove_file(world.root().join("docs/plan.md")).unwrap();
    assert!(!matches!(reply(&world.call("one", "w4", "Write", write("docs/plan.md"))), Reply::Denied(_)));
}
