//! A search through all states that any sequence of calls and outcomes leads to, by the engine itself.
//!
//! A state is abstracted to what decisions depend on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::rc::Rc;

use phasegate_core::events::event::{By, Outcome};
use phasegate_core::policy::Policy;
use phasegate_core::state::{Run, Status};
use phasegate_core::{Decision, Event, EventKind, Facts, State, step};
use serde_json::{Value, json};

/// A call that the search makes.
#[derive(Clone, Debug)]
pub(crate) struct Try {
    pub(crate) tool: String,
    pub(crate) input: Value,
    pub(crate) label: Option<&'static str>,
}

impl Try {
    pub(crate) fn new(tool: &str, input: Value) -> Self {
        Self { tool: tool.into(), input, label: None }
    }

    pub(crate) fn event(&self) -> Event {
        // A host's own tools begin with a capital letter.
        let server = self.tool.starts_with(|letter: char| letter.is_lowercase()).then(|| "lsp".to_string());
        Event::new(
            "s",
            EventKind::ToolCall {
                id: Some("c".into()),
                native: server.as_ref().map(|server| format!("mcp__{server}__{}", self.tool)),
                tool: self.tool.clone(),
                server,
                input: self.input.clone(),
                labels: self.label.map(|label| [label.to_string()].into()),
                background: false,
                analysis: Default::default(),
            },
        )
    }

    pub(crate) fn result(&self, outcome: Outcome) -> Event {
        Event::new(
            "s",
            EventKind::ToolResult {
                id: Some("c".into()),
                outcome: Some(outcome),
                ok: None,
                exit_code: Some(i64::from(outcome != Outcome::Ok)),
                output: None,
                tests: Vec::new(),
                reported: BTreeMap::new(),
                tool: None,
                input: None,
            },
        )
    }
}

pub(crate) fn do_step(policy: &Policy, state: &State, event: &Event) -> (Option<Decision>, State) {
    let outcome = step(policy, state, event, &Facts::new());
    let after = outcome.state_after(state);
    (outcome.decision, after)
}

pub(crate) fn run(state: &State) -> &Run {
    state.session.runs.iter().next_back().unwrap()
}

pub(crate) fn activated(policy: &Policy) -> State {
    let args = json!({"skill_name": policy.skills[0].name, "mode": "block"});
    let event = Event::new("s", EventKind::Command { by: By::Agent, name: "activate_skill".into(), args });
    let (refused, state) = do_step(policy, &State::default(), &event);
    assert_eq!(refused, None);
    state
}

pub(crate) fn finishes(policy: &Policy, state: &State) -> bool {
    let event = Event::new("s", EventKind::Command { by: By::Agent, name: "deactivate_skill".into(), args: json!({}) });
    let (_, after) = do_step(policy, state, &event);
    run(&after).status == Status::Finished
}

/// What decisions depend on.
fn key(state: &State) -> String {
    let run = run(state);
    let atoms = |visit: u32| run.evidence.iter().filter(|e| e.visit == visit).map(|e| e.atom).collect::<BTreeSet<_>>();
    let all: BTreeSet<u32> = run.evidence.iter().map(|e| e.atom).collect();
    let before = run.provisional.as_ref().map(|p| (p.phase.clone(), p.failed, atoms(p.visit)));
    let backs: BTreeMap<_, _> = run.backs.iter().map(|(from, to, times)| ((from, to), times)).collect();
    format!("{} {before:?} {:?} {all:?} {backs:?} {}", run.phase, atoms(run.visit), run.failed)
}

/// Where a call that is let through leads, by how it came out: the state, and its key.
type Led = [(Outcome, String, State); 2];

/// Where each call leads from a state; `None` where it is denied, or ends the run.
fn lead(policy: &Policy, state: &State, tries: &[Try]) -> Vec<Option<Led>> {
    let led = |attempt: &Try| {
        let (decision, called) = do_step(policy, state, &attempt.event());
        if !decision.unwrap().lets_through() {
            assert_eq!(run(&called).phase, run(state).phase, "a denied call moves nothing");
            return None;
        }
        if run(&called).status != Status::Active {
            // All is done and the call belongs to no phase: the run ends with it.
            assert!(finishes(policy, state), "{} ends a run that is not finished", attempt.tool);
            return None;
        }
        Some([Outcome::Ok, Outcome::Failed].map(|outcome| {
            let (_, mut after) = do_step(policy, &called, &attempt.result(outcome));
            forget(&mut after);
            (outcome, key(&after), after)
        }))
    };
    tries.iter().map(led).collect()
}

/// What the search found.
#[derive(Default)]
pub(crate) struct Searched {
    pub(crate) states: Vec<(State, BTreeSet<String>)>,
    /// From each state to which ones.
    pub(crate) edges: Vec<BTreeSet<usize>>,
    /// Calls that were let through: tool, arguments, what had succeeded before.
    pub(crate) allowed: BTreeSet<(String, String, Vec<String>)>,
}

/// Searches all states of the first skill. `counted`: the tools whose success since the start is kept as part of a state,
/// apart from the engine's own evidence. The engine is asked once for all states that it takes for the same.
pub(crate) fn search(policy: &Policy, tries: &[Try], counted: &BTreeSet<&str>) -> Searched {
    let mut found = Searched::default();
    let mut known: BTreeMap<(String, BTreeSet<String>), usize> = BTreeMap::new();
    let mut asked: BTreeMap<String, Rc<Vec<Option<Led>>>> = BTreeMap::new();
    let mut queue = VecDeque::new();
    let start = activated(policy);
    let first = key(&start);
    known.insert((first.clone(), BTreeSet::new()), 0);
    found.states.push((start, BTreeSet::new()));
    found.edges.push(BTreeSet::new());
    queue.push_back((0, first));
    while let Some((at, key)) = queue.pop_front() {
        let (state, ok) = found.states[at].clone();
        let led = Rc::clone(asked.entry(key).or_insert_with(|| Rc::new(lead(policy, &state, tries))));
        for (attempt, led) in tries.iter().zip(led.iter()) {
            let Some(led) = led else { continue };
            found.allowed.insert((attempt.tool.clone(), attempt.input.to_string(), ok.iter().cloned().collect()));
            for (outcome, key, after) in led {
                let mut ok = ok.clone();
                if *outcome == Outcome::Ok && counted.contains(attempt.tool.as_str()) {
                    ok.insert(attempt.tool.clone());
                }
                let next = *known.entry((key.clone(), ok.clone())).or_insert_with(|| {
                    found.states.push((after.clone(), ok));
                    found.edges.push(BTreeSet::new());
                    queue.push_back((found.states.len() - 1, key.clone()));
                    found.states.len() - 1
                });
                found.edges[at].insert(next);
            }
        }
        assert!(found.states.len() < 200_000, "the search does not end");
    }
    found
}

/// Takes out what no decision depends on.
fn forget(state: &mut State) {
    state.session.calls.clear();
    state.session.obligations.clear();
    state.session.runs.iter_mut().last().unwrap().history = Default::default();
}
