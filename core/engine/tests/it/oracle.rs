//! An independent model of rules 3.1 to 3.3, compared with `step` on random policies and sessions.
//!
//! The model is written from the text alone and as simply as possible. It keeps a log of all events and reads it from
//! the beginning for every question. It walks all paths where the engine searches.
//!
//! Where the text is open, both interpret it in this way:
//!
//! * a last phase is one that no edge leaves; a run can also end where only optional phases could follow;
//! * a call that breaks a rule ends a run only if its `done_when` holds; without one the agent may deactivate it;
//! * a call that belongs to a phase to come never ends a run, optional as that phase may be, and neither does one that
//!   the skill forbids everywhere;
//! * the end of the last phase ends a run with `leave: on_done`, and a failure there takes its `on_failure`;
//! * an `early` edge may be taken from the current phase, not from one that is passed over;
//! * under `not` a call that is in doubt counts as one that matches;
//! * completion passes over optional phases whose condition holds, and asks nothing of them;
//! * what the file has between two phases is skipped where an edge leads past it;
//! * a phase failed if the newest call that its `done_when` wants to succeed or end did; where it wants none, if the
//!   newest listed call that does not only read did;
//! * a failure wins over `done_when` where a rollback edge waits for it;
//! * a name waits for approval if approving it now would change what the run may do next;
//! * a return to a phase that rollback edges lead to is a step along one of them, failed or not;
//! * a phase that was returned to is not left by returning again, and a phase entered by a rollback edge never is;
//! * batch, prompt and stop close the calls of their own agent, the end of a subagent also what it launched;
//! * a session that starts, and is not merely compacted, closes the calls of all;
//! * only the tool's own labels make a call one that runs programs; an exit status other than 0 always fails it;
//! * a run that a call begins is judged with all others once more, and a call that a run denies begins none;
//! * a run that is done as it begins is over before it judges the call;
//! * a session whose start was not seen begins the runs of `session` with its first event;
//! * a globally forbidden call that warn mode let through is not one that the phase lists.
//!
//! `PROPTEST_CASES=200000 cargo test --release -p phasegate-core --test it oracle` runs as many cases.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

mod inheritance;
mod matching;
mod model;
mod moves;
mod random;
mod rules;
mod sessions;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use model::World;
use phasegate_core::events::event::By;
use phasegate_core::evidence::fact::{Fact, FactKey, FactValue};
use phasegate_core::policy::Start;
use phasegate_core::state::{Project, Run, Session, Status};
use phasegate_core::{Code, Event, EventKind, Facts, Policy, State, step};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rules::Answer;

/// Where a run stands: skill, phase, status, visits that still count, skipped phases.
type Stand = (String, String, Status, u32, Vec<(String, By)>);

fn stands(runs: &[Run]) -> Vec<Stand> {
    let skipped = |run: &Run| run.skipped.iter().map(|one| (one.phase.clone(), one.by)).collect();
    runs.iter().map(|run| (run.skill.clone(), run.phase.clone(), run.status, run.visit, skipped(run))).collect()
}

fn modelled(world: &World, session: &str) -> Vec<Stand> {
    let stand = |run: usize| {
        let (skill, phase, run) = (world.skill(run), world.phase(run), &world.runs[run]);
        (skill.name.clone(), phase.name.clone(), run.status, run.stay().visit, run.skipped.clone())
    };
    world.scope(session).into_iter().map(stand).collect()
}

