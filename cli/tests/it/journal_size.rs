//! How much a call costs on disk.

use serde_json::json;

use crate::support::World;

/// The most bytes that both journals may grow by for an allowed call and its result, beyond the call's arguments.
const MAX_BYTES_PER_CALL: u64 = 1024;
/// How many calls are measured: several snapshots and checkpoints are among them.
const CALLS: u64 = 64;

fn journal_bytes(world: &World) -> u64 {
    let size = |end: &str| std::fs::metadata(world.state_file(end)).unwrap().len();
    let session = std::fs::read_dir(world.state_file("project.journal").parent().unwrap().join("sessions")).unwrap();
    let sessions: u64 = session.map(|entry| entry.unwrap().metadata().unwrap().len()).sum();
    size("project.journal") + sessions
}

#[test]
fn an_allowed_call_costs_at_most_a_kilobyte_beyond_its_arguments() {
    let world = World::guarded("block");
    let session = "11111111-2222-4333-8444-555555555555";
    world.start(session);
    world.call(session, "t0", "Skill", json!({"skill": "careful"}));
    world.ok(session, "t0", "Skill", json!({"skill": "careful"}));
    let input = json!({"file_path": "src/main.rs"});
    let before = journal_bytes(&world);
    for number in 0..CALLS {
        let id = format!("toolu_01ABCDEFGHJKLMNOPQRST{number:03}");
        world.call(session, &id, "Read", input.clone());
        world.ok(session, &id, "Read", input.clone());
    }
    let per_call = (journal_bytes(&world) - before) / CALLS - input.to_string().len() as u64;
    assert!(per_call <= MAX_BYTES_PER_CALL, "{per_call} bytes a call");
}
