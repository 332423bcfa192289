//! The layer before services that note what reached them.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test says what is wrong by failing")]

mod lock;
mod page;

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use phasegate_adapter::{Guard, Problem};
use phasegate_core::answers::reason::{DenialReason, Resets};
use phasegate_core::events::event::CallOutcome;
use phasegate_core::{Code, Decision, DenialKind, Effect, Event, EventKind, Facts, Outcome, Policy, State};
use phasegate_tower::{Answer, Call, Denial, Layer};
use tower::limit::ConcurrencyLimitLayer;
use tower::{Service as _, ServiceBuilder, ServiceExt as _, service_fn};

/// What a guard does with a call of each name.
struct Scripted(Mutex<Vec<(String, String)>>);

#[async_trait]
impl Guard for Scripted {
    async fn handle(&self, session: &str, event: Event) -> Result<Outcome, Problem> {
        let what = match &event.kind {
            EventKind::ToolCall { tool, .. } => tool.clone(),
            EventKind::ToolResult { outcome: Some(outcome), .. } => format!("{outcome:?}"),
            other => format!("{other:?}").split_whitespace().next().unwrap().to_owned(),
        };
        self.0.lock().unwrap().push((session.to_owned(), what.clone()));
        assert!(what != "panics", "the guard is broken");
        let mut step = phasegate_core::step(&Policy::default(), &State::default(), &event, &Facts::default());
        match what.as_str() {
            "forbidden" => {
                step.decision = Some(Decision {
                    effect: Effect::Deny,
                    reason: "no".into(),
                    recovery: "look first".into(),
                    ..Decision::allow()
                });
            }
            "spent" => {
                let reason = DenialReason::budget("b", 1, 2, Resets::Session);
                step.decision = Some(DenialKind::Admission(Box::new(reason)).refusal());
            }
            "doubtful" => {
                step.decision = Some(Decision { effect: Effect::Warn, reason: "not so".into(), ..Decision::allow() });
            }
            "asked" => step.decision = Some(Decision { effect: Effect::Ask, ..Decision::allow() }),
            "undecided" => step.decision = None,
            "broken" => return Err(Problem::new(Code::StateBusy, "busy")),
            "unguarded" => return Err(Problem::new(Code::PolicyMissing, "none")),
            _ => {}
        }
        Ok(step)
    }

    async fn unguarded(&self) -> bool {
        self.0.lock().unwrap().iter().any(|(session, _)| session == "nobody's")
    }
}

type Ran = Arc<Mutex<Vec<String>>>;

async fn call(guard: &Arc<Scripted>, session: &str, tool: &str) -> (Result<Answer<String>, String>, Vec<String>) {
    let ran = Ran::default();
    let noted = Arc::clone(&ran);
    let tools = service_fn(move |call: Call| {
        noted.lock().unwrap().push(call.tool.clone());
        async move { if call.tool == "crashes" { Err("crashed".to_owned()) } else { Ok(call.tool) } }
    });
    let ended = |answer: &String| if answer == "fails" { CallOutcome::Failed } else { CallOutcome::Ok };
    let guarded = ServiceBuilder::new().layer(Layer::new(Arc::clone(guard) as Arc<dyn Guard>, ended)).service(tools);
    let answer = guarded.oneshot(Call::new(session, tool)).await;
    let ran = ran.lock().unwrap().clone();
    (answer, ran)
}

fn guard() -> Arc<Scripted> {
    Arc::new(Scripted(Mutex::default()))
}

fn seen(guard: &Scripted) -> Vec<String> {
    guard.0.lock().unwrap().iter().map(|(_, what)| what.clone()).collect()
}

#[tokio::test]
async fn a_call_is_decided_before_it_runs_and_its_outcome_is_told() {
    for (tool, outcome) in [("look", "Ok"), ("fails", "Failed"), ("crashes", "Failed")] {
        let guard = guard();
        let (answer, ran) = call(&guard, "s", tool).await;
        assert_eq!(ran, [tool]);
        assert_eq!(answer.is_err(), tool == "crashes");
        assert_eq!(seen(&guard), ["SessionStart", tool, outcome]);
    }
}

