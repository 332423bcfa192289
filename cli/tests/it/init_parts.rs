//! `init` of a skill that runs others: what the client needs of each part.

use crate::support::World;

#[test]
fn each_part_that_a_subagent_does_gets_its_files_and_a_check_of_one_file_knows_its_neighbours() {
    let world = World::unguarded();
    let part = |skill: &str, agent: &str| {
        format!(
            "skill: {skill}\ndescription: D.\nartifacts: {{out: {{path: [{skill}.md]}}}}\nphases:\n  \
             work: {{done_by: {agent}, produces: [out]}}\n"
        )
    };
    world.write(".phasegate/config.yaml", "mode: block\n");
    world.write(".phasegate/skills/write-note.yaml", &part("write-note", "writer"));
    world.write(".phasegate/skills/check-note.yaml", &part("check-note", "Explore"));
    world.write(".phasegate/skills/other-note.yaml", &part("other-note", "stranger"));
    let both = "skill: ship-note\ndescription: D.\nphases: {one: {run: write-note}, two: {run: check-note}}\n";
    world.write(".phasegate/skills/ship-note.yaml", both);
    let checked = world.run(&["check", ".phasegate/skills/ship-note.yaml"], 0);
    assert!(checked.starts_with("1 file checked: 0 errors"), "{checked}");
    world.run(&["init", "claude-code", "--skill", "ship-note"], 0);
    let is_there = |path: &str| world.root().join(".claude").join(path).exists();
    for skill in ["ship-note", "write-note", "check-note"] {
        assert!(is_there(&format!("skills/{skill}/SKILL.md")), "{skill}");
    }
    assert!(is_there("agents/writer.md"));
    assert!(!is_there("agents/Explore.md"), "the client has it without a file");
    assert!(!is_there("agents/stranger.md"), "nobody asked for that skill");
}
