//! Named laws over random skills and sequences of events.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    reason = "tests"
)]

use std::collections::BTreeSet;

use phasegate_core::events::event::{By, Outcome};
use phasegate_core::evidence::condition::{CallTest, Condition, Wanted};
use phasegate_core::policy::matcher::{Matcher, ServerPattern, ToolPattern};
use phasegate_core::policy::{
    DenialText, Edge, Leave, LeaveSkill, Mode, Optional, Phase, Scope, Skill, Start, Unlisted,
};
use phasegate_core::state::{HISTORY, KEPT};
use phasegate_core::{Decision, Effect, Event, EventKind, Facts, Policy, State, step};
use proptest::prelude::*;
use serde_json::json;

const TOOLS: [&str; 6] = ["a", "b", "c", "ab", "abc", "Read"];
const PATTERNS: [&str; 7] = ["a", "b", "c", "ab*", "a*", "*", "Read"];

fn matcher(text: &str) -> Matcher {
    let tool = match text.strip_suffix('*') {
        Some("") => ToolPattern::Any,
        Some(prefix) => ToolPattern::Prefix(prefix.into()),
        None => ToolPattern::Exact(text.into()),
    };
    Matcher {
        text: text.into(),
        tool,
        server: ServerPattern::Bare,
        args: vec![],
        commands: Vec::new(),
        paths: vec![],
        invokes: None,
        agent: None,
        except: Vec::new(),
    }
}

#[derive(Clone, Debug)]
struct Sketch {
    global: BTreeSet<usize>,
    phases: Vec<(BTreeSet<usize>, BTreeSet<usize>, Option<usize>)>,
}

fn patterns(most: usize) -> impl Strategy<Value = BTreeSet<usize>> {
    prop::collection::btree_set(0..PATTERNS.len(), 0..=most)
}

fn sketch(evidence: bool) -> impl Strategy<Value = Sketch> {
    let done = if evidence { prop::option::of(0..PATTERNS.len()).boxed() } else { Just(None).boxed() };
    let phase = (patterns(3), patterns(2), done);
    (patterns(1), prop::collection::vec(phase, 1..5)).prop_map(|(global, phases)| Sketch { global, phases })
}

fn list(places: &BTreeSet<usize>) -> Vec<Matcher> {
    places.iter().map(|place| matcher(PATTERNS[*place])).collect()
}

fn policy(sketch: &Sketch, mode: Mode) -> Policy {
    let last = sketch.phases.len() - 1;
    let phases = sketch.phases.iter().enumerate().map(|(index, (allowed, forbidden, done))| Phase {
        name: format!("p{index}"),
        task: String::new(),
        allowed: list(allowed),
        forbidden: list(forbidden),
        line_requires: Vec::new(),
        forbidden_until: Vec::new(),
        steps: None,
        requires: None,
        done_when: done.map(|place| {
            Condition::Call(CallTest {
                atom: index as u32,
                wanted: Wanted::Outcome(Outcome::Ok),
                matcher: matcher(PATTERNS[place]),
                unchanged: None,
                written: None,
                same: Vec::new(),
            })
        }),
        failed_when: None,
        confine: None,
        optional: Optional::No,
        skip_text: String::new(),
        leave: Leave::OnCall,
        next: if index == last { vec![] } else { vec![Edge { to: index + 1, when: None, early: false }] },
        back: vec![],
        produces: vec![],
        done_by: None,
        run: None,
        unlisted: None,
    });
    let skill = Skill {
        name: "s".into(),
        description: String::new(),
        version: "v".into(),
        compat: true,
        mode: Some(mode),
        scope: Scope::Session,
        unlisted: Unlisted::Allow,
        unlisted_lines: vec![],
        leave_skill: LeaveSkill::Agent,
        finish_required: false,
        on_violation: Default::default(),
        confine: None,
        start: Start::by_default(),
        servers: vec![],
        tools: vec![],
        inputs: vec![],
        instance_of: None,
        children: Vec::new(),
        artifacts: Vec::new(),
        denial_text: DenialText::Standard,
        global_forbidden: list(&sketch.global),
        phases: phases.collect(),
    };
    Policy { version: "v".into(), skills: vec![skill], ..Policy::default() }
}

fn call(tool: &str, id: usize) -> Event {
    let line = json!({"event": "tool_call", "tool": tool, "id": id.to_string()});
    Event::from_value(line).unwrap()
}

fn result(id: usize, ok: bool) -> Event {
    Event::from_value(json!({"event": "tool_result", "ok": ok, "id": id.to_string()})).unwrap()
}

/// The answer to an event, and the state after it.
struct Played {
    decision: Option<Decision>,
    state: State,
}

fn go(policy: &Policy, state: &State, event: &Event) -> Played {
    let outcome = step(policy, state, event, &Facts::new());
    let state = outcome.state_after(state);
    Played { decision: outcome.decision, state }
}

fn begun(policy: &Policy) -> State {
    let kind = EventKind::Skill { name: "s".into(), args: None, by: By::Agent };
    go(policy, &State::default(), &Event::new("x", kind)).state
}

