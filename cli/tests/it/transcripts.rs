//! `phasegate check --tests`: the transcripts of the shipped skills, and those that do not come out as they say.

use std::fs;
use std::path::Path;

use crate::support::World;

/// A project that uses a shipped skill and has transcripts of it.
fn project(skill: &str, transcripts: &[(String, String)]) -> World {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", &format!("mode: block\nuse: [{skill}]\n"));
    for (name, text) in transcripts {
        world.write(&format!(".phasegate/tests/{name}"), text);
    }
    world
}

/// The files of a folder, by name.
fn files(folder: &Path) -> Vec<(String, String)> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let name = |path: &Path| path.file_name().unwrap().to_str().unwrap().to_string();
    files.map(|path| (name(&path), fs::read_to_string(&path).unwrap())).collect()
}

/// The files that the skills of an example name, with their folders.
fn named_files(skill: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/examples").join(skill);
    let of = |name: &'static str| {
        let inside = folder.join(name);
        let found = if inside.is_dir() { files(&inside) } else { Vec::new() };
        found.into_iter().map(move |(file, text)| (format!("{name}/{file}"), text))
    };
    ["formats", "prompts", "schemas"].into_iter().flat_map(of).collect()
}

/// The folders in a folder of this crate, by name, each with its files.
fn folders(of: &str) -> Vec<(String, Vec<(String, String)>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(of);
    let each = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let found: Vec<_> = each.map(|entry| (entry.file_name().into_string().unwrap(), files(&entry.path()))).collect();
    assert!(!found.is_empty());
    found
}

#[test]
fn the_transcripts_of_the_shipped_skills_come_out_as_they_say() {
    for (skill, transcripts) in folders("../skills/tests") {
        assert!(transcripts.len() > 1, "{skill}: one of an honest agent, and one of another");
        project(&skill, &transcripts).run(&["check", "--tests"], 0);
    }
}

#[test]
fn the_transcripts_of_the_examples_come_out_as_they_say() {
    for (skill, files) in folders("tests/examples") {
        let (skills, transcripts): (Vec<_>, Vec<_>) = files.into_iter().partition(|(name, _)| name.ends_with(".yaml"));
        assert!(transcripts.len() > 1, "{skill}: one of an honest agent, and one of another");
        let world = World::unguarded();
        world.write(".phasegate/config.yaml", "mode: block\n");
        skills.iter().for_each(|(name, text)| world.write(&format!(".phasegate/skills/{name}"), text));
        transcripts.iter().for_each(|(name, text)| world.write(&format!(".phasegate/tests/{name}"), text));
        named_files(&skill).iter().for_each(|(name, text)| world.write(&format!(".phasegate/{name}"), text));
        let text = world.run(&["check", "--tests"], 0);
        assert!(text.contains("0 errors, 0 warnings"), "{skill}: {text}");
    }
}

#[test]
fn a_transcript_that_comes_out_otherwise_is_a_mistake_with_its_line() {
    let push = r#"{"event": "skill", "name": "release", "by": "agent"}
{"event": "tool_call", "id": "1", "tool": "Bash", "input": {"command": "git push"}, "expect": EXPECT}
"#;
    for (expect, status, says) in [
        (r#"{"decision": "deny", "code": "not-done", "reason": "phase push"}"#, 0, "1 expectation, all met"),
        (r#"{"decision": "allow"}"#, 1, "one.jsonl:2: expected decision \"allow\", got \"deny\""),
        ("3", 1, "one.jsonl:2: `expect` is not an object"),
        (r#"{"decison": "deny"}"#, 1, "one.jsonl:2: no answer has `decison`: did you mean `decision`?"),
        (r#"{"rule": "no-publish"}"#, 1, "one.jsonl:2: expected rule \"no-publish\", got null"),
    ] {
        let world = project("release", &[("one.jsonl".into(), push.replace("EXPECT", expect))]);
        let text = world.run(&["check", "--tests"], status);
        assert!(text.contains(says), "{expect}: {text}");
    }
    let nothing = project("release", &[("one.jsonl".into(), push.replace(", \"expect\": EXPECT", ""))]);
    assert!(nothing.run(&["check", "--tests"], 1).contains("so nothing is tested"));
    let wrong = project("release", &[("one.jsonl".into(), "{\"event\": \"sleep\"}".into())]);
    assert!(wrong.run(&["check", "--tests"], 1).contains("one.jsonl:1: "));
    project("release", &[]).run(&["check", "--tests"], 2);

    let unused = World::unguarded();
    unused.write(".phasegate/config.yaml", "mode: block\n");
    unused.write(".phasegate/tests/one.jsonl", &push.replace("EXPECT", r#"{"decision": "deny"}"#));
    assert!(unused.run(&["check", "--tests"], 1).contains("one.jsonl:1: "), "no skill is left out in silence");
}

#[test]
fn a_transcript_names_the_rule_that_decides() {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", "rules: {packs: [no-force-push, read-only-production]}\n");
    let line = |command: &str, expect: &str| {
        format!(r#"{{"event": "tool_call", "tool": "Bash", "input": {{"command": "{command}"}}, "expect": {expect}}}"#)
    };
    let denied = line("git push -f", r#"{"decision": "deny", "rule": "no-force-push/force"}"#);
    let passes = line("git push", r#"{"decision": "allow", "rule": null}"#);
    world.write(".phasegate/tests/push.jsonl", &format!("{denied}\n{passes}\n"));
    world.run(&["check", "--tests"], 0);
    world.write(".phasegate/tests/push.jsonl", &line("git push -f", r#"{"rule": "no-force-push/remove"}"#));
    let text = world.run(&["check", "--tests"], 1);
    assert!(
        text.contains("push.jsonl:1: expected rule \"no-force-push/remove\", got \"no-force-push/force\""),
        "{text}"
    );
}

#[test]
fn a_report_for_other_programs_has_a_case_for_each_transcript_and_one_for_the_configs() {
    let call = r#"{"event": "tool_call", "id": "1", "tool": "Bash", "input": {"command": "ls"}, "expect": EXPECT}"#;
    let line = |expect: &str| call.replace("EXPECT", expect);
    let good = ("good.jsonl".to_string(), line(r#"{"decision": "allow"}"#));
    let bad = ("bad.jsonl".to_string(), line(r#"{"decision": "deny"}"#));
    let world = project("release", &[good, bad]);
    let arguments = ["check", "--tests", "--junit", "out.xml"];
    let report = |world: &World| fs::read_to_string(world.root().join("out.xml")).unwrap();
    world.run(&arguments, 1);
    let text = report(&world);
    for part in [
        r#"tests="3" skipped="0" errors="0" failures="1""#,
        r#"<testcase name="configs" classname="checked"/>"#,
        r#"<testcase name=".phasegate/tests/good.jsonl" classname="transcripts"/>"#,
        "bad.jsonl:1: expected decision &quot;deny&quot;, got &quot;allow&quot;",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Where the configs have errors, nothing is played, and the report of the last time does not stay.
    world.write(".phasegate/skills/odd.yaml", "skill: odd\nphasse: {}\n");
    world.run(&arguments, 1);
    let text = report(&world);
    assert!(text.contains(r#"tests="1" skipped="0" errors="0" failures="1""#) && text.contains("odd.yaml"), "{text}");
    world.run(&["check", "--junit", "out.xml"], 2);
}
