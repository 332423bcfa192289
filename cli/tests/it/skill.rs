//! `phasegate skill`: files that are written, files that are shown, and answers where nothing has run.

use crate::support::World;

#[test]
fn a_new_skill_of_each_kind_passes_check() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\n");
    for kind in ["phases", "workflow", "composite", "atomic"] {
        let name = format!("my-{kind}");
        let shown = world.run(&["skill", "new", &name, "--kind", kind, "--dry-run"], 0);
        assert!(shown.contains(&format!("skill: {name}")), "{shown}");
        world.run(&["skill", "new", &name, "--kind", kind], 0);
        world.run(&["skill", "new", &name, "--kind", kind], 2);
    }
    world.write("SKILL.md", "---\nname: made\ndescription: D\n---\n1. Look at it\n2. Change it\n");
    world.run(&["skill", "new", "--from", "SKILL.md"], 0);
    assert!(world.run(&["skill", "show", "made"], 0).contains("look-at-it"));
    assert!(world.run(&["check"], 0).contains("0 errors, 0 warnings"));
    world.run(&["skill", "new", "No Name"], 2);
}

#[test]
fn a_table_of_phases_becomes_a_skill_with_each_kind() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\n");
    let atomic = |skill: &str| format!("\"uses_atomic_skill\": \"orchestrate-{skill}\"");
    let table = format!(
        "{{\"0\": {{\"type\": \"LINEAR\", {}, \"next\": \"1\"}}, \"1\": {{\"type\": \"AUTO\", \"next\": \"2\"}}, \
         \"2\": {{\"type\": \"REMEDIATION\", {}, \"remediation_target\": \"1\", \"next\": null}}}}",
        atomic("clarification"),
        atomic("validation")
    );
    world.write("table.json", &table);
    world.run(&["skill", "new", "made", "--registry", "table.json"], 0);
    let text = world.run(&["skill", "show", "made"], 0);
    assert!(text.contains("on_failure: {to: phase-1, limit: 2, then: halt}") && text.contains("It was AUTO"), "{text}");
    assert!(world.run(&["check"], 0).contains("0 errors, 0 warnings"));
}

#[test]
fn a_phase_0_that_is_not_linear_is_refused_and_an_optional_phase_waits_for_a_condition() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\n");
    let table = |kind: &str| {
        format!(
            "{{\"0\": {{\"type\": \"{kind}\", \"uses_atomic_skill\": \"orchestrate-research\", \"iteration_agents\": [\"research\"], \
             \"remediation_target\": \"0\", \"next\": \"1\"}}, \"1\": {{\"type\": \"OPTIONAL\", \"skip_condition\": \"known\", \
             \"uses_atomic_skill\": \"orchestrate-analysis\", \"next\": null}}}}"
        )
    };
    for kind in ["OPTIONAL", "ITERATIVE", "REMEDIATION", "PARALLEL", "AUTO"] {
        world.write("table.json", &table(kind));
        world.run(&["skill", "new", "made", "--registry", "table.json"], 2);
    }
    world.write("table.json", &table("LINEAR"));
    world.run(&["skill", "new", "made", "--registry", "table.json"], 0);
    let text = world.run(&["skill", "show", "made"], 0);
    assert!(!text.contains("\n    optional:") && text.contains("Skipped with: known."), "{text}");
    assert!(world.run(&["check"], 0).contains("0 errors, 0 warnings"));
}

#[test]
fn a_file_of_the_project_stands_in_for_one_that_a_shipped_skill_names() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\nuse: [develop-command]\n");
    world.write(".phasegate/formats/memory.yaml", "title: {matches: \"MINE .+\"}\n");
    world.write(".phasegate/prompts/clarification.md", "My text for ${agent}.\n");
    // It lacks the parts that the skill asks of the prompt.
    assert!(world.run(&["check"], 0).contains("0 errors, 1 warning"));
    world.start("s");
    let told = world.run(&["start", "develop-command", "task_id=t-1", "--session", "s"], 0);
    assert!(told.contains("My text for clarification."), "{told}");
    world.write(".phasegate/formats/memory.yaml", "title: [\n");
    assert!(world.run(&["check"], 1).contains("formats/memory.yaml"));
}

#[test]
fn shipped_files_are_shown_and_no_run_is_no() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "mode: block\nuse: [develop-command]\n");
    assert!(world.run(&["skill", "show", "develop-command"], 0).contains("run: orchestrate-clarification"));
    assert!(world.run(&["skill", "show", "formats/memory.yaml"], 0).contains("Section 0"));
    world.run(&["skill", "show", "nothing"], 2);
    assert!(world.run(&["skill", "list"], 0).contains("* develop-command"));
    world.run(&["status", "history"], 1);
    world.run(&["status", "next"], 1);
}
