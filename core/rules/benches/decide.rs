//! One decision by 100 rules, 80 of which ask for arguments and none of which decides.
#![allow(clippy::unwrap_used, missing_docs, reason = "a measurement")]

use phasegate_rules::compile::{Schema, compile};
use phasegate_rules::{Action, Default, Part, Principal, Request, Ruleset, Value, builtin};

fn main() {
    divan::main();
}

fn labels(tool: &str) -> Vec<String> {
    let words: &[&str] = if tool == "Bash" { &["write", "execute", "shell"] } else { &["read"] };
    words.iter().map(|word| (*word).to_owned()).collect()
}

fn ruleset() -> Ruleset {
    let mut text = String::new();
    for n in 0..80 {
        text += &format!(
            "@id(\"args-{n}\") forbid(principal, action == Action::\"Bash\", resource) when {{ context.command.program \
             like \"tool*{n}\" || context.command.program == \"git\" && context.command.subcommand == \"sub{n}\" && \
             context.command.options.contains(\"--o{n}\") }};\n"
        );
    }
    for n in 0..20 {
        text += &format!(
            "@id(\"path-{n}\") forbid(principal, action, resource) when {{ context has path && context.path.file like \
             \"secret{n}*\" }};\n"
        );
    }
    let compiled = compile(&text, &Schema::new(&builtin(labels)).unwrap());
    assert!(compiled.problems.is_empty(), "{:?}", compiled.problems);
    Ruleset::new(Default::Permit, compiled.rules.into_iter().map(|placed| placed.rule).collect())
}

fn request() -> Request<'static> {
    let text = Value::Text;
    let words = || Value::set(["push", "origin", "main", "-v"].map(Value::Text));
    let command = Value::record(vec![
        ("program", text("git")),
        ("subcommand", text("push")),
        ("words", words()),
        ("options", Value::set([text("-v")])),
        ("text", text("git push origin main -v")),
        ("verdict", text("send")),
        ("sends", Value::Bool(true)),
        ("names", Value::set([])),
        ("hosts", Value::set([])),
        ("environment", Value::Text("")),
    ]);
    let flags = ["inside", "reads", "writes", "removes", "runs"].map(|name| (name, Value::Bool(true)));
    let path =
        Value::record([("name", text("src/main.rs")), ("file", text("main.rs"))].into_iter().chain(flags).collect());
    Request {
        parts: vec![Part { command: Some(command), path: Some(path) }],
        context: vec![("skills", Value::set([])), ("phases", Value::set([]))],
        ..Request::new(
            Principal::main("s"),
            Action::new("Bash", ["write", "execute", "shell"]),
            Value::record(vec![("command", text("git push origin main -v"))]),
        )
    }
}

#[divan::bench]
fn hundred_rules(bencher: divan::Bencher<'_, '_>) {
    let (rules, request) = (ruleset(), request());
    assert_eq!(rules.decide(&request), None);
    bencher.bench_local(|| divan::black_box(&rules).decide(divan::black_box(&request)).is_none());
}

#[divan::bench]
fn loading_hundred_rules(bencher: divan::Bencher<'_, '_>) {
    let text = serde_json::to_string(&ruleset()).unwrap();
    bencher.bench_local(|| serde_json::from_str::<Ruleset>(divan::black_box(&text)).is_ok());
}
