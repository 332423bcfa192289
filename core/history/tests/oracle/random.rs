//! Random conditions over random traces. `HISTORY_TRACES` says how many traces, `HISTORY_SEED` where to begin.

use std::collections::BTreeMap;

use dogwood_language::{
    InMemoryTemporalEngine, LoweredPolicySet, PolicySchema, ServiceSchema, Temporal, TemporalEngine, TemporalField,
    dummy_span, parse_trace,
};

use crate::generator::{ACTION_SCHEMA, Conditions, EVENT_SCHEMA, Random, trace};
use crate::monitors::Monitors;

const CONDITIONS: usize = 6;
const TRACES_EACH: usize = 20;

/// Conditions that Dogwood accepts, lowered.
fn conditions(random: &mut Random, offered: &mut usize) -> (Vec<String>, LoweredPolicySet) {
    let mut texts = Vec::new();
    while texts.len() < CONDITIONS {
        *offered += 1;
        let text = Conditions::new(random).condition();
        if Temporal::parse(&text, dummy_span()).is_ok() {
            texts.push(text);
        }
    }
    let rule = |text: &String| {
        format!("permit(principal, action == G::Action::\"Edit\", resource) when temporal {{ {text} }};\n")
    };
    let policy: String = texts.iter().map(rule).collect();
    let service = ServiceSchema::builder().event_schema_str(EVENT_SCHEMA).build().unwrap();
    let actions = PolicySchema::from_cedarschema_str(ACTION_SCHEMA).unwrap();
    let lowered =
        LoweredPolicySet::from_str(&policy, &service, &actions).unwrap_or_else(|error| panic!("{error}\n{policy}"));
    (texts, lowered)
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn random_traces_have_no_difference() {
    let traces = usize::try_from(setting("HISTORY_TRACES", 1000)).unwrap();
    let mut random = Random(setting("HISTORY_SEED", 1));
    let (mut played, mut compared, mut held, mut offered, mut refused) = (0, 0_u64, 0_u64, 0, 0);
    let mut largest = 0;
    let mut operators: BTreeMap<&str, u64> = BTreeMap::new();
    while played < traces {
        let (texts, lowered) = conditions(&mut random, &mut offered);
        for (word, count) in words(&texts) {
            *operators.entry(word).or_default() += count;
        }
        let mut fields: Vec<TemporalField> = lowered.nonrelativized_temporal_fields().cloned().collect();
        fields.retain(|field| {
            let known = phasegate_history::compile::leaf(field, phasegate_history::Scope::Session).is_ok();
            refused += usize::from(!known);
            known
        });
        for _ in 0..TRACES_EACH.min(traces - played) {
            played += 1;
            let log = trace(&mut random);
            let mut wanted = InMemoryTemporalEngine::new();
            let mut found = Monitors::default();
            wanted.prepare(&fields, lowered.cedar_schema(), &[]).unwrap();
            found.prepare(&fields, lowered.cedar_schema(), &[]).unwrap();
            for event in parse_trace(&log).unwrap() {
                wanted.observe(&event);
                found.observe(&event);
                let (wanted, found) = (wanted.evaluate().unwrap(), found.evaluate().unwrap());
                compared += wanted.len() as u64;
                held += wanted.values().filter(|holds| **holds).count() as u64;
                assert_eq!(wanted, found, "\n{}\n{log}", texts.join("\n"));
            }
            largest = largest.max(found.states().len());
        }
    }
    println!("random: {played} traces, {compared} conditions compared ({held} held), 0 differences");
    println!(
        "  {offered} conditions offered, {refused} accepted ones beyond a stated limit; largest states {largest} bytes"
    );
    println!("  {operators:?}");
    assert!(held > compared / 50 && held < compared - compared / 50, "conditions that hold, and ones that do not");
}

fn words(texts: &[String]) -> Vec<(&'static str, u64)> {
    let counted = ["formerly", "since", "previous", "exists", "count", "sum", "tp(", "!(", "&&"];
    counted.map(|word| (word, texts.iter().map(|text| text.matches(word).count() as u64).sum())).into()
}
