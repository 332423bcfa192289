//! Who listens to denials: families F4, F5, F10, F14 and F15.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Barrier, Mutex, OnceLock};
use std::task::{Context, Waker};

use phasegate_tower::{AdmissionEvent, DenialReason, ToolLockOptions};

use super::{Journal, Lock, Registry, called, denied, journaling, lock, rejected, request, written};

#[tokio::test]
async fn f4_1_on_deny_is_told_once_of_every_denial() {
    let journal = Journal::default();
    let denials = Arc::clone(&journal);
    let options = ToolLockOptions::default().on_deny(move |reason| denials.lock().unwrap().push(reason.to_string()));
    let stage = lock(&Registry::rejects(), options);
    for times in 1..=3 {
        denied(&stage, request()).await;
        assert_eq!(written(&journal).len(), times);
    }
}

#[tokio::test]
async fn f4_2_on_deny_gets_the_typed_reason() {
    let told: Arc<Mutex<Vec<DenialReason>>> = Arc::default();
    let denials = Arc::clone(&told);
    let options = ToolLockOptions::default().on_deny(move |reason| denials.lock().unwrap().push(reason.clone()));
    denied(&lock(&Registry::rejects(), options), request()).await;
    assert_eq!(*told.lock().unwrap(), [rejected()]);
}

#[tokio::test]
async fn f4_3_on_deny_is_not_told_of_what_is_admitted() {
    let journal = Journal::default();
    called(&lock(&Registry::admits(), journaling(&journal)), request()).await.0.unwrap();
    assert_eq!(written(&journal), Vec::<String>::new());
}

#[tokio::test]
async fn f4_4_a_panic_of_on_deny_changes_no_denial() {
    let registry = Registry::rejects();
    denied(&lock(&registry, ToolLockOptions::default().on_deny(|_| panic!("sink"))), request()).await;
    assert_eq!(*registry.reports.lock().unwrap(), ["on_deny: sink"]);
}

/// A frozen event: here listeners get it by shared reference, and nothing in it can be changed through that.
#[tokio::test]
async fn f5_1_on_event_is_told_once_of_every_denial() {
    let journal = Journal::default();
    let stage = lock(&Registry::rejects(), journaling(&journal));
    denied(&stage, request()).await;
    denied(&stage, request()).await;
    assert_eq!(written(&journal).iter().filter(|line| line.starts_with("event")).count(), 2);
}

#[tokio::test]
async fn f5_2_an_event_has_type_caller_tool_reason_and_count() {
    let told: Arc<Mutex<Vec<AdmissionEvent>>> = Arc::default();
    let events = Arc::clone(&told);
    let options = ToolLockOptions::default().on_event(move |event| events.lock().unwrap().push(event.clone()));
    let error = denied(&lock(&Registry::rejects(), options), request()).await;
    let told = told.lock().unwrap();
    let event = AdmissionEvent { caller: "alice".into(), tool: "create_task".into(), reason: error.reason, at: 1 };
    assert_eq!(*told, [event]);
    assert_eq!(AdmissionEvent::TYPE, "admission_deny");
    let json = r#"{"at":"1","caller":"alice","reason":{"kind":"rule_rejected","rule_name":"R","rule_reason":"denied_by_rule"},"tool":"create_task","type":"admission_deny"}"#;
    assert_eq!(told[0].canonical(), json);
    assert_eq!(serde_json::json!(told[0]).to_string(), json, "and it is serialized so");
}

#[tokio::test]
async fn f5_3_on_event_comes_before_on_deny() {
    let journal = Journal::default();
    denied(&lock(&Registry::rejects(), journaling(&journal)), request()).await;
    assert_eq!(written(&journal), ["event 1", "deny rule_rejected"]);
}

#[tokio::test]
async fn f5_4_a_panic_of_on_event_changes_no_denial() {
    let registry = Registry::rejects();
    denied(&lock(&registry, ToolLockOptions::default().on_event(|_| panic!("sink"))), request()).await;
    assert_eq!(*registry.reports.lock().unwrap(), ["on_event: sink"]);
}

#[tokio::test]
async fn f10_1_the_count_rises_with_each_denial() {
    let journal = Journal::default();
    let stage = lock(&Registry::rejects(), journaling(&journal));
    for _ in 0..3 {
        denied(&stage, request()).await;
    }
    let events: Vec<String> = written(&journal).into_iter().filter(|line| line.starts_with("event")).collect();
    assert_eq!(events, ["event 1", "event 2", "event 3"]);
}

#[tokio::test]
async fn f10_2_what_is_admitted_between_does_not_count() {
    let (registry, journal) = (Registry::rejects(), Journal::default());
    let stage = lock(&registry, journaling(&journal));
    for rejects in [true, false, false, true] {
        registry.rejects.store(rejects, Ordering::Relaxed);
        assert_eq!(called(&stage, request()).await.0.is_err(), rejects);
    }
    let events: Vec<String> = written(&journal).into_iter().filter(|line| line.starts_with("event")).collect();
    assert_eq!(events, ["event 1", "event 2"]);
}

