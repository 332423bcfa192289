//! Rules in configs: what they mean, their version, and what is wrong with them.
#![cfg(feature = "rules")]

use std::collections::BTreeSet;

use phasegate_config::packs;
use phasegate_config::{
    Compiled, Kind, Known, Level, Severity, SourceFile, compile, compile_knowing, rule_schema, rule_texts,
};
use phasegate_core::Code;
use phasegate_core::policy::Mode;

const NO_RM: &str = "@id(\"no-rm\") @reason(\"no\") forbid(principal, action == Action::\"Bash\", resource)\n\
                     when { context.command.program == \"rm\" };\n";
const NO_WEB: &str = "@id(\"no-web\") forbid(principal, action in Action::\"@network\", resource);\n";

fn rules(path: &str, level: Level, text: &str) -> SourceFile {
    SourceFile { path: path.into(), text: text.into(), level, kind: Kind::Rules }
}

fn settings(level: Level, text: &str) -> SourceFile {
    SourceFile { path: format!("{level:?}.yaml"), text: text.into(), level, kind: Kind::Settings }
}

fn own(text: &str) -> SourceFile {
    rules("own.cedar", Level::Project, text)
}

fn facts(text: &str) -> SourceFile {
    SourceFile { kind: Kind::Facts, ..rules("own.yaml", Level::Project, text) }
}

/// The version of what is in order.
fn version(files: &[SourceFile]) -> String {
    let compiled = compile(files);
    assert!(!compiled.has_errors(), "{:#?}", compiled.diagnostics);
    compiled.policy.version
}

fn codes(compiled: &Compiled) -> Vec<(Code, Severity)> {
    compiled.diagnostics.iter().map(|found| (found.code, found.severity)).collect()
}

#[test]
fn the_version_follows_what_rules_mean_and_not_how_they_are_written() {
    let both = version(&[own(&(NO_RM.to_owned() + NO_WEB))]);
    for files in [
        vec![own(&(NO_WEB.to_owned() + NO_RM))],
        vec![own(NO_RM), rules("more.cedar", Level::Project, NO_WEB)],
        vec![own(&format!("// rm\n{}\n\n{NO_WEB}", NO_RM.replace(" == ", "\n  ==  ")))],
    ] {
        assert_eq!(version(&files), both);
    }
    let mut all = BTreeSet::from([both]);
    for files in [
        vec![own(NO_RM)],
        vec![own(&NO_RM.replace("\"rm\"", "\"dd\""))],
        vec![own(&NO_RM.replace("forbid", "@effect(\"ask\") forbid"))],
        vec![own(&NO_RM.replace("\"no\"", "\"never\""))],
        vec![own(NO_RM), settings(Level::Project, "rules: {default: deny}")],
        vec![],
    ] {
        assert!(all.insert(version(&files)), "{files:?}");
    }
}

#[test]
fn each_level_has_its_own_rules_and_default() {
    let files = [
        settings(Level::User, "rules: {default: deny, packs: [no-force-push]}"),
        rules("u.cedar", Level::User, "@id(\"look\") permit(principal, action in Action::\"@read\", resource);"),
        own(NO_RM),
    ];
    let compiled = compile(&files);
    assert!(compiled.diagnostics.is_empty(), "{:#?}", compiled.diagnostics);
    let levels = &compiled.policy.rules.as_ref().unwrap().levels;
    let ids = |at: usize| levels[at].rules.rules().iter().map(|rule| rule.id.as_str()).collect::<Vec<_>>();
    assert_eq!(
        (ids(0), ids(1)),
        (
            vec![
                "look",
                "no-force-push/files",
                "no-force-push/force",
                "no-force-push/remove",
                "no-force-push/settings"
            ],
            vec!["no-rm"]
        )
    );
    assert_eq!(compiled.policy.modes().max(), Some(Mode::Block));
}

#[test]
fn a_mistake_has_a_place_and_asks_for_block_mode() {
    let compiled = compile(&[own(&format!("{NO_WEB}{}", NO_RM.replace("program", "programm")))]);
    assert_eq!(codes(&compiled), [(Code::RuleInvalid, Severity::Error)]);
    let found = &compiled.diagnostics[0];
    assert_eq!((found.path.as_str(), found.line, found.column), ("own.cedar", 3, 8), "{found:?}");
    assert_eq!(found.suggestion.as_deref(), Some("did you mean `program`?"));
    assert_eq!(compiled.policy.modes().max(), Some(Mode::Block));
    for text in ["forbid(", NO_RM.trim_end_matches(";\n"), "@id(\"a\") permit(principal, action, resource) unless {};"]
    {
        let compiled = compile(&[own(text)]);
        assert!(compiled.has_errors() && compiled.policy.modes().max() == Some(Mode::Block), "{text}");
    }
    let lenient = compile(&[own(&NO_RM.replace("forbid", "@effect(\"warn\") forbid"))]);
    assert_eq!(lenient.policy.modes().max(), Some(Mode::Warn), "rules that only warn ask for no denial");
}

