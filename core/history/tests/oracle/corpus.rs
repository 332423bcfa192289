//! Dogwood's corpus: the verdicts it expects, and every condition at every event.

use dogwood_language::corpus::{self, CorpusTrace};
use dogwood_language::{
    Authorizer, Decision, InMemoryTemporalEngine, LoweredPolicySet, PolicySchema, ServiceSchema, TemporalEngine,
    UNPINNED_EVENT_SCHEMA, parse_trace,
};
use phasegate_history::compile::{Schemas, compile, leaf, suspect};
use phasegate_history::{Scope, Vacuity};

use crate::monitors::Monitors;

struct Case {
    name: String,
    policy: String,
    actions: String,
    events: Option<String>,
    macros: Option<String>,
    traces: Vec<CorpusTrace>,
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for case in corpus::temporal_cases().into_iter().filter(|case| !case.is_parse_rejected()) {
        cases.push(Case {
            name: case.name,
            policy: case.policy_src,
            actions: case.schema_src,
            events: case.event_schema_src,
            macros: None,
            traces: case.traces,
        });
    }
    assert_eq!(cases.len(), 577, "the temporal cases of the corpus");
    for case in corpus::macro_cases() {
        cases.push(Case {
            name: format!("macro {}", case.name),
            policy: case.policy_src,
            actions: case.schema_src,
            events: case.event_schema_src,
            macros: case.macros_src,
            traces: case.traces,
        });
    }
    for case in corpus::mixed_cases() {
        cases.push(Case {
            name: format!("mixed {}", case.name),
            policy: case.policy_src,
            actions: case.schema_src,
            events: case.event_schema_src,
            macros: None,
            traces: case.traces,
        });
    }
    cases
}

impl Case {
    fn lowered(&self) -> LoweredPolicySet {
        let actions = PolicySchema::from_cedarschema_str(&self.actions).unwrap();
        let mut service =
            ServiceSchema::builder().event_schema_str(self.events.as_deref().unwrap_or(UNPINNED_EVENT_SCHEMA));
        if let Some(macros) = &self.macros {
            service = service.macros_str(macros);
        }
        LoweredPolicySet::from_str(&self.policy, &service.build().unwrap(), &actions).unwrap()
    }

    /// The decisions with the monitors, as the corpus writes them.
    fn decisions(&self, log: &str, partitioned: bool) -> Result<Vec<String>, String> {
        let mut builder = Authorizer::builder(self.lowered()).temporal_engine(Monitors::default());
        if partitioned {
            builder = builder.partition_temporal();
        }
        let mut authorizer = builder.build().map_err(|error| error.to_string())?;
        let mut lines = Vec::new();
        for (number, event) in parse_trace(log).unwrap().iter().enumerate() {
            if let Some(response) = authorizer.is_authorized(event) {
                let allowed = response.decision() == Decision::Allow;
                lines.push(format!("@{} (time point {number}): {allowed}", event.timestamp()));
            }
        }
        Ok(lines)
    }

    /// Compares every condition at every event, decided or not.
    fn differences(&self, lowered: &LoweredPolicySet, log: &str) -> Result<(usize, Vec<String>), String> {
        let partitioned = !lowered.partition_keys().is_empty();
        let fields: Vec<_> = lowered.nonrelativized_temporal_fields().cloned().collect();
        let mut engines: (InMemoryTemporalEngine, Monitors) = Default::default();
        if partitioned {
            engines.0.set_partition_keys(lowered.partition_keys());
            engines.1.set_partition_keys(lowered.partition_keys());
        }
        engines.0.prepare(&fields, lowered.cedar_schema(), &[]).unwrap();
        engines.1.prepare(&fields, lowered.cedar_schema(), &[]).map_err(|error| error.to_string())?;
        let (mut compared, mut differences) = (0, Vec::new());
        for (number, event) in parse_trace(log).unwrap().iter().enumerate() {
            engines.0.observe(event);
            engines.1.observe(event);
            let (wanted, found) = (engines.0.evaluate(), engines.1.evaluate());
            compared += fields.len();
            if wanted != found {
                differences.push(format!("{} at {number}: {wanted:?} but {found:?}", self.name));
            }
        }
        Ok((compared, differences))
    }
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(|line| line.trim().to_string()).filter(|line| !line.is_empty()).collect()
}

/// Of which conditions a trace of the corpus shows that they are wrongly called vacuous.
#[derive(Default)]
struct Suspicions {
    looked_at: usize,
    suspected: usize,
    wrong: Vec<String>,
}

