//! What holds of all rules and calls.

use std::sync::LazyLock;

use phasegate_rules::{Default, Effect, Request, Rule, Ruleset, Value};
use proptest::prelude::*;

use crate::support::{command, rules, shell};

const TEXT: &str = r#"
    @id("a") forbid(principal, action == Action::"Bash", resource) when { context.command.program == "git" };
    @id("b") forbid(principal, action in Action::"call", resource) when { context has command && context.command.words.contains("-f") };
    @id("c") @effect("ask") forbid(principal, action, resource) when { context has command && context.command.subcommand like "p*" };
    @id("d") @effect("warn") forbid(principal, action, resource) unless { principal.main };
    @id("e") permit(principal, action == Action::"Bash", resource) when { context.command.program == "cargo" };
    @id("f") permit(principal, action in Action::"@write", resource) unless { context has command && context.command.sends };
"#;

/// The rules, compiled once.
fn all() -> Vec<Rule> {
    static ALL: LazyLock<Vec<Rule>> = LazyLock::new(|| rules(TEXT));
    ALL.clone()
}

const WORDS: [&str; 6] = ["git", "cargo", "push", "-f", "$", "ls"];

fn line() -> impl Strategy<Value = Vec<Vec<&'static str>>> {
    prop::collection::vec(prop::collection::vec(prop::sample::select(WORDS.to_vec()), 0..4), 1..4)
}

fn request(line: &[Vec<&'static str>]) -> Request<'static> {
    let commands: Vec<Value<'static>> = line.iter().map(|words| command(words, "")).collect();
    shell(&commands)
}

fn some_of(all: &[Rule], chosen: u8) -> Vec<Rule> {
    all.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1).map(|(_, rule)| rule.clone()).collect()
}

/// The answer as bytes.
fn answer(rules: &Ruleset, request: &Request<'_>) -> String {
    let verdict = rules.decide(request);
    format!(
        "{:?}",
        verdict.map(|verdict| (verdict.effect, verdict.rule.map(|rule| &rule.id), verdict.part, verdict.truth))
    )
}

fn effect(rules: &Ruleset, request: &Request<'_>) -> Option<Effect> {
    rules.decide(request).map(|verdict| verdict.effect)
}

proptest! {
    #[test]
    fn the_order_of_rules_does_not_matter(order in Just(all()).prop_shuffle(), line in line(), deny: bool) {
        let default = if deny { Default::Deny } else { Default::Permit };
        let (one, other) = (Ruleset::new(default, all()), Ruleset::new(default, order));
        let request = request(&line);
        prop_assert_eq!(answer(&one, &request), answer(&other, &request));
        prop_assert_eq!(serde_json::to_string(&one).unwrap(), serde_json::to_string(&other).unwrap());
    }

    #[test]
    fn another_forbid_never_turns_a_denial_into_an_allow(chosen: u8, more in 0_usize..4, line in line(), deny: bool) {
        let default = if deny { Default::Deny } else { Default::Permit };
        let all = all();
        let few = some_of(&all, chosen);
        let with = few.iter().chain(few.iter().all(|rule| rule.id != all[more].id).then(|| &all[more])).cloned().collect();
        let request = request(&line);
        prop_assert!(effect(&Ruleset::new(default, with), &request) >= effect(&Ruleset::new(default, few), &request));
    }

    #[test]
    fn same_rules_and_calls_give_the_same_bytes(chosen: u8, line in line()) {
        let ruleset = Ruleset::new(Default::Deny, some_of(&all(), chosen));
        let again: Ruleset = serde_json::from_str(&serde_json::to_string(&ruleset).unwrap()).unwrap();
        prop_assert_eq!(&again, &ruleset);
        let (one, other) = (request(&line), request(&line));
        prop_assert_eq!(answer(&ruleset, &one), answer(&again, &other));
    }
}
