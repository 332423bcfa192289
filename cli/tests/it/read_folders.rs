//! Folders that are read with all that lies in them.

use std::process::Output;

use serde_json::json;

use crate::effects::world_of;
use crate::support::{Reply, denied, reply};

const SKILL: &str = r#"
skill: keep
start: [session]
unlisted: allow
forbidden: [{reads: "**/.env"}]
phases:
  work:
    allowed: [{writes: "src/**"}]
"#;

fn passed(output: &Output) {
    let given = reply(output);
    assert!(!matches!(given, Reply::Denied(_)), "{given:?}");
}

#[test]
fn what_lies_in_a_folder_that_is_read_counts_where_it_is_there() {
    let world = world_of("block", "keep", SKILL);
    let call = |id: &str, line: &str| world.call("s", id, "Bash", json!({"command": line}));
    passed(&call("t1", "grep -rn KEY ."));
    world.write("deep/er/.env", "KEY=1\n");
    for (id, line) in [("t2", "grep -rn KEY ."), ("t3", "cp -r deep b"), ("t4", "rg --hidden KEY")] {
        denied(&call(id, line), "global-forbidden");
    }
    denied(&world.call("s", "t5", "Grep", json!({"pattern": "KEY"})), "global-forbidden");
    passed(&call("t6", "grep -rn KEY src; ls; ls deep; git status; rg KEY"));
    // What the repository ignores, a search leaves out that asks git.
    world.write(".gitignore", ".env\n");
    passed(&call("t7", "rg --hidden KEY"));
    passed(&world.call("s", "t8", "Grep", json!({"pattern": "KEY"})));
    denied(&call("t9", "grep -rn KEY ."), "global-forbidden");
    world.run(&["audit", "verify"], 0);
}
