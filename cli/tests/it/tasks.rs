//! What a task runs is judged as if it had been typed.

use serde_json::json;

use crate::support::{Reply, World, denied, reply};

const SKILL: &str = "
skill: careful
start: [session]
unlisted: deny
phases:
  look: { allowed: [{command: make *}, {command: npm *}], forbidden: [{writes: \"src/**\"}, {command: terraform apply *}] }
";

/// A project with tasks of each kind, in block mode.
fn world() -> World {
    let world = World::unguarded();
    for (path, text) in [
        (".phasegate/config.yaml", "mode: block\nrules: {packs: [no-force-push, protect-secrets]}\n"),
        (".env", "TOKEN=1\n"),
        (
            "Makefile",
            "MAIN := main\nSHELL := /bin/bash\nVERSION := $(shell git describe --tags)\ninclude own.mk\n\
             all: build\nrelease:\n\tgit tag $(VERSION)\n\tgit push -f origin $(VERSION)\nship: build\n\tgit push --force origin $(MAIN)\nbuild:\n\tcargo build\nloop: loop\n\tmake loop\n\
             show:\n\t@cat .env\ngen:\n\tcp template.py src/gen.py\ninfra:\n\tcd infra && terraform apply\n",
        ),
        (
            "package.json",
            r#"{"scripts": {"start": "git push -f", "predeploy": "npm run push", "deploy": "true", "push": "git push -f"}}"#,
        ),
        ("mise.toml", "[tasks.ship]\ndepends = ['push']\n[tasks.push]\nrun = ['cargo build', 'git push -f']\n"),
        ("justfile", "ship: push\n\npush:\n    git push -f\n"),
        ("Taskfile.yml", "version: '3'\ntasks: {ship: [{task: push}], push: git push -f}\n"),
        (".cargo/config.toml", "[alias]\nship = 'run --bin ship'\n"),
        ("template.py", ""),
        ("infra/main.tf", ""),
        ("infra/Makefile", "all: push\npush:\n\tgit push -f\n"),
    ] {
        world.write(path, text);
    }
    world
}

#[test]
fn rules_are_about_what_a_task_runs() {
    let world = world();
    world.start("s");
    let lines = [
        "make ship",
        "make -s ship",
        "cargo build && make ship",
        "make build ship",
        "make MAIN=dev ship",
        "make -C infra -s",
        "make release",
        "just",
        "npm start",
        "npm run deploy",
        "mise run ship",
        "just ship",
        "task ship",
        "make show",
    ];
    for (number, line) in lines.into_iter().enumerate() {
        let answer = world.call("s", &number.to_string(), "Bash", json!({"command": line}));
        let text = denied(&answer, "phasegate: rule ");
        let says = match line {
            "make show" => "cat .env",
            // A part of it is known when it runs.
            "make release" => "may be about this call",
            _ => "git push",
        };
        assert!(text.contains(says), "{line}: {text}");
    }
    for (number, line) in
        ["make build", "make loop", "make nothing", "npm run none", "cargo ship"].into_iter().enumerate()
    {
        let answer = world.call("s", &format!("a{number}"), "Bash", json!({"command": line}));
        assert_eq!(reply(&answer), Reply::Silent, "{line}");
    }
    // What counts is what the file says now.
    world.write("Makefile", "build:\n\tgit push -f\n");
    denied(&world.call("s", "z", "Bash", json!({"command": "make build"})), "phasegate: rule ");
}

#[test]
fn who_lists_a_task_lists_what_it_runs_and_what_is_forbidden_stays_so() {
    let world = world();
    world.write(".phasegate/skills/careful.yaml", SKILL);
    world.start("s");
    assert!(!matches!(reply(&world.call("s", "1", "Bash", json!({"command": "make build"}))), Reply::Denied(_)));
    let text = denied(&world.call("s", "2", "Bash", json!({"command": "make gen"})), "phase-forbidden");
    assert!(text.contains("cp template.py src/gen.py"), "{text}");
    let text = denied(&world.call("s", "3", "Bash", json!({"command": "make infra"})), "phase-forbidden");
    assert!(text.contains("terraform apply"), "{text}");
    assert!(world.run(&["audit", "verify"], 0).contains("fits"));
}