#[test]
fn names_are_one_of_a_kind_in_a_level() {
    let again = rules("z.cedar", Level::Project, NO_RM);
    let compiled = compile(&[own(NO_RM), again.clone()]);
    assert_eq!(codes(&compiled), [(Code::RuleInvalid, Severity::Error)]);
    assert!(compiled.diagnostics[0].cause.as_ref().unwrap().contains("`own.cedar`"));
    assert!(!compile(&[own(NO_RM), SourceFile { level: Level::User, ..again }]).has_errors());
    let of_pack = NO_RM.replace("no-rm", "no-force-push/force");
    assert!(compile(&[own(&of_pack), settings(Level::Project, "rules: {packs: [no-force-push]}")]).has_errors());
}

#[test]
fn settings_about_rules_are_checked() {
    for (text, code, severity, says) in [
        ("rules: {packs: [no-force-posh]}", Code::ConfigValue, Severity::Error, "did you mean `no-force-push`?"),
        ("rules: {packs: [no-force-push, no-force-push]}", Code::ConfigKeyDuplicate, Severity::Warning, "keep one"),
        ("rules: {default: deny}", Code::RulePointless, Severity::Warning, "permits something"),
        ("rules: {default: denny}", Code::ConfigValue, Severity::Error, "`deny`"),
        ("rules: {tools: {'@write': {}}}", Code::ConfigValue, Severity::Error, "SERVER/TOOL"),
        ("rules: {tools: {a/b: {arguments: {x: int}}}}", Code::ConfigValue, Severity::Error, "`number`"),
        ("rules: {pack: [no-force-push]}", Code::ConfigKeyUnknown, Severity::Error, "packs"),
    ] {
        let compiled = compile(&[settings(Level::Project, text)]);
        assert_eq!(codes(&compiled), [(code, severity)], "{text}: {:#?}", compiled.diagnostics);
        let told = format!("{:?}", compiled.diagnostics[0]);
        assert!(told.contains(says), "{text}: {told}");
    }
}

#[test]
fn tools_that_settings_describe_can_be_read() {
    let text = "@id(\"dear\") forbid(principal, action == Action::\"pay/send\", resource)\n\
                when { context.input has amount && context.input.amount > 5 };";
    assert!(compile(&[own(text)]).has_errors(), "nobody says that there is an amount");
    let described = "rules: {tools: {pay/send: {labels: [network], arguments: {amount: number}}}}";
    let files = [own(text), settings(Level::Project, described)];
    assert!(compile(&files).diagnostics.is_empty());
    assert!(rule_schema(&files).unwrap().contains("\"amount\"?: Long"));
    let named = rule_texts(&files);
    assert_eq!((named[0].id.as_str(), named[0].effect, named[0].line), ("dear", "deny", 1));
    let text = "@id(\"a\") forbid(principal, action in [Action::\"mail/*\", Action::\"mail/send\"], resource);";
    assert!(compile(&[own(text)]).diagnostics.is_empty());
}

#[test]
fn a_tool_that_a_known_server_does_not_have_is_told() {
    let mut known = Known::default();
    known.servers.tools.insert("my pay".into(), BTreeSet::from(["send".to_owned(), "refund".to_owned()]));
    let text = "@id(\"a\") forbid(principal, action in [Action::\"my_pay/sent\", Action::\"other/x\"], resource);";
    let compiled = compile_knowing(&[own(text)], &known);
    assert_eq!(codes(&compiled), [(Code::RulePointless, Severity::Warning)]);
    assert_eq!(compiled.diagnostics[0].suggestion.as_deref(), Some("did you mean `send`?"));
}

#[test]
fn a_server_that_the_settings_name_is_known() {
    let text = "skill: a\ndescription: D.\nservers: [desk]\nphases: {one: {allowed: [draft]}}\n";
    let skill = SourceFile { path: "a.yaml".into(), text: text.into(), level: Level::Project, kind: Kind::Skill };
    let mut known = Known::default();
    known.servers.all = true;
    let told = |said: &str| {
        let compiled = compile_knowing(&[skill.clone(), settings(Level::Project, said)], &known);
        compiled.diagnostics.iter().filter_map(|found| found.suggestion.clone()).collect::<Vec<_>>()
    };
    assert!(told("mode: block").concat().contains("mcp: {servers: {desk: {}}}"), "{:?}", told("mode: block"));
    for named in ["mcp: {servers: {desk: {}}}", "rules: {tools: {desk/draft: {labels: [write]}}}"] {
        assert!(told(named).is_empty(), "{:?}", told(named));
    }
}

