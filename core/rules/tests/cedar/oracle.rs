//! Our evaluator against Cedar's own, on rules and calls made at random.

mod generator;

use cedar_policy::{Authorizer, Context, Decision, Entities, EntityUid, PolicyId, PolicySet, Request as Asked};
use phasegate_rules::compile::compile;
use phasegate_rules::{Default, Request, Rule, Ruleset, Truth, Value};
use serde_json::{Value as Json, json};

use generator::{Random, call, condition, head, labels_of};

use crate::support::small_schema;

/// How many texts of rules, and how many calls each is asked about.
const TEXTS: u64 = 50;
const CALLS: u64 = 20;

/// How many texts: more where `PHASEGATE_LONG` says it, as `PHASEGATE_LONG=5000`.
fn texts() -> u64 {
    std::env::var("PHASEGATE_LONG").ok().and_then(|number| number.parse().ok()).unwrap_or(TEXTS)
}

#[test]
fn cedar_says_the_same_of_random_rules_and_calls() {
    let schema = small_schema();
    let (mut yes, mut failed, mut all) = (0, 0, 0);
    for seed in 0..texts() {
        let mut random = Random::new(seed);
        let texts: Vec<String> = (0..3).map(|number| one(&mut random, number)).collect();
        let rules: Vec<Rule> = texts
            .iter()
            .flat_map(|text| {
                let compiled = compile(text, &schema);
                assert_eq!(compiled.rules.len(), 1, "{text}\n{:?}", compiled.problems);
                compiled.rules.into_iter().map(|placed| placed.rule)
            })
            .collect();
        let sets: Vec<PolicySet> = texts.iter().map(|text| text.parse().unwrap()).collect();
        let together: PolicySet = texts.concat().parse().unwrap();
        for _ in 0..CALLS {
            let request = call(&mut random);
            let mut some_failed = false;
            for ((rule, set), text) in rules.iter().zip(&sets).zip(&texts) {
                let (ours, theirs) = (alone(rule, &request), asked(set, &request).1);
                assert_eq!(ours, theirs, "seed {seed}\n{text}\n{request:#?}");
                all += 1;
                yes += u32::from(ours == Truth::Yes);
                failed += u32::from(ours == Truth::Failed);
                some_failed |= ours == Truth::Failed;
            }
            let passes = Ruleset::new(Default::Deny, rules.clone()).decide(&request).is_none();
            let allowed = asked(&together, &request).0 == Decision::Allow;
            // What cannot be evaluated denies here.
            assert_eq!(passes, allowed && !some_failed, "seed {seed}\n{}\n{request:#?}", texts.concat());
        }
    }
    // The calls are of every kind.
    assert!(yes > all / 20 && failed > all / 100, "{yes} hold and {failed} fail of {all}");
}

#[test]
fn what_is_unknown_is_never_told_wrong() {
    let schema = small_schema();
    let mut told = 0;
    for seed in 0..texts() {
        let mut random = Random::new(seed ^ 0xabc);
        let text = one(&mut random, 0);
        let rule = compile(&text, &schema).rules.remove(0).rule;
        for _ in 0..CALLS {
            let request = call(&mut random);
            let blurred = generator::blurred(&mut random, &request);
            match (alone(&rule, &blurred), alone(&rule, &request)) {
                (Truth::Unknown, _) => {}
                (ours, whole) => {
                    assert_eq!(ours, whole, "seed {seed}\n{text}\n{request:#?}\n{blurred:#?}");
                    told += 1;
                }
            }
        }
    }
    assert!(told > TEXTS, "{told}");
}

fn one(random: &mut Random, number: usize) -> String {
    let (head, condition) = (head(random), condition(random, 3));
    let kind = if random.below(3) == 0 { "unless" } else { "when" };
    format!("@id(\"r{number}\")\n{head}\n{kind} {{ {condition} }};\n")
}

/// What a rule alone says of a call of one part.
fn alone(rule: &Rule, request: &Request<'_>) -> Truth {
    let forbid = Rule { forbids: Some(phasegate_rules::Effect::Deny), ..rule.clone() };
    let rules = Ruleset::new(Default::Permit, vec![forbid]);
    rules.decide(request).map_or(Truth::No, |verdict| verdict.truth)
}

/// What Cedar says.
fn asked(set: &PolicySet, request: &Request<'_>) -> (Decision, Truth) {
    let uid = |kind: &str, id: &str| -> EntityUid { format!("{kind}::{id:?}").parse().unwrap() };
    let (principal, action) = (&request.principal, &request.action);
    let (agent, act, tool) = (uid("Agent", principal.id), uid("Action", action.id), uid("Tool", action.id));
    let mut fields = serde_json::Map::new();
    for (name, value) in request.context.iter().cloned().chain([("input", request.input.clone())]) {
        fields.insert(name.to_owned(), as_json(&value));
    }
    let part = &request.parts[0];
    for (name, value) in [("command", &part.command), ("path", &part.path)] {
        if let Some(value) = value {
            fields.insert(name.to_owned(), as_json(value));
        }
    }
    let context = Context::from_json_value(Json::Object(fields), None).unwrap();
    let entities = Entities::from_json_value(entities(request), None).unwrap();
    let asked = Asked::new(agent, act, tool, context, None).unwrap();
    let answer = Authorizer::new().is_authorized(&asked, set, &entities);
    let truth = if answer.diagnostics().errors().next().is_some() {
        Truth::Failed
    } else {
        Truth::of(answer.diagnostics().reason().any(|id| *id == PolicyId::new("policy0")))
    };
    (answer.decision(), truth)
}

fn entities(request: &Request<'_>) -> Json {
    let (principal, action) = (&request.principal, &request.action);
    let uid = |kind: &str, id: &str| json!({"type": kind, "id": id});
    let mut attributes =
        json!({"main": principal.main, "kind": as_json(&principal.kind), "session": principal.session});
    let mut parents = vec![uid("Session", principal.session)];
    if let Some(user) = principal.user {
        attributes["user"] = json!(user);
        parents.push(uid("User", user));
    }
    let groups: Vec<Json> = labels_of(action).iter().map(|group| uid("Action", group)).collect();
    json!([
        {"uid": uid("Agent", principal.id), "attrs": attributes, "parents": parents},
        {"uid": uid("Action", action.id), "attrs": {}, "parents": groups},
        {"uid": uid("Tool", action.id), "parents": [],
            "attrs": {"name": action.name, "server": action.server, "names": action.names, "labels": action.labels}},
    ])
}

fn as_json(value: &Value<'_>) -> Json {
    match value {
        Value::Bool(flag) => json!(flag),
        Value::Long(number) => json!(number),
        Value::Text(text) | Value::Maybe(text) => json!(text),
        Value::Among(_) | Value::Shape(_) => Json::Null,
        Value::Entity(entity) => json!({"__entity": {"type": entity.kind, "id": entity.id}}),
        Value::Set(items) => items.iter().map(as_json).collect(),
        Value::Record(fields) => fields.iter().map(|(name, value)| ((*name).to_owned(), as_json(value))).collect(),
        Value::Unknown => Json::Null,
    }
}
