//! Exit statuses: 2 where what was named does not exist or there is nothing to do, 1 where the answer is no.

use crate::support::World;

/// The command, the status, and what it says.
const CASES: [(&[&str], i32, &str); 7] = [
    (&["check", "none.yaml"], 2, "there is no file `none.yaml`"),
    (&["approve", "none"], 2, "nothing waits for the approval of `none`"),
    (&["approve", "none", "--revoke"], 2, "`none` is not approved"),
    (&["start", "none"], 2, "unknown skill"),
    (&["start", "none", "--session", "one"], 2, "unknown skill"),
    (&["end", "none"], 2, "unknown skill"),
    (&["init", "claude-code", "--skill", "none"], 2, "there is no skill `none`"),
];

#[test]
fn a_name_that_nothing_has_is_a_mistake_of_the_command_line() {
    let world = World::guarded("block");
    world.start("one");
    for (args, status, says) in CASES {
        let output = world.phasegate(args).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(status) && text.contains(says), "{args:?}: {:?}: {text}", output.status);
    }
}

#[test]
fn a_check_of_nothing_is_no_success() {
    let world = World::unguarded();
    let output = world.phasegate(&["check"]).output().unwrap();
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && text.contains("nothing to check: no config applies to"), "{text}");
    world.write(".phasegate/skill/late.yaml", "skill: late\n");
    let told = world.run(&["check"], 2);
    assert!(told.contains(".phasegate/skill:1:1: warning[config-unread]"), "{told}");
}
