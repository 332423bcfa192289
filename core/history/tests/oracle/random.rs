//! Random conditions over random traces, in batches on all cores. `HISTORY_TRACES` says how many traces, and
//! `HISTORY_BATCH` with which batch to begin: each batch has a generator of its own, so a difference can be found again.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use dogwood_language::{
    InMemoryTemporalEngine, LoweredPolicySet, PolicySchema, ServiceSchema, Temporal, TemporalEngine, TemporalField,
    dummy_span, parse_trace,
};

use crate::generator::{ACTION_SCHEMA, Conditions, EVENT_SCHEMA, Random, trace};
use crate::monitors::Monitors;

const CONDITIONS: usize = 6;
/// How many traces a batch has.
const BATCH: u64 = 20;

/// What was compared.
#[derive(Default)]
struct Tally {
    traces: u64,
    compared: u64,
    held: u64,
    offered: u64,
    refused: u64,
    largest: usize,
    operators: BTreeMap<&'static str, u64>,
}

impl Tally {
    fn add(&mut self, other: Self) {
        self.traces += other.traces;
        self.compared += other.compared;
        self.held += other.held;
        self.offered += other.offered;
        self.refused += other.refused;
        self.largest = self.largest.max(other.largest);
        for (word, count) in other.operators {
            *self.operators.entry(word).or_default() += count;
        }
    }

    /// Conditions that Dogwood accepts, lowered.
    fn conditions(&mut self, random: &mut Random) -> (Vec<String>, LoweredPolicySet) {
        let mut texts = Vec::new();
        while texts.len() < CONDITIONS {
            self.offered += 1;
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
}

/// Plays a batch. The error is the first difference.
fn play(batch: u64, traces: u64) -> Result<Tally, String> {
    let mut random = Random(batch.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let mut tally = Tally::default();
    let (texts, lowered) = tally.conditions(&mut random);
    for word in ["formerly", "since", "previous", "exists", "count", "sum", "tp(", "!(", "&&"] {
        let count = texts.iter().map(|text| text.matches(word).count() as u64).sum();
        tally.operators.insert(word, count);
    }
    let mut fields: Vec<TemporalField> = lowered.nonrelativized_temporal_fields().cloned().collect();
    fields.retain(|field| {
        let known = phasegate_history::compile::leaf(field, phasegate_history::Scope::Session).is_ok();
        tally.refused += u64::from(!known);
        known
    });
    for _ in 0..traces {
        let log = trace(&mut random);
        let mut wanted = InMemoryTemporalEngine::new();
        let mut found = Monitors::default();
        wanted.prepare(&fields, lowered.cedar_schema(), &[]).unwrap();
        found.prepare(&fields, lowered.cedar_schema(), &[]).unwrap();
        for event in parse_trace(&log).unwrap() {
            wanted.observe(&event);
            found.observe(&event);
            let (wanted, found) = (wanted.evaluate().unwrap(), found.evaluate().unwrap());
            tally.compared += wanted.len() as u64;
            tally.held += wanted.values().filter(|holds| **holds).count() as u64;
            if wanted != found {
                let texts = texts.join("\n");
                return Err(format!(
                    "batch {batch}: the oracle says {wanted:?}, the monitors {found:?}\n{texts}\n{log}"
                ));
            }
        }
        tally.traces += 1;
        tally.largest = tally.largest.max(found.states().len());
    }
    Ok(tally)
}

fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

#[test]
fn random_traces_have_no_difference() {
    let (traces, first) = (setting("HISTORY_TRACES", 1000), setting("HISTORY_BATCH", 1));
    let (batches, next) = (traces.div_ceil(BATCH), AtomicU64::new(0));
    let (total, difference) = (Mutex::new(Tally::default()), Mutex::new(None));
    let work = || {
        loop {
            let batch = next.fetch_add(1, Ordering::Relaxed);
            if batch >= batches || difference.lock().unwrap().is_some() {
                break;
            }
            match play(first + batch, BATCH.min(traces - batch * BATCH)) {
                Ok(tally) => {
                    let mut total = total.lock().unwrap();
                    let before = total.traces;
                    total.add(tally);
                    // One line for each tenth, so that a long comparison is seen to go on.
                    if traces >= 10_000 && before * 10 / traces != total.traces * 10 / traces {
                        eprintln!("random: {} of {traces} traces, no difference so far", total.traces);
                    }
                }
                Err(found) => *difference.lock().unwrap() = Some(found),
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
    let difference = difference.into_inner().unwrap();
    assert!(difference.is_none(), "{}", difference.unwrap_or_default());
    let Tally { traces: played, compared, held, offered, refused, largest, operators } = total.into_inner().unwrap();
    assert_eq!(played, traces, "a thread failed");
    println!("random: {played} traces, {compared} conditions compared ({held} held), 0 differences");
    println!(
        "  {offered} conditions offered, {refused} accepted ones beyond a stated limit; largest states {largest} bytes"
    );
    println!("  {operators:?}");
    assert!(held > compared / 50 && held < compared - compared / 50, "conditions that hold, and ones that do not");
}
