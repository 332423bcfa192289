//! Which calls rules deny.

use phasegate_rules::{Action, Default, Effect, Part, Principal, Request, Ruleset, Truth, Value, known};

use crate::support::{command, ruleset, shell};

const NO_FORCE: &str = r#"
    @id("no-force-push")
    @reason("a forced push rewrites what others have")
    forbid(principal, action == Action::"Bash", resource)
    when { context.command.program == "git" && context.command.subcommand == "push" }
    when { context.command.options.containsAny(["-f", "--force"]) };
"#;

/// The effect and the rule of a call, as `deny no-force-push`; `-` where it passes.
fn decided(rules: &Ruleset, request: &Request<'_>) -> String {
    let Some(verdict) = rules.decide(request) else { return "-".into() };
    let rule = verdict.rule.map_or("", |rule| &rule.id);
    let doubt = if verdict.truth == Truth::Yes { "" } else { "?" };
    format!("{} {rule}{doubt}", verdict.effect.word())
}

#[test]
fn a_forbid_denies_one_part_of_a_line() {
    let rules = ruleset(Default::Permit, NO_FORCE);
    let push = command(&["git", "push", "origin"], "git push origin");
    let forced = command(&["git", "push", "--force"], "git push --force");
    assert_eq!(decided(&rules, &shell(std::slice::from_ref(&push))), "-");
    assert_eq!(decided(&rules, &shell(&[push.clone(), forced.clone()])), "deny no-force-push");
    assert_eq!(decided(&rules, &shell(&[push, command(&["ls", "--force"], "ls --force")])), "-");
}

#[test]
fn a_word_that_is_not_known_denies_where_it_may_be_the_one() {
    let rules = ruleset(Default::Permit, NO_FORCE);
    let of = |words: &[&'static str]| decided(&rules, &shell(&[command(words, "")]));
    assert_eq!(of(&["git", "push", "$"]), "deny no-force-push?");
    assert_eq!(of(&["git", "$", "-f"]), "deny no-force-push?");
    assert_eq!(of(&["git", "fetch", "$"]), "-");
    assert_eq!(of(&["echo", "$"]), "-");
    assert_eq!(decided(&rules, &shell(&[Value::Unknown])), "deny no-force-push?");
}

#[test]
fn each_part_needs_a_permit_where_the_default_is_to_deny() {
    let permit = r#"@id("cargo") permit(principal, action == Action::"Bash", resource)
        when { context.command.program == "cargo" };"#;
    let rules = ruleset(Default::Deny, permit);
    let (cargo, ls) = (command(&["cargo", "test"], "cargo test"), command(&["ls"], "ls"));
    assert_eq!(decided(&rules, &shell(std::slice::from_ref(&cargo))), "-");
    assert_eq!(decided(&rules, &shell(&[cargo.clone(), ls])), "deny ");
    assert_eq!(decided(&rules, &shell(&[cargo, command(&["$"], "")])), "deny ");
    let of_other = Request::new(Principal::main("s"), Action::new("Read", ["read"]), Value::record(vec![]));
    assert_eq!(decided(&rules, &of_other), "deny ");
}

#[test]
fn forbid_wins_over_permit_and_the_strictest_effect_over_the_others() {
    let text = r#"
        @id("a") permit(principal, action, resource);
        @id("b") @effect("warn") forbid(principal, action in Action::"call", resource);
        @id("c") @effect("ask") forbid(principal, action in Action::"@write", resource);
        @id("d") forbid(principal, action == Action::"Write", resource);"#;
    let rules = ruleset(Default::Deny, text);
    let of = |tool, labels: &[&'static str]| {
        let action = Action::new(tool, labels.iter().copied());
        decided(&rules, &Request::new(Principal::main("s"), action, Value::record(vec![])))
    };
    assert_eq!(of("Read", &["read"]), "warn b");
    assert_eq!(of("Edit", &["write"]), "ask c");
    assert_eq!(of("Write", &["write"]), "deny d");
    assert_eq!(of("new-tool", &[]), "ask c?");
}

#[test]
fn a_rule_that_cannot_be_evaluated_denies() {
    let text = r#"@id("sum") forbid(principal, action == Action::"pay/send", resource)
        when { context.input has amount && context.input.amount * 2 > 10 };
        @id("text") @effect("ask") forbid(principal, action == Action::"Write", resource)
        when { context.input has content && context.input.content like "*x*" };"#;
    let rules = ruleset(Default::Permit, text);
    let of = |id, amount| {
        let action = Action { id, name: "send", server: "pay", names: vec![], labels: vec![] };
        let input = Value::record(vec![("amount", amount), ("content", Value::Long(5))]);
        decided(&rules, &Request::new(Principal::main("s"), action, input))
    };
    assert_eq!(of("pay/send", Value::Long(5)), "-");
    assert_eq!(of("pay/send", Value::Long(6)), "deny sum");
    assert_eq!(of("pay/send", Value::Long(i64::MAX)), "deny sum?");
    assert_eq!(of("pay/send", Value::Text("6")), "deny sum?");
    assert_eq!(of("pay/send", Value::Unknown), "deny sum?");
    assert_eq!(of("Write", Value::Unknown), "ask text?");
}

#[test]
fn callers_are_told_apart() {
    let text = r#"@id("subagents") forbid(principal, action, resource) unless { principal.main };
        @id("alice") forbid(principal in User::"alice", action, resource);
        @id("s2") forbid(principal in Session::"s2", action, resource);"#;
    let rules = ruleset(Default::Permit, text);
    let of =
        |principal| decided(&rules, &Request::new(principal, Action::new("Read", ["read"]), Value::record(vec![])));
    assert_eq!(of(Principal::main("s1")), "-");
    assert_eq!(of(Principal { id: "a1", main: false, ..Principal::main("s1") }), "deny subagents");
    assert_eq!(of(Principal { user: Some("alice"), ..Principal::main("s1") }), "deny alice");
    assert_eq!(of(Principal::main("s2")), "deny s2");
}

#[test]
fn paths_are_parts_too() {
    let text = r#"@id("env") forbid(principal, action, resource)
        when { context has path && context.path.file like ".env*" && (context.path.reads || context.path.writes) };"#;
    let rules = ruleset(Default::Permit, text);
    let path = |file: Value<'static>| {
        let flags = [("inside", true), ("reads", true), ("writes", false), ("removes", false), ("runs", false)];
        let flags = flags.map(|(name, flag)| (name, Value::Bool(flag)));
        let fields = [("name", file.clone()), ("file", file)].into_iter().chain(flags).collect();
        Part { command: None, path: Some(Value::record(fields)) }
    };
    let of = |parts| {
        let action = Action::new("Read", ["read"]);
        decided(&rules, &Request { parts, ..Request::new(Principal::main("s"), action, Value::record(vec![])) })
    };
    assert_eq!(of(vec![path(Value::Text("a.rs"))]), "-");
    assert_eq!(of(vec![path(Value::Text("a.rs")), path(Value::Text(".env.local"))]), "deny env");
    assert_eq!(of(vec![path(Value::Unknown)]), "deny env?");
    assert_eq!(of(vec![Part::default()]), "-");
}