/// Plays the events to both; what differs first, if anything does.
fn differ(policy: &Policy, events: &[(Event, Facts)]) -> Option<String> {
    let mut world = World::new(policy.clone());
    let (mut project, mut sessions) = (Project::default(), BTreeMap::<String, Session>::new());
    let mut story = String::new();
    for (event, facts) in events {
        let _ = writeln!(story, "{}   file: {:?}", event.to_value(), facts.values().next().map(|fact| &fact.value));
        world.facts.clone_from(facts);
        let session = sessions.remove(&event.session).unwrap_or_default();
        let mut state = State { session, project };
        let next = step(policy, &state, event, facts);
        next.apply_to(&mut state);
        let expected = world.hear(event);
        let lines = expected.as_ref().map(|answer| answer.lines.clone()).unwrap_or_default();
        let got = next.decision.as_ref().map(|is| {
            let agrees = lines.is_empty() || is.line.is_some_and(|line| lines.contains(&line));
            let lines = if agrees { lines } else { is.line.into_iter().collect() };
            Answer { effect: is.effect, code: is.code, lines }
        });
        // What keeps an agent from stopping is judged by suggestions too, which the model has not.
        let (got, expected) = if let EventKind::Stop { can_hold, .. } = event.kind {
            let held = got.as_ref().is_some_and(|answer| answer.code == Some(Code::Unfinished));
            if got.is_some() != held || (held && !(can_hold && world.is_unfinished(&event.session))) {
                return Some(format!("{story}nothing is unfinished, the engine {got:?}"));
            }
            (None, None)
        } else {
            (got, expected)
        };
        if got != expected {
            return Some(format!("{story}the text says {expected:?}, the engine {got:?}"));
        }
        let runs: Vec<Run> = state.project.runs.iter().chain(&state.session.runs).cloned().collect();
        let (got, expected) = (stands(&runs), modelled(&world, &event.session));
        if got != expected {
            return Some(format!("{story}the text says\n {expected:?}, the engine\n {got:?}"));
        }
        let open = world.outcomes(&event.session).values().filter(|outcome| outcome.is_none()).count();
        if open != state.session.calls.len() {
            return Some(format!("{story}the text says {open} open calls, the engine {:?}", state.session.calls));
        }
        sessions.insert(event.session.clone(), state.session);
        project = state.project;
    }
    None
}

/// As many cases as `PROPTEST_CASES` says, or as a few seconds allow.
fn config() -> ProptestConfig {
    let told = ProptestConfig { max_shrink_iters: 20_000, failure_persistence: None, ..ProptestConfig::default() };
    if std::env::var_os("PROPTEST_CASES").is_some() { told } else { ProptestConfig { cases: 400, ..told } }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn a_joined_run_decides_as_the_one_that_it_is_a_copy_of(genes in random::genes()) {
        let (mut policy, events) = (random::policy(&genes), sessions::events(&genes));
        // A session begins runs of its own where the other's have ended.
        policy.skills.iter_mut().for_each(|skill| skill.start = Start::by_default());
        let found = inheritance::differ(&policy, &events);
        prop_assert!(found.is_none(), "{}\n{}", serde_json::to_string(&policy).unwrap(), found.unwrap());
    }

    #[test]
    fn the_engine_decides_as_the_text_says(genes in random::genes()) {
        let (policy, events) = (random::policy(&genes), sessions::events(&genes));
        if let Some(found) = differ(&policy, &events) {
            let policy = serde_json::to_string(&policy).unwrap();
            prop_assert!(false, "{}\n{}", policy, found);
        }
    }
}

/// Each file of `found` has a policy, and below it the events of a session in which the two once differed.
#[test]
fn what_once_differed_agrees() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/oracle/found");
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let mut lines = text.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let policy: Policy = serde_json::from_value(lines.next().unwrap()).unwrap();
        let absent = Facts::from([(FactKey::new("file", &"f".into()), Fact::from(FactValue::Absent))]);
        let events: Vec<_> = lines.map(|line| (Event::from_value(line).unwrap(), absent.clone())).collect();
        let found = differ(&policy, &events);
        assert!(found.is_none(), "{}: {}", path.display(), found.unwrap());
    }
}

#[test]
fn random_sessions_come_to_every_line() {
    let mut seen = BTreeMap::<String, u32>::new();
    let mut runner = TestRunner::deterministic();
    for _ in 0..1_500 {
        let genes = random::genes().new_tree(&mut runner).unwrap().current();
        let mut world = World::new(random::policy(&genes));
        for (event, facts) in sessions::events(&genes) {
            world.facts = facts;
            let answer = world.hear(&event);
            for line in answer.iter().flat_map(|answer| &answer.lines) {
                *seen.entry(format!("{line:?}")).or_default() += 1;
            }
            if let Some(code) = answer.and_then(|answer| answer.code) {
                *seen.entry(code.id().to_string()).or_default() += 1;
            }
        }
        for run in &world.runs {
            if run.by_call {
                *seen.entry("begun by a call".to_string()).or_default() += 1;
            }
            *seen.entry(format!("{:?} after {} visits", run.status, run.visits.min(4))).or_default() += 1;
        }
    }
    let lines = ["Allowed", "Returned", "Entered", "Back", "Unlisted", "GlobalForbidden", "NotDone", "Forbidden"];
    let ends = [
        "begun by a call",
        "UnlistedDenied",
        "Finished after 1 visits",
        "Finished after 2 visits",
        "Active after 4 visits",
    ];
    for wanted in lines.iter().chain(&ends) {
        assert!(seen.get(*wanted).is_some_and(|times| *times > 10), "{wanted} is seen too seldom: {seen:?}");
    }
}