#[tokio::test]
async fn whatever_keeps_a_call_from_being_decided_keeps_it_from_running() {
    for tool in ["forbidden", "asked", "undecided", "broken", "panics", "unguarded"] {
        let guard = guard();
        let (answer, ran) = call(&guard, "s", tool).await;
        assert!(matches!(answer, Ok(Answer::Denied(_))), "{tool}: {answer:?}");
        let mut told = vec!["SessionStart", tool];
        // Nobody can be asked, so the question ends with the denial.
        told.extend((tool == "asked").then_some("Permission"));
        assert_eq!(ran, Vec::<String>::new(), "{tool}");
        assert_eq!(seen(&guard), told, "{tool}");
    }
}

#[tokio::test]
async fn a_denial_says_why_and_how_to_get_on() {
    let (answer, _) = call(&guard(), "s", "forbidden").await;
    let Ok(Answer::Denied(denied)) = answer else { panic!("{answer:?}") };
    assert_eq!(denied.text(), "phasegate: no. Look first.");
    let (answer, _) = call(&guard(), "s", "broken").await;
    let Ok(Answer::Denied(denied)) = answer else { panic!("{answer:?}") };
    assert!(matches!(*denied, Denial::Problem(ref problem) if problem.code == Code::StateBusy));
}

#[tokio::test]
async fn a_warning_comes_beside_the_answer() {
    let (answer, ran) = call(&guard(), "s", "doubtful").await;
    let Ok(Answer::Warned(text, warning)) = answer else { panic!("{answer:?}") };
    assert_eq!((text.as_str(), ran.len()), ("doubtful", 1));
    assert!(warning.contains("not so"), "{warning}");
}

#[tokio::test]
async fn where_nothing_guards_the_call_runs_and_nobody_is_told() {
    let guard = guard();
    let (answer, ran) = call(&guard, "nobody's", "unguarded").await;
    assert_eq!((answer, ran), (Ok(Answer::Ran("unguarded".into())), vec!["unguarded".to_owned()]));
    assert_eq!(seen(&guard), ["SessionStart", "unguarded"]);
}

#[tokio::test]
async fn a_session_begins_once_and_anew_after_its_end() {
    let guard = guard();
    let layer = Layer::new(Arc::clone(&guard) as Arc<dyn Guard>, |(): &()| CallOutcome::Ok);
    let tools = ServiceBuilder::new().layer(layer.clone()).service(service_fn(|_: Call| async { Ok::<_, String>(()) }));
    for session in ["a", "a", "b"] {
        tools.clone().oneshot(Call::new(session, "look")).await.unwrap();
    }
    layer.end("a").await;
    layer.end("never seen").await;
    tools.oneshot(Call::new("a", "look")).await.unwrap();
    let starts: Vec<_> =
        guard.0.lock().unwrap().iter().filter(|(_, what)| what.starts_with("Session")).cloned().collect();
    let named = |session: &str, what: &str| (session.to_owned(), what.to_owned());
    assert_eq!(
        starts,
        [named("a", "SessionStart"), named("b", "SessionStart"), named("a", "SessionEnd"), named("a", "SessionStart")]
    );
}

#[tokio::test]
async fn the_service_that_was_ready_is_the_one_that_runs_and_a_denial_gives_its_place_back() {
    let layer = Layer::new(guard() as Arc<dyn Guard>, |(): &()| CallOutcome::Ok);
    let tools = service_fn(|_: Call| async { Ok::<_, String>(()) });
    let mut guarded = ServiceBuilder::new().layer(layer).layer(ConcurrencyLimitLayer::new(1)).service(tools);
    // A limit panics when it is called without having said that it is ready, and has one place.
    for tool in ["look", "forbidden", "look", "broken", "look"] {
        let answer = guarded.ready().await.unwrap().call(Call::new("s", tool)).await.unwrap();
        assert_eq!(matches!(answer, Answer::Ran(())), tool == "look", "{tool}");
    }
}
