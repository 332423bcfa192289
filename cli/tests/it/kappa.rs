//! `phasegate rules import` of rules in the language κ. `xtask/cases/004-rules.json` has what each expression means.

use serde_json::{Value, json};

use crate::support::World;

const CONFIG: &str = "mode: block\nrules:\n  default: deny\n  tools:\n    \
    bank/send: {labels: [write], arguments: {amount: number, limit: number}}\n";
const RULES: &str = r#"rule Limit {
  guards {
    $event.amount > 9223372036854775806 -> reject "huge"
    $event.amount > min($event.limit, 500) -> reject "too_much"
    $event.amount > 0 -> admit
  }
  effects { emit("sent", $event.amount) }
}
rule Rate {
  guards { $event.amount / 10 > 3 -> reject "rate" }
  effects { }
}
"#;
const ARGUMENTS: [&str; 9] = [
    "rules",
    "import",
    "bank.kappa",
    "--tool",
    "bank/send",
    "--variable",
    "event.amount=context.input.amount",
    "--variable",
    "event.limit=context.input.limit",
];

fn world(rules: &str) -> World {
    let world = World::unguarded();
    world.write(".phasegate/config.yaml", CONFIG);
    world.write("bank.kappa", rules);
    world
}

fn imported(world: &World, more: &[&str]) -> String {
    world.run(&[&ARGUMENTS[..], more].concat(), 0)
}

/// The decision on a call, and why.
fn decided(world: &World, input: &Value) -> String {
    let lines = [
        json!({"event": "session_start", "source": "startup"}),
        json!({"event": "tool_call", "tool": "send", "server": "bank", "input": input}),
    ];
    let mut command = world.phasegate(&["replay", "--json"]);
    let output = command.write_stdin(format!("{}\n{}\n", lines[0], lines[1])).output().unwrap();
    let last: Value = serde_json::from_slice(output.stdout.split(|byte| *byte == b'\n').nth(1).unwrap()).unwrap();
    format!("{} {}", last["decision"].as_str().unwrap(), last["admission"])
}

#[test]
fn rules_of_kappa_are_shown_first_and_then_decide_calls() {
    let world = world(RULES);
    let shown = imported(&world, &[]);
    for text in ["rule Limit, rule Limit/2, rule Limit/admit", "@kind(\"rule Limit\")"] {
        assert!(shown.contains(text), "{shown}");
    }
    let unsaid = "no rule: line 10, column 26: Cedar has no `/`, and one side is known only when a call comes; \
                  write instead: a comparison without it: `$x >= 30` for `$x / 10 >= 3`";
    assert!(shown.contains(unsaid), "{shown}");
    assert!(!world.root().join(".phasegate/rules").exists(), "nothing is written without `--yes`");
    imported(&world, &["--yes"]);
    let rejected = r#"deny {"kind":"rule_rejected","rule_name":"Limit","rule_reason":"too_much"}"#;
    assert_eq!(decided(&world, &json!({"amount": 40, "limit": 50})), "allow null");
    assert_eq!(decided(&world, &json!({"amount": 60, "limit": 50})), rejected);
    assert_eq!(decided(&world, &json!({"amount": 600, "limit": 5000})), rejected);
    assert_eq!(decided(&world, &json!({"amount": 0, "limit": 50})), r#"deny {"kind":"no_rule_matched"}"#);
    assert!(decided(&world, &json!({"amount": 40})).starts_with("deny "), "a value that is missing admits nothing");
    world.run(&["rules", "import", "--undo"], 0);
    assert!(!world.root().join(".phasegate/rules/imported.cedar").exists());
}

#[test]
fn rules_that_the_original_would_not_load_are_not_written() {
    let world = world("rule A { guards { now() == rand() -> admit 1 -> admit } effects { } }");
    let text = world.run(&["rules", "import", "bank.kappa", "--yes", "--json"], 1);
    let found: Value = serde_json::from_str(&text).unwrap();
    let errors = found["files"][0]["errors"].as_array().unwrap();
    let said: Vec<String> =
        errors.iter().map(|error| format!("{}:{} {}", error["line"], error["column"], error["code"])).collect();
    assert_eq!(
        said,
        [r#"1:19 "forbidden_function""#, r#"1:28 "forbidden_function""#, r#"1:44 "type_mismatch""#],
        "each check runs"
    );
    assert!(!world.root().join(".phasegate/rules").exists());
}

/// The page that says what is read of the language.
const PAGE: &str = include_str!("../../../docs/admission-rules.md");

#[test]
fn what_is_not_read_is_refused_as_the_page_says() {
    let guarded = |guard: &str| format!("rule A {{ guards {{ {guard} -> admit }} effects {{ }} }}");
    let no_effects = "rule A { guards { } }".to_owned();
    for (rules, message, code) in [
        (no_effects, "`effects` is expected here, not `}`", "syntax"),
        (guarded("true").repeat(2), "two rules have the name `A`", "duplicate_rule"),
        (guarded("1"), "a guard is true or false", "type_mismatch"),
        (guarded("1 + true > 1"), "each side of `+` is a number", "type_mismatch"),
        (guarded("99999999999999999999 > 1"), "the number does not fit into 64 bits", "integer_range"),
        (guarded("$actor.x == \"y\""), "a number, a variable, a call or a parenthesis is expected here", "syntax"),
        (guarded("$foo"), "there is no variable `$foo`", "unknown_variable"),
        (guarded("foo(1) > 1"), "there is no function `foo`", "unknown_function"),
        (guarded("set(1)"), "`set` changes something, so only effects may call it", "side_effect_in_guard"),
        (guarded("now() > 1"), "a rule may not call `now`", "forbidden_function"),
        (guarded("if"), "is expected here, not `if`", "syntax"),
    ] {
        let told = world(&rules).run(&["rules", "import", "bank.kappa"], 1);
        assert!(told.contains(message) && told.contains(code), "{rules}: {told}");
        assert!(PAGE.contains(message) || code == "syntax", "the page says `{message}`");
        assert!(PAGE.contains(&format!("(`{code}`)")), "the page names `{code}`");
    }
}

#[test]
fn what_stands_for_nothing_is_named_with_what_to_say() {
    let world = world("rule A { guards { $actor.reputation >= 100 -> admit } effects { } }");
    let text = world.run(&["rules", "import", "bank.kappa"], 0);
    assert!(text.contains("`--variable actor.reputation=100` for a constant"), "{text}");
    let text = world.run(&["rules", "import", "bank.kappa", "--variable", "actor.reputation=100"], 0);
    assert!(text.contains("@id(\"A/admit\")\npermit(principal, action, resource);"), "{text}");
}

/// A text of an attacker's making ends with an error, and not with a crash.
#[test]
fn deep_and_long_rules_are_read_or_refused() {
    let deep =
        format!("rule A {{ guards {{ {}1{} == 1 -> admit }} effects {{ }} }}", "(".repeat(9000), ")".repeat(9000));
    let text = world(&deep).run(&["rules", "import", "bank.kappa", "--json"], 1);
    assert!(text.contains("nests more than 256 deep"), "{text}");
    let long =
        |terms: usize| format!("rule A {{ guards {{ 0{} == 4000 -> admit }} effects {{ }} }}", " + 1".repeat(terms));
    let text = world(&long(4000)).run(&["rules", "import", "bank.kappa", "--json"], 0);
    assert!(text.contains("A/admit"), "{text}");
    let text = world(&long(6000)).run(&["rules", "import", "bank.kappa", "--json"], 1);
    assert!(text.contains("more than 10000 parts"), "{text}");
}