#[test]
fn a_tool_with_any_arguments_is_denied_only_if_every_call_of_it_is() {
    let text = r#"@id("some") forbid(principal, action == Action::"Bash", resource)
        when { context.command.program == "rm" };
        @id("all") forbid(principal, action == Action::"WebFetch", resource);"#;
    let rules = ruleset(Default::Permit, text);
    let of = |tool| {
        let action = Action::new(tool, ["read"]);
        let parts = vec![Part { command: Some(Value::Unknown), path: Some(Value::Unknown) }];
        let request = Request { parts, open: true, ..Request::new(Principal::main("s"), action, Value::Unknown) };
        decided(&rules, &request)
    };
    assert_eq!(of("Bash"), "-");
    assert_eq!(of("WebFetch"), "deny all");
}

#[test]
fn what_is_kept_of_tests_decides_as_the_arguments_did() {
    let rules = ruleset(
        Default::Permit,
        r#"@id("a") forbid(principal, action == Action::"Bash", resource)
        when { context.command.program == "rm" && context.skills.contains("release") };
        @id("b") forbid(principal, action == Action::"Bash", resource)
        unless { context.input has command && context.input.command like "a*" };"#,
    );
    let mut request = shell(&[command(&["rm"], "rm"), command(&["$"], "")]);
    request.context = vec![("skills", Value::set([Value::Text("release")])), ("phases", Value::set([]))];
    let before = decided(&rules, &request);
    assert_eq!(before, "deny a");
    let kept = known(&rules, &request);
    let hidden =
        Request { input: Value::record(vec![]), known: Some(&kept), ..shell(&[Value::Unknown, Value::Unknown]) };
    let hidden = Request { context: request.context.clone(), ..hidden };
    assert_eq!(decided(&rules, &hidden), before);
    assert_eq!(rules.decide(&hidden).unwrap().effect, Effect::Deny);
}
