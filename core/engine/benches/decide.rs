//! One decision in process: four skills, a hundred big ones, and a session that has already made many calls.

use phasegate_core::events::event::{By, Outcome};
use phasegate_core::evidence::condition::{CallTest, Condition, Wanted};
use phasegate_core::policy::budget::{Budget, Count, Per};
use phasegate_core::policy::matcher::{Matcher, ServerPattern, ToolPattern};
use phasegate_core::policy::{
    DenialText, Edge, Leave, LeaveSkill, Mode, Optional, Phase, Scope, Skill, Start, Unlisted,
};
use phasegate_core::{Event, EventKind, Facts, Policy, State, step};
use serde_json::json;

/// Measures. With `count CASE` it decides that call once, for `cargo xtask counts`.
fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["count", "allowed"] => once("allowed_0_1"),
        ["count", "denied"] => once("allowed_3_1"),
        _ => divan::main(),
    }
}

fn once(tool: &str) {
    let policy = policy(SIZES[0]);
    let (state, call) = (active(&policy), call(tool));
    drop(divan::black_box(step(&policy, &state, &call, &Facts::new())));
}

/// How many skills, phases in each, and matchers in each list.
#[derive(Clone, Copy, Debug)]
struct Size(usize, usize, usize);

const SIZES: [Size; 2] = [Size(4, 5, 4), Size(100, 10, 20)];

fn matcher(name: String) -> Matcher {
    Matcher {
        text: name.clone(),
        tool: ToolPattern::Exact(name),
        server: ServerPattern::Bare,
        args: vec![],
        commands: Vec::new(),
        paths: vec![],
        invokes: None,
        agent: None,
        except: Vec::new(),
    }
}

fn phase(at: usize, Size(_, phases, matchers): Size) -> Phase {
    let tools = |list: &str| (0..matchers).map(|tool| matcher(format!("{list}_{at}_{tool}"))).collect();
    let test = CallTest {
        atom: u32::try_from(at).unwrap_or_default(),
        wanted: Wanted::Outcome(Outcome::Ok),
        matcher: matcher(format!("allowed_{at}_0")),
        unchanged: None,
        written: None,
        same: Vec::new(),
    };
    let last = at + 1 == phases;
    Phase {
        name: format!("phase_{at}"),
        task: String::new(),
        allowed: tools("allowed"),
        forbidden: tools("forbidden"),
        line_requires: Vec::new(),
        forbidden_until: Vec::new(),
        steps: None,
        requires: None,
        done_when: Some(Condition::Call(test)),
        failed_when: None,
        confine: None,
        optional: Optional::No,
        skip_text: String::new(),
        leave: Leave::OnCall,
        next: if last { vec![] } else { vec![Edge { to: at + 1, when: None, early: false }] },
        back: vec![],
        produces: vec![],
        done_by: None,
        run: None,
        unlisted: None,
    }
}

fn policy(size: Size) -> Policy {
    let skill = |at: usize| Skill {
        name: format!("skill_{at:03}"),
        description: String::new(),
        version: format!("v{at}"),
        compat: false,
        mode: Some(Mode::Block),
        scope: Scope::Session,
        unlisted: Unlisted::ReadOnly,
        unlisted_lines: vec![],
        leave_skill: LeaveSkill::Finished,
        finish_required: false,
        on_violation: Default::default(),
        confine: None,
        start: Start::by_default(),
        servers: vec![],
        tools: vec![],
        inputs: vec![],
        instance_of: None,
        children: Vec::new(),
        artifacts: vec![],
        denial_text: DenialText::Standard,
        global_forbidden: vec![],
        phases: (0..size.1).map(|at| phase(at, size)).collect(),
    };
    Policy { version: "v".into(), skills: (0..size.0).map(skill).collect(), ..Policy::default() }
}

fn event(value: serde_json::Value) -> Event {
    Event::from_value(value).unwrap_or_else(|problem| unreachable!("{problem}"))
}

fn call(tool: &str) -> Event {
    event(json!({"event": "tool_call", "tool": tool, "input": {"file_path": "src/lib.rs"}}))
}