impl Suspicions {
    fn look_at(&mut self, case: &Case, lowered: &LoweredPolicySet) {
        let fields: Vec<_> = lowered.nonrelativized_temporal_fields().cloned().collect();
        let kinds: Vec<&str> = lowered.decision_kinds().collect();
        let mut seen = vec![[false; 2]; fields.len()];
        for trace in &case.traces {
            let mut engine = InMemoryTemporalEngine::new();
            engine.prepare(&fields, lowered.cedar_schema(), &[]).unwrap();
            for event in parse_trace(&trace.trace_log).unwrap() {
                engine.observe(&event);
                let held = engine.evaluate().unwrap();
                for (field, seen) in fields.iter().zip(&mut seen) {
                    let own = field.target_actions.iter().any(|action| action.id == event.action());
                    seen[usize::from(held[&field.id])] |= own && kinds.contains(&event.kind());
                }
            }
        }
        for (field, seen) in fields.iter().zip(seen) {
            self.looked_at += 1;
            let suspicion = suspect(field, &leaf(field, Scope::Session).unwrap(), &kinds);
            self.suspected += usize::from(suspicion.is_some());
            let refuted = match suspicion {
                Some(Vacuity::Never) => seen[1],
                Some(Vacuity::Always) => seen[0],
                None => false,
            };
            if refuted {
                self.wrong.push(format!("{}: {suspicion:?}", case.name));
            }
        }
    }

    fn report(&self) {
        println!("vacuity: {} conditions, {} suspected, wrongly {:?}", self.looked_at, self.suspected, self.wrong);
        assert!(self.wrong.len() * 50 <= self.looked_at, "at most 2 % false alarms");
    }
}

/// Every `HISTORY_CASES`th case is played; 1 plays all.
#[test]
fn the_corpus_has_no_difference() {
    let step = std::env::var("HISTORY_CASES").map_or(3, |text| text.parse().unwrap());
    let mut suspicions = Suspicions::default();
    // Every decision is made from rules that are lowered anew, which takes minutes without optimization.
    let decide = std::env::var_os("HISTORY_DECISIONS").is_some();
    let (mut played, mut traces, mut compared, mut with_scripts) = (0, 0, 0, 0);
    let (mut excluded, mut differences) = (Vec::new(), Vec::new());
    for case in cases().into_iter().step_by(step) {
        played += 1;
        let lowered = case.lowered();
        suspicions.look_at(&case, &lowered);
        let keys = !lowered.partition_keys().is_empty();
        // Their decisions depend on scripts.
        let scripted = lowered.provider_fields().next().is_some();
        with_scripts += usize::from(scripted);
        for trace in &case.traces {
            traces += 1;
            let modes: &[bool] = if keys { &[false, true] } else { &[false] };
            for partitioned in modes.iter().filter(|_| decide && !scripted) {
                match case.decisions(&trace.trace_log, *partitioned) {
                    Ok(found) if found == lines(&trace.expected) => {}
                    Ok(found) => differences.push(format!("{} trace {}: {found:?}", case.name, trace.index)),
                    Err(reason) => excluded.push(format!(
                        "{} ({}): {reason}",
                        case.name,
                        if *partitioned { "parted" } else { "whole" }
                    )),
                }
            }
            match case.differences(&lowered, &trace.trace_log) {
                Ok((conditions, found)) => {
                    compared += conditions;
                    differences.extend(found);
                }
                Err(reason) => excluded.push(format!("{}: {reason}", case.name)),
            }
        }
    }
    excluded.sort();
    excluded.dedup();
    println!(
        "corpus: {played} cases, {traces} traces, {compared} conditions compared, {} differences",
        differences.len()
    );
    println!("excluded: {}; {with_scripts} cases with scripts: conditions only", excluded.len());
    excluded.iter().for_each(|reason| println!("  {reason}"));
    assert!(differences.is_empty(), "{differences:#?}");
    assert!(excluded.is_empty(), "no case needs more than a monitor keeps");
    suspicions.report();
}

#[test]
fn what_dogwood_rejects_is_rejected() {
    let rejected: Vec<_> = corpus::temporal_cases().into_iter().filter(|case| case.is_parse_rejected()).collect();
    let mut accepted = Vec::new();
    for case in &rejected {
        let events = case.event_schema_src.as_deref().unwrap_or(UNPINNED_EVENT_SCHEMA);
        match compile("it", &case.policy_src, Schemas { actions: &case.schema_src, events }) {
            Ok(_) => accepted.push(case.name.clone()),
            Err(problems) => assert!(problems.iter().all(|problem| !problem.message.is_empty()), "{}", case.name),
        }
    }
    println!("rejected: {} cases", rejected.len());
    assert!(accepted.is_empty(), "{accepted:#?}");
}