#[test]
fn what_the_tools_of_hosts_can_do_is_known() {
    use phasegate_core::events::event::builtin_labels;
    let known = phasegate_rules::builtin(|name| builtin_labels(name).into_iter().collect());
    let unknown: Vec<_> = known.iter().filter(|tool| tool.labels.is_empty()).map(|tool| &tool.action).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn packs_are_valid_and_say_what_they_are_for() {
    for pack in packs() {
        let text = format!("rules: {{packs: [{}]}}", pack.name);
        let compiled = compile(&[settings(Level::Project, &text)]);
        assert!(compiled.diagnostics.is_empty(), "{}: {:#?}", pack.name, compiled.diagnostics);
        // What is wrong with a pack is told of a file that holds its text.
        let alone = compile(&[vec![own(pack.text)], pack.facts.into_iter().map(facts).collect()].concat());
        assert!(alone.diagnostics.is_empty(), "{}: {:#?}", pack.name, alone.diagnostics);
        let rules = &compiled.policy.rules.as_ref().unwrap().levels[0].rules;
        let named = |id: &str| id.starts_with(&format!("{}/", pack.name));
        assert!(rules.rules().iter().all(|rule| named(&rule.id) && !rule.reason.is_empty()), "{}", pack.name);
        assert!(!rules.rules().is_empty() && !pack.summary().is_empty());
    }
}

#[test]
fn the_schema_has_the_facts_of_the_files_with_their_types() {
    let text = "facts: {drafts: {count: draft}, publishing: {running: publish}, tested: {tests: passed}}";
    let schema = rule_schema(&[own(NO_RM), facts(text)]).unwrap();
    let wanted = r#"type Facts = { "drafts": Long, "publishing": Bool, "tested": Bool };"#;
    assert!(schema.contains(wanted), "{schema}");
    assert!(rule_schema(&[own(NO_RM)]).unwrap().contains("type Facts = {};"));
}

const EDITS: &str = "@id(\"edits\") forbid(principal, action, resource) when { context.facts.edits >= 3 };";

#[test]
fn a_fact_is_read_by_its_name_and_known_by_what_it_means() {
    let text = "facts: {edits: {count: {writes: \"src/**\"}, within: 1h}}";
    let compiled = compile(&[own(EDITS), facts(text)]);
    assert!(compiled.diagnostics.is_empty(), "{:#?}", compiled.diagnostics);
    let level = &compiled.policy.rules.as_ref().unwrap().levels[0];
    let key = &level.facts[0].key;
    assert_eq!(level.rules.rules()[0].facts.get("edits"), Some(key));
    // Neither names, layout nor groups matter, and what it means does.
    let renamed = compile(&[
        own(&EDITS.replace("facts.edits", "facts.changes")),
        facts("groups: {own: {files: x}}\nfacts:\n  changes: {within: 60m, count: {writes: 'src/**'}}"),
    ]);
    assert_eq!(renamed.policy.rules.as_ref().unwrap().levels[0].facts[0].key, *key);
    let longer = compile(&[own(EDITS), facts(&text.replace("1h", "2h"))]);
    assert_ne!(longer.policy.rules.as_ref().unwrap().levels[0].facts[0].key, *key);
}

#[test]
fn what_is_wrong_with_facts_is_told_with_its_place() {
    let good = "facts: {edits: {count: Edit}}";
    for (rule, text, path, wanted) in [
        (EDITS.replace("edits >", "edit >"), good, "own.cedar", "edit"),
        (EDITS.replace("edits >= 3", "edits"), good, "own.cedar", "Bool"),
        (
            EDITS.into(),
            "facts: {edits: {count: Edit, scope: project}}",
            "own.yaml",
            "does not say how far it looks back",
        ),
        (EDITS.into(), "facts: {edits: {count: Edit, scope: project, within: 8d}}", "own.yaml", "looks back `8d`"),
        (EDITS.into(), "facts: {edits: {count: Edit, within: soon}}", "own.yaml", "`soon` is no time"),
        (EDITS.into(), "facts: {edits: {count: Edit, running: Edit}}", "own.yaml", "asks one thing"),
        (EDITS.into(), "facts: {edits: {count: Edit, unchanged: true}}", "own.yaml", "`tests`, which is missing"),
        (EDITS.into(), "facts: {edits: {count: {writes: \"@sorce\"}}}", "own.yaml", "there is no group `@sorce`"),
        (EDITS.into(), "facts: {edits: {counts: Edit}}", "own.yaml", "counts"),
        (EDITS.into(), "facts: {Edits: {count: Edit}}", "own.yaml", "`Edits` is no name of a fact"),
    ] {
        let compiled = compile(&[own(&rule), facts(text)]);
        let found = compiled.diagnostics.iter().find(|found| found.path == path && found.message.contains(wanted));
        assert!(compiled.has_errors() && found.is_some(), "{text}: {:#?}", compiled.diagnostics);
    }
    let alone = compile(&[SourceFile { path: "other.yaml".into(), ..facts(good) }, own(NO_RM)]);
    assert!(alone.diagnostics[0].message.contains("no rules read these facts"), "{:#?}", alone.diagnostics);
}

#[test]
fn a_condition_in_the_old_words_is_told_as_a_fact() {
    let old = "@id(\"old\") forbid(principal, action, resource)\nwhen temporal { formerly within 8h x };";
    let compiled = compile(&[own(old)]);
    let found = &compiled.diagnostics[0];
    assert_eq!((found.code, found.line), (Code::RuleInvalid, 1));
    assert!(found.suggestion.as_ref().unwrap().contains("context.facts.secrets > 0"), "{found:?}");
}