/// A session in which the first skill is active.
fn active(policy: &Policy) -> State {
    let kind = EventKind::Skill { name: "skill_000".into(), args: None, by: By::Agent };
    let before = State::default();
    step(policy, &before, &Event::new("s", kind), &Facts::new()).state_after(&before)
}

/// A session that has made so many calls, each of them ended.
fn after_calls(policy: &Policy, calls: usize) -> State {
    let mut state = active(policy);
    for at in 0..calls {
        let id = at.to_string();
        for line in [
            json!({"event": "tool_call", "id": id, "tool": "allowed_0_1", "input": {}}),
            json!({"event": "tool_result", "id": id, "ok": true}),
        ] {
            state = step(policy, &state, &event(line), &Facts::new()).state_after(&state);
        }
    }
    state
}

#[divan::bench(args = SIZES)]
fn allowed(bencher: divan::Bencher<'_, '_>, size: Size) {
    let policy = policy(size);
    let (state, call) = (active(&policy), call("allowed_0_1"));
    bencher.bench_local(|| step(&policy, &state, &call, &Facts::new()));
}

#[divan::bench(args = SIZES)]
fn denied_with_a_way_out(bencher: divan::Bencher<'_, '_>, size: Size) {
    let policy = policy(size);
    let (state, call) = (active(&policy), call("allowed_3_1"));
    bencher.bench_local(|| step(&policy, &state, &call, &Facts::new()));
}

#[divan::bench(args = SIZES)]
fn listed_nowhere(bencher: divan::Bencher<'_, '_>, size: Size) {
    let policy = policy(size);
    let (state, call) = (active(&policy), call("Read"));
    bencher.bench_local(|| step(&policy, &state, &call, &Facts::new()));
}

#[divan::bench(args = [0, 100, 10_000])]
fn after_so_many_calls(bencher: divan::Bencher<'_, '_>, calls: usize) {
    let policy = policy(SIZES[0]);
    let (state, call) = (after_calls(&policy, calls), call("allowed_0_1"));
    bencher.bench_local(|| step(&policy, &state, &call, &Facts::new()));
}

/// A call that counts under so many budgets: of calls by name, of edits in a time, of the phase.
#[divan::bench(args = [0, 3, 16])]
fn under_budgets(bencher: divan::Bencher<'_, '_>, budgets: usize) {
    let mut policy = policy(SIZES[0]);
    let budget = |at: usize| Budget {
        name: format!("budget_{at}"),
        reported: None,
        count: if at % 3 == 1 { Count::Edits } else { Count::Calls },
        of: if at.is_multiple_of(3) {
            vec![matcher("allowed_0_1".to_owned()), matcher("other".to_owned())]
        } else {
            Vec::new()
        },
        limit: 1_000_000,
        per: match at % 3 {
            0 => Per::Session,
            1 => Per::Project,
            _ => Per::Phase,
        },
        within: (at % 3 == 1).then_some(3_600_000),
        mode: Mode::Block,
    };
    policy.budgets = (0..budgets).map(budget).collect();
    let (state, call) = (after_calls(&policy, 10), call("allowed_0_1"));
    bencher.bench_local(|| step(&policy, &state, &call, &Facts::new()));
}

/// What the others are compared with, so that their figures mean the same on a faster machine: a small text read.
#[divan::bench]
fn yardstick() -> Option<serde_json::Value> {
    serde_json::from_str(divan::black_box(r#"{"a":["b",1,{"c":null}],"d":"e","f":{"g":[1,2,3],"h":"i"}}"#)).ok()
}

/// As many calls open as are kept.
#[divan::bench]
fn with_64_calls_open(bencher: divan::Bencher<'_, '_>) {
    let policy = policy(SIZES[0]);
    let mut state = active(&policy);
    for at in 0..64 {
        let line = json!({"event": "tool_call", "id": at.to_string(), "tool": "allowed_0_1", "input": {}});
        state = step(&policy, &state, &event(line), &Facts::new()).state_after(&state);
    }
    let call = call("allowed_0_1");
    bencher.bench_local(|| step(&policy, &state, &call, &Facts::new()));
}