/// The five rules of the original, as its own tracker applies them: an index and nothing else.
fn seed_rules(sketch: &Sketch, index: &mut usize, tool: &str) -> bool {
    let has = |places: &BTreeSet<usize>| {
        places.iter().any(|place| match PATTERNS[*place].strip_suffix('*') {
            Some(prefix) => tool.starts_with(prefix),
            None => tool == PATTERNS[*place],
        })
    };
    let (allowed, forbidden, _) = &sketch.phases[*index];
    if has(&sketch.global) || has(forbidden) {
        return false;
    }
    if !has(allowed)
        && let Some(later) = (*index + 1..sketch.phases.len()).find(|later| has(&sketch.phases[*later].0))
    {
        *index = later;
    }
    true
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn without_evidence_the_table_is_the_seeds_five_rules(
        sketch in sketch(false),
        calls in prop::collection::vec(0..TOOLS.len(), 1..12),
    ) {
        let policy = policy(&sketch, Mode::Block);
        let (mut state, mut index) = (begun(&policy), 0);
        for (id, tool) in calls.into_iter().enumerate() {
            let step = go(&policy, &state, &call(TOOLS[tool], id));
            let allowed = seed_rules(&sketch, &mut index, TOOLS[tool]);
            prop_assert_eq!(step.decision.unwrap().effect == Effect::Allow, allowed, "tool {}", TOOLS[tool]);
            prop_assert_eq!(&step.state.session.runs[0].phase, &format!("p{index}"));
            state = step.state;
        }
    }

    #[test]
    fn no_phase_with_evidence_is_left_before_it_is_seen(
        sketch in sketch(true),
        calls in prop::collection::vec((0..TOOLS.len(), prop::option::of(any::<bool>())), 1..16),
    ) {
        let policy = policy(&sketch, Mode::Block);
        let mut state = begun(&policy);
        let mut proven = vec![false; sketch.phases.len()];
        for (id, (tool, outcome)) in calls.into_iter().enumerate() {
            let before: usize = state.session.runs[0].phase[1..].parse().unwrap();
            state = go(&policy, &state, &call(TOOLS[tool], id)).state;
            let after: usize = state.session.runs[0].phase[1..].parse().unwrap();
            for (passed, seen) in proven.iter().enumerate().take(after).skip(before) {
                prop_assert!(sketch.phases[passed].2.is_none() || *seen, "p{} was left without evidence", passed);
            }
            if let Some(ok) = outcome {
                let open = !state.session.calls.is_empty();
                state = go(&policy, &state, &result(id, ok)).state;
                let wanted = sketch.phases[after].2.map(|place| matcher(PATTERNS[place]));
                let fits = wanted.is_some_and(|wanted| match &wanted.tool {
                    ToolPattern::Exact(name) => name == TOOLS[tool],
                    ToolPattern::Prefix(prefix) => TOOLS[tool].starts_with(prefix.as_str()),
                    _ => true,
                });
                proven[after] |= ok && open && fits;
            }
        }
    }

    #[test]
    fn a_violation_moves_nothing_in_either_mode(
        sketch in sketch(true),
        calls in prop::collection::vec(0..TOOLS.len(), 1..12),
        block in any::<bool>(),
    ) {
        let policy = policy(&sketch, if block { Mode::Block } else { Mode::Warn });
        let mut state = begun(&policy);
        for (id, tool) in calls.into_iter().enumerate() {
            let step = go(&policy, &state, &call(TOOLS[tool], id));
            let decision = step.decision.unwrap();
            if decision.code.is_some() {
                prop_assert_eq!(decision.effect, if block { Effect::Deny } else { Effect::Warn });
                let (before, after) = (&state.session.runs[0], &step.state.session.runs[0]);
                prop_assert_eq!((&before.phase, before.visit, &before.evidence), (&after.phase, after.visit, &after.evidence));
                prop_assert!(!decision.reason.is_empty() && !decision.recovery.is_empty());
            }
            state = step.state;
        }
    }

    #[test]
    fn the_order_of_a_list_does_not_matter(sketch in sketch(true), calls in prop::collection::vec(0..TOOLS.len(), 1..8)) {
        let straight = policy(&sketch, Mode::Block);
        let mut turned = straight.clone();
        for phase in &mut turned.skills[0].phases {
            phase.allowed.reverse();
            phase.forbidden.reverse();
        }
        let (mut a, mut b) = (begun(&straight), begun(&turned));
        for (id, tool) in calls.into_iter().enumerate() {
            let (one, two) = (go(&straight, &a, &call(TOOLS[tool], id)), go(&turned, &b, &call(TOOLS[tool], id)));
            prop_assert_eq!(one.decision.unwrap().effect, two.decision.unwrap().effect);
            (a, b) = (one.state, two.state);
            prop_assert_eq!(&a.session.runs, &b.session.runs);
        }
    }

    #[test]
    fn state_survives_being_written_and_read(sketch in sketch(true), calls in prop::collection::vec(0..TOOLS.len(), 1..8)) {
        let policy = policy(&sketch, Mode::Warn);
        let mut state = begun(&policy);
        for (id, tool) in calls.into_iter().enumerate() {
            state = go(&policy, &state, &call(TOOLS[tool], id)).state;
            let text = serde_json::to_string(&state).unwrap();
            let read: State = serde_json::from_str(&text).unwrap();
            prop_assert_eq!(serde_json::to_string(&read).unwrap(), text);
            prop_assert_eq!(&read, &state);
        }
    }
}

#[test]
fn state_stays_bounded_however_long_a_session_lasts() {
    let sketch = Sketch { global: [].into(), phases: vec![([5].into(), [].into(), Some(0))] };
    let policy = policy(&sketch, Mode::Block);
    let mut state = begun(&policy);
    for id in 0..2000 {
        state = go(&policy, &state, &call("a", id)).state;
    }
    assert_eq!(state.session.runs[0].history.len(), HISTORY);
    assert_eq!(state.session.calls.len(), KEPT);
    assert!(serde_json::to_string(&state).unwrap().len() < 96 * 1024);
}
