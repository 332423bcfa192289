//! A guard that does with a call what its tool's name says.

use async_trait::async_trait;
use phasegate_core::{Facts, Policy, State};

use super::*;

#[derive(Default)]
struct Scripted {
    seen: Mutex<Vec<String>>,
    /// How many session starts fail first.
    failing_starts: AtomicU64,
    unguarded: bool,
}

#[async_trait]
impl Guard for Scripted {
    async fn handle(&self, session: &str, event: Event) -> Result<Outcome, Problem> {
        let what = match &event.kind {
            EventKind::ToolCall { tool, .. } => tool.clone(),
            EventKind::ToolResult { outcome: Some(outcome), .. } => format!("{outcome:?}"),
            EventKind::SessionStart { .. } => "start".to_owned(),
            EventKind::SessionEnd {} => "end".to_owned(),
            other => format!("{other:?}"),
        };
        self.seen.lock().unwrap().push(format!("{session} {what}"));
        let failing = self.failing_starts.load(Ordering::Relaxed);
        if what == "start" && failing > 0 {
            self.failing_starts.store(failing - 1, Ordering::Relaxed);
            return Err(Problem::new(Code::StateBusy, "busy"));
        }
        assert!(what != "panics", "the guard is broken");
        let mut step = phasegate_core::step(&Policy::default(), &State::default(), &event, &Facts::default());
        match what.as_str() {
            "denied" => step.decision = Some(Decision { effect: Effect::Deny, ..Decision::allow() }),
            "asked" => step.decision = Some(Decision { effect: Effect::Ask, ..Decision::allow() }),
            "warned" => step.decision = Some(Decision { effect: Effect::Warn, ..Decision::allow() }),
            "undecided" => step.decision = None,
            "broken" => return Err(Problem::new(Code::PolicyInvalid, "broken")),
            "missing" => return Err(Problem::new(Code::PolicyMissing, "none")),
            _ => {}
        }
        Ok(step)
    }

    async fn probe(&self, _: &str, _: Vec<Event>) -> Result<Vec<Decision>, Problem> {
        panic!("the guard is broken")
    }

    async fn unguarded(&self) -> bool {
        self.unguarded
    }

    async fn decided(&self, _: &str, _: &Event, ids: Vec<String>) -> bool {
        assert!(ids != ["panics"], "the guard is broken");
        ids == ["theirs"]
    }
}

fn calls(guard: Scripted) -> (Arc<Scripted>, GuardedCalls) {
    let guard = Arc::new(guard);
    (Arc::clone(&guard), GuardedCalls::new(guard, "test"))
}

fn call(tool: &str) -> Proposed {
    match every_call(tool, None, None) {
        EventKind::ToolCall { tool, native, server, input, labels, background, analysis, .. } => {
            let id = Some("1".to_owned());
            EventKind::ToolCall { id, tool, native, server, input, labels, background, analysis }.into()
        }
        other => other.into(),
    }
}

async fn word(calls: &GuardedCalls, session: &GuardedSession, proposed: Proposed) -> String {
    match calls.decide(session, proposed).await.ruling {
        Ruling::Runs { warning, call } => {
            assert_eq!(call.id, "1");
            if warning.is_some() { "warned".into() } else { "runs".into() }
        }
        Ruling::Unguarded => "unguarded".into(),
        Ruling::DecidedByHost => "host".into(),
        Ruling::Denied(denial) => denial.code().map_or("denied".into(), |code| code.id().to_owned()),
    }
}

#[tokio::test]
async fn every_fault_denies_with_its_code() {
    for (tool, unguarded, expected) in [
        ("look", false, "runs"),
        ("warned", false, "warned"),
        ("denied", false, "denied"),
        ("asked", false, "denied"),
        ("undecided", false, "internal"),
        ("panics", false, "internal"),
        ("broken", false, "policy-invalid"),
        ("missing", false, "policy-missing"),
        ("missing", true, "unguarded"),
        ("broken", true, "policy-invalid"),
    ] {
        let (_, calls) = calls(Scripted { unguarded, ..Scripted::default() });
        assert_eq!(word(&calls, &GuardedSession::new("s"), call(tool)).await, expected, "{tool}");
    }
}

#[tokio::test]
async fn a_session_begins_before_its_first_event_and_a_start_that_failed_is_tried_again() {
    let (guard, calls) = calls(Scripted { failing_starts: AtomicU64::new(1), ..Scripted::default() });
    let session = GuardedSession::new("s");
    assert_eq!(word(&calls, &session, call("look")).await, "state-busy");
    let Ruling::Runs { call: open, .. } = calls.decide(&session, call("look")).await.ruling else { panic!() };
    drop(calls.ended(open, CallOutcome::Ok).await.unwrap());
    calls.end(&session).await;
    calls.end(&session).await;
    calls.end(&GuardedSession::new("never seen")).await;
    assert_eq!(word(&calls, &GuardedSession::of_others("o"), call("look")).await, "runs");
    let seen = guard.seen.lock().unwrap().clone();
    assert_eq!(seen, ["s start", "s start", "s look", "s Ok", "s end", "o look"]);
}

#[tokio::test]
async fn the_host_decides_calls_of_its_own_session_only() {
    let (guard, calls) = calls(Scripted::default());
    for (session, id, expected) in [
        (GuardedSession::of_others("o"), "theirs", "host"),
        (GuardedSession::of_others("o"), "other", "runs"),
        (GuardedSession::of_others("o"), "panics", "runs"),
        (GuardedSession::new("s"), "theirs", "runs"),
    ] {
        let proposed = Proposed { host_ids: vec![id.to_owned()], ..call("look") };
        assert_eq!(word(&calls, &session, proposed).await, expected, "{session:?} {id}");
    }
    assert_eq!(guard.seen.lock().unwrap().len(), 4);
}

#[tokio::test]
async fn a_guard_that_cannot_be_probed_hides_nothing() {
    let (_, calls) = calls(Scripted::default());
    let tools = vec![every_call("look", None, None), every_call("store", Some("lsp"), None)];
    assert_eq!(calls.forbidden(&GuardedSession::new("s"), tools).await, [false, false]);
}

#[tokio::test]
async fn ids_are_never_given_twice() {
    let ((_, one), (_, other)) = (calls(Scripted::default()), calls(Scripted::default()));
    let ids = [one.fresh_id(), one.fresh_id(), other.fresh_id()];
    assert_eq!(ids.iter().collect::<std::collections::BTreeSet<_>>().len(), 3);
}