/// A call of a stage whose evaluator is ready at once, made on this thread.
fn denied_here(stage: &Lock) {
    let mut call = Box::pin(called(stage, request()));
    assert!(call.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready());
}

/// Both listeners hear of one denial before either hears of the next, and in the order of the count.
#[test]
fn f10_3_listeners_are_told_in_the_order_of_the_count_whatever_the_threads() {
    const THREADS: usize = 8;
    const CALLS: usize = 200;
    let journal = Journal::default();
    let (events, denials) = (Arc::clone(&journal), Arc::clone(&journal));
    let options = ToolLockOptions::default()
        .on_event(move |event| {
            // A slow sink lets the other threads pass.
            (0..event.at % 4).for_each(|_| std::thread::yield_now());
            events.lock().unwrap().push(format!("event {}", event.at));
        })
        .on_deny(move |_| denials.lock().unwrap().push("deny".to_owned()));
    let stage = lock(&Registry::rejects(), options);
    let start = Barrier::new(THREADS);
    std::thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                start.wait();
                (0..CALLS).for_each(|_| denied_here(&stage));
            });
        }
    });
    let wanted: Vec<String> = (1..=THREADS * CALLS).flat_map(|at| [format!("event {at}"), "deny".to_owned()]).collect();
    assert_eq!(written(&journal), wanted);
}

/// A listener that makes the stage deny waits for nobody: the inner denial is told inside of the outer one. The next
/// thread is told after both.
#[tokio::test]
async fn f10_4_a_listener_may_use_the_stage() {
    let journal = Journal::default();
    let inner: Arc<OnceLock<Lock>> = Arc::default();
    let again = Arc::clone(&inner);
    let events = Arc::clone(&journal);
    let options = journaling(&journal).on_event(move |event| {
        events.lock().unwrap().push(format!("event {}", event.at));
        if event.at == 1 {
            denied_here(again.get().unwrap());
            events.lock().unwrap().push("end of event 1".to_owned());
        }
    });
    let stage = lock(&Registry::rejects(), options);
    assert!(inner.set(stage.clone()).is_ok());
    denied(&stage, request()).await;
    std::thread::scope(|scope| scope.spawn(|| denied_here(&stage)).join()).unwrap();
    let rejected = "deny rule_rejected";
    assert_eq!(written(&journal), ["event 1", "event 2", rejected, "end of event 1", rejected, "event 3", rejected]);
}

/// A listener that panics ends its turn all the same.
#[test]
fn f10_5_a_panic_of_a_listener_lets_the_next_thread_be_told() {
    let journal = Journal::default();
    let stage = lock(&Registry::rejects(), journaling(&journal).on_deny(|_| panic!("sink")));
    std::thread::scope(|scope| (0..4).for_each(|_| drop(scope.spawn(|| denied_here(&stage)))));
    assert_eq!(written(&journal), ["event 1", "event 2", "event 3", "event 4"]);
}

#[tokio::test]
async fn f14_1_two_stages_count_by_themselves() {
    let (one, other) = (Journal::default(), Journal::default());
    let registry = Registry::rejects();
    let (first, second) = (lock(&registry, journaling(&one)), lock(&registry, journaling(&other)));
    denied(&first, request()).await;
    denied(&first.clone(), request()).await;
    denied(&second, request()).await;
    assert_eq!(written(&one), ["event 1", "deny rule_rejected", "event 2", "deny rule_rejected"]);
    assert_eq!(written(&other), ["event 1", "deny rule_rejected"]);
}

#[tokio::test]
async fn f15_1_a_panic_of_on_event_does_not_skip_on_deny() {
    let journal = Journal::default();
    let options = journaling(&journal).on_event(|_| panic!("sink"));
    denied(&lock(&Registry::rejects(), options), request()).await;
    assert_eq!(written(&journal), ["deny rule_rejected"]);
}

#[tokio::test]
async fn f15_2_a_panic_of_on_deny_does_not_keep_the_denial() {
    let journal = Journal::default();
    let options = journaling(&journal).on_deny(|_| panic!("sink"));
    denied(&lock(&Registry::rejects(), options), request()).await;
    assert_eq!(written(&journal), ["event 1"]);
}

#[tokio::test]
async fn f15_3_where_both_panic_the_denial_stays() {
    let registry = Registry::rejects();
    let options = ToolLockOptions::default().on_event(|_| panic!("one")).on_deny(|_| panic!("two"));
    let error = denied(&lock(&registry, options), request()).await;
    assert_eq!(*error.reason, rejected());
    assert_eq!(*registry.reports.lock().unwrap(), ["on_event: one", "on_deny: two"]);
}
