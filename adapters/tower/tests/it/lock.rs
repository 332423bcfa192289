//! The families F1 to F15 of the stage's specification, by name. Where one is about TypeScript itself, its comment says
//! what stands for it here.

mod determinism;
mod guard;
mod listeners;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use phasegate_tower::{
    AccessMode, Admission, AdmissionEvent, Admitted, BoxError, Call, CallOutcome, DenialReason, MiddlewareStage, Next,
    Refusal, Request, StageError, ToolAdmissionDenied, ToolLock, ToolLockOptions, Verdict,
};
use serde_json::json;
use tower::{ServiceBuilder, ServiceExt as _, service_fn};

/// An evaluator whose only rule does what it is set to. It keeps what it was asked.
#[derive(Default)]
struct Registry {
    rejects: AtomicBool,
    fails: Option<&'static str>,
    panics: bool,
    asked: Mutex<Vec<Request>>,
    ended: Mutex<Vec<CallOutcome>>,
    reports: Mutex<Vec<String>>,
}

const VERSION: &str = "sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";

impl Registry {
    fn admits() -> Arc<Self> {
        Arc::new(Self::default())
    }

    fn rejects() -> Arc<Self> {
        let registry = Self::default();
        registry.rejects.store(true, Ordering::Relaxed);
        Arc::new(registry)
    }

    fn hash(&self) -> Result<String, String> {
        assert!(!self.panics, "hash panicked");
        self.fails.map_or_else(|| Ok(VERSION.to_owned()), |message| Err(message.to_owned()))
    }
}

fn rejected() -> DenialReason {
    DenialReason::rule_rejected("R", "denied_by_rule")
}

#[async_trait]
impl Admission for Registry {
    async fn version(&self, _request: &Request) -> Result<Option<String>, String> {
        self.hash().map(Some)
    }

    async fn evaluate(&self, request: &Request) -> Result<Verdict, String> {
        self.asked.lock().unwrap().push(request.clone());
        if self.rejects.load(Ordering::Relaxed) {
            return Ok(rejected().into());
        }
        Ok(Verdict::admitted())
    }

    async fn ended(&self, _admitted: Admitted, outcome: CallOutcome) {
        self.ended.lock().unwrap().push(outcome);
    }

    fn listener_failed(&self, listener: &str, message: &str) {
        self.reports.lock().unwrap().push(format!("{listener}: {message}"));
    }
}

type Ended = fn(&u32) -> CallOutcome;
type Lock = ToolLock<Ended>;

fn lock(registry: &Arc<Registry>, options: ToolLockOptions) -> Lock {
    let ended: Ended = |answer| if *answer == 0 { CallOutcome::Failed } else { CallOutcome::Ok };
    ToolLock::of(Arc::clone(registry) as Arc<dyn Admission>, options, ended)
}

fn request() -> Request {
    let call = Call { principal: Some("alice".into()), ..Call::new("s", "create_task").with_input(json!({"x": 1})) };
    Request::new(call)
}

/// A call through the stage: what came of it, and how often `next` was called.
async fn called(lock: &Lock, request: Request) -> (Result<u32, StageError<String>>, usize) {
    let times = AtomicUsize::new(0);
    let next = || {
        times.fetch_add(1, Ordering::Relaxed);
        async { Ok(42) }
    };
    let answer = lock.run(request, next).await;
    (answer, times.load(Ordering::Relaxed))
}

async fn denied(lock: &Lock, request: Request) -> ToolAdmissionDenied {
    match called(lock, request).await {
        (Err(StageError::Denied(denied)), 0) => *denied,
        other => panic!("{other:?}"),
    }
}

/// A place where listeners write what they get.
type Journal = Arc<Mutex<Vec<String>>>;

fn journaling(journal: &Journal) -> ToolLockOptions {
    let (events, denials) = (Arc::clone(journal), Arc::clone(journal));
    ToolLockOptions::default()
        .on_event(move |event: &AdmissionEvent| events.lock().unwrap().push(format!("event {}", event.at)))
        .on_deny(move |reason| denials.lock().unwrap().push(format!("deny {}", reason.kind())))
}

fn written(journal: &Journal) -> Vec<String> {
    journal.lock().unwrap().clone()
}

#[tokio::test]
async fn f1_1_the_factory_makes_a_stage() {
    let stage = lock(&Registry::admits(), ToolLockOptions::default());
    assert_eq!(called(&stage, request()).await, (Ok(42), 1));
}

#[test]
fn f1_2_a_denial_is_an_error() {
    fn is_error<E: std::error::Error + Send + Sync + 'static>() {}
    is_error::<ToolAdmissionDenied>();
    is_error::<StageError<std::io::Error>>();
}

/// The arity of a function: here the trait says which two things a stage takes.
#[tokio::test]
async fn f1_3_a_stage_takes_a_request_and_what_comes_next() {
    let stage: Box<dyn MiddlewareStage<u32>> = Box::new(lock(&Registry::admits(), ToolLockOptions::default()));
    let next: Box<dyn Next<u32>> = Box::new(|| async { Ok::<u32, BoxError>(7) });
    assert_eq!(stage.handle(request(), next).await.unwrap(), 7);
}

#[tokio::test]
async fn f2_1_what_is_admitted_runs_next_once() {
    assert_eq!(called(&lock(&Registry::admits(), ToolLockOptions::default()), request()).await.1, 1);
}

#[tokio::test]
async fn f2_2_what_is_admitted_gives_the_value_of_next() {
    assert_eq!(called(&lock(&Registry::admits(), ToolLockOptions::default()), request()).await.0, Ok(42));
}

#[tokio::test]
async fn f2_3_what_is_admitted_tells_no_listener() {
    let journal = Journal::default();
    called(&lock(&Registry::admits(), journaling(&journal)), request()).await.0.unwrap();
    assert_eq!(written(&journal), Vec::<String>::new());
}

#[tokio::test]
async fn f3_1_what_is_denied_does_not_run_next() {
    assert_eq!(called(&lock(&Registry::rejects(), ToolLockOptions::default()), request()).await.1, 0);
}

#[tokio::test]
async fn f3_2_what_is_denied_fails_with_the_denial() {
    let (answer, _) = called(&lock(&Registry::rejects(), ToolLockOptions::default()), request()).await;
    assert!(matches!(answer, Err(StageError::Denied(denied)) if *denied.reason == rejected()));
}

#[tokio::test]
async fn an_author_matches_and_serializes_what_the_stage_gives() {
    let (answer, _) = called(&lock(&Registry::rejects(), ToolLockOptions::default()), request()).await;
    let error = answer.unwrap_err();
    let denied = error.denied().unwrap();
    let DenialReason::RuleRejected { rule_name, .. } = denied.reason() else { panic!("{denied}") };
    assert_eq!(rule_name, "R");
    let message = "rule R denies the call: denied_by_rule";
    let expected = json!({
        "name": "ToolAdmissionDeniedError", "message": message, "advice": message, "http_status": 403,
        "caller": "alice", "tool": "create_task",
        "reason": {"kind": "rule_rejected", "rule_name": "R", "rule_reason": "denied_by_rule"},
    });
    assert_eq!(json!(denied), expected);
    let refusal = Refusal::new(rejected()).with_advice("ask alice");
    assert_eq!(Verdict::from(refusal.clone()), Verdict::Denied(refusal));
    assert_eq!(StageError::Next("failed").denied(), None);
}

#[test]
fn f6_1_the_error_has_its_name() {
    assert_eq!(ToolAdmissionDenied::NAME, "ToolAdmissionDeniedError");
    assert!(std::any::type_name::<ToolAdmissionDenied>().ends_with("::ToolAdmissionDenied"));
}

#[tokio::test]
async fn f6_2_the_error_is_known_behind_any_error() {
    let stage = lock(&Registry::rejects(), ToolLockOptions::default());
    let next: Box<dyn Next<u32>> = Box::new(|| async { Ok::<u32, BoxError>(7) });
    let error: BoxError = stage.handle(request(), next).await.unwrap_err();
    assert!(error.downcast_ref::<ToolAdmissionDenied>().is_some());
}

/// The same object: here the event, the listener and the error share one value.
#[tokio::test]
async fn f6_3_the_reason_is_the_one_that_was_told() {
    let told: Arc<Mutex<Vec<AdmissionEvent>>> = Arc::default();
    let events = Arc::clone(&told);
    let options = ToolLockOptions::default().on_event(move |event| events.lock().unwrap().push(event.clone()));
    let error = denied(&lock(&Registry::rejects(), options), request()).await;
    assert!(Arc::ptr_eq(&error.reason, &told.lock().unwrap()[0].reason));
}

#[tokio::test]
async fn f6_4_the_error_names_caller_and_tool() {
    let error = denied(&lock(&Registry::rejects(), ToolLockOptions::default()), request()).await;
    assert_eq!((error.caller.as_str(), error.tool.as_str()), ("alice", "create_task"));
    let unnamed = Request::new(Call::new("s", "create_task"));
    let error = denied(&lock(&Registry::rejects(), ToolLockOptions::default()), unnamed).await;
    assert_eq!(error.caller, "s", "without a principal the session calls");
}

#[tokio::test]
async fn f6_5_the_error_has_http_status_403() {
    assert_eq!(denied(&lock(&Registry::rejects(), ToolLockOptions::default()), request()).await.http_status, 403);
}

#[tokio::test]
async fn f6_6_the_message_is_the_rendered_reason() {
    let error = denied(&lock(&Registry::rejects(), ToolLockOptions::default()), request()).await;
    assert_eq!(error.to_string(), rejected().render());
    assert_eq!(error.to_string(), "rule R denies the call: denied_by_rule");
}

#[tokio::test]
async fn f7_1_a_stale_version_is_a_mismatch() {
    let registry = Registry::admits();
    let stage = lock(&registry, ToolLockOptions::default());
    assert_eq!(denied(&stage, request().told_of("sha256:old")).await.reason.kind(), "rule_version_mismatch");
    assert_eq!(registry.asked.lock().unwrap().len(), 0, "no rule is evaluated by another version");
    assert_eq!(called(&stage, request().told_of(VERSION)).await.0, Ok(42));
    assert_eq!(called(&stage, request()).await.0, Ok(42), "who was told of none states none");
}

#[tokio::test]
async fn f7_2_a_mismatch_names_both_versions() {
    let stage = lock(&Registry::admits(), ToolLockOptions::default());
    // A version of the same length, of which the first byte, the last one, or only the length differs.
    for stale in ["xha256:", "sha256:aa"] {
        let error = denied(&stage, request().told_of(stale)).await;
        let expected = DenialReason::rule_version_mismatch(stale, VERSION);
        assert_eq!(*error.reason, expected);
    }
}

#[tokio::test]
async fn f8_1_an_evaluator_that_fails_before_it_evaluates_denies() {
    let failing = || Registry { fails: Some("hash failed"), ..Registry::default() };
    let panicking = || Registry { panics: true, ..Registry::default() };
    for (registry, message) in [(failing(), "hash failed"), (panicking(), "hash panicked")] {
        let stage = lock(&Arc::new(registry), ToolLockOptions::default());
        // With a version and without one.
        for request in [request(), request().told_of(VERSION)] {
            let error = denied(&stage, request).await;
            assert_eq!(*error.reason(), DenialReason::rule_rejected("<adapter>", format!("evaluator_threw:{message}")));
        }
    }
}

#[tokio::test]
async fn f8_2_no_panic_leaves_the_stage() {
    let registry = Arc::new(Registry { panics: true, ..Registry::default() });
    let journal = Journal::default();
    let stage = lock(&registry, journaling(&journal));
    let answer = tokio::spawn(async move { called(&stage, request()).await }).await;
    assert!(matches!(answer, Ok((Err(StageError::Denied(_)), 0))));
    assert_eq!(written(&journal), ["event 1", "deny rule_rejected"]);
}

async fn access_of(options: ToolLockOptions, request: Request) -> Option<AccessMode> {
    let registry = Registry::admits();
    called(&lock(&registry, options), request).await.0.unwrap();
    registry.asked.lock().unwrap().pop().unwrap().access
}

#[tokio::test]
async fn f11_1_without_a_word_the_access_is_normal() {
    assert_eq!(access_of(ToolLockOptions::default(), request()).await, Some(AccessMode::Normal));
}

#[tokio::test]
async fn f11_2_the_options_say_the_default_access() {
    let options = ToolLockOptions::default().default_access(AccessMode::Admin);
    assert_eq!(access_of(options, request()).await, Some(AccessMode::Admin));
}

#[tokio::test]
async fn f11_3_the_access_of_the_request_wins() {
    let options = ToolLockOptions::default().default_access(AccessMode::Admin);
    assert_eq!(access_of(options, request().with_access(AccessMode::Readonly)).await, Some(AccessMode::Readonly));
}

#[tokio::test]
async fn f12_1_an_error_of_next_is_given_as_it_is() {
    let registry = Registry::admits();
    let stage = lock(&registry, ToolLockOptions::default());
    let answer = stage.run(request(), || async { Err::<u32, _>("crashed".to_owned()) }).await;
    assert_eq!(answer, Err(StageError::Next("crashed".to_owned())));
    assert_eq!(*registry.ended.lock().unwrap(), [CallOutcome::Failed]);
    let next: Box<dyn Next<u32>> = Box::new(|| async { Err::<u32, BoxError>(Box::new(std::fmt::Error)) });
    assert!(stage.handle(request(), next).await.unwrap_err().is::<std::fmt::Error>(), "the same error, not another");
}

#[tokio::test]
async fn f12_2_a_value_of_next_is_given_as_it_is() {
    let registry = Registry::admits();
    let stage = lock(&registry, ToolLockOptions::default());
    for (value, outcome) in [(5, CallOutcome::Ok), (0, CallOutcome::Failed)] {
        assert_eq!(stage.run(request(), || async move { Ok::<_, String>(value) }).await, Ok(value));
        assert_eq!(registry.ended.lock().unwrap().pop(), Some(outcome));
    }
}

/// A `next` that fails before it gives a future is a panic here: it is no denial, and goes on to whoever called.
#[tokio::test]
async fn f12_3_a_panic_of_next_goes_on() {
    let stage = lock(&Registry::admits(), ToolLockOptions::default());
    let task = tokio::spawn(async move { stage.run(request(), next_that_panics).await });
    assert!(task.await.unwrap_err().is_panic());
}

fn next_that_panics() -> std::future::Ready<Result<u32, String>> {
    panic!("before there is a future")
}

/// Says so when it is dropped.
struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[tokio::test]
async fn f12_4_who_drops_the_call_drops_next() {
    let stage = lock(&Registry::admits(), ToolLockOptions::default());
    let dropped = Arc::new(AtomicBool::new(false));
    let guard = Dropped(Arc::clone(&dropped));
    let mut call = Box::pin(stage.run(request(), || async move {
        let _guard = guard;
        std::future::pending::<Result<u32, String>>().await
    }));
    assert!(futures_poll(call.as_mut()).await.is_pending());
    assert!(!dropped.load(Ordering::Relaxed));
    drop(call);
    assert!(dropped.load(Ordering::Relaxed));
}

async fn futures_poll<F: Future>(mut future: std::pin::Pin<&mut F>) -> std::task::Poll<()> {
    std::future::poll_fn(|context| std::task::Poll::Ready(future.as_mut().poll(context).map(|_| ()))).await
}

/// A promise: here the stage gives a future, on both branches, that can be sent to another thread.
#[tokio::test]
async fn f13_1_what_is_admitted_gives_a_future() {
    let stage = lock(&Registry::admits(), ToolLockOptions::default());
    let answer = tokio::spawn(async move { called(&stage, request()).await.0 }).await.unwrap();
    assert_eq!(answer, Ok(42));
}

/// The same of a denial.
#[tokio::test]
async fn f13_2_what_is_denied_gives_a_future() {
    let stage = lock(&Registry::rejects(), ToolLockOptions::default());
    let answer = tokio::spawn(async move { called(&stage, request()).await.0 }).await.unwrap();
    assert!(matches!(answer, Err(StageError::Denied(_))));
}

#[tokio::test]
async fn the_arguments_reach_the_evaluator() {
    let registry = Registry::admits();
    called(&lock(&registry, ToolLockOptions::default()), request()).await.0.unwrap();
    assert_eq!(registry.asked.lock().unwrap()[0].call.input, json!({"x": 1}));
}

#[tokio::test]
async fn the_stage_is_a_layer_before_a_service() {
    let registry = Registry::admits();
    let tools = service_fn(|call: Call| async move { if call.tool == "fails" { Err("failed") } else { Ok(1_u32) } });
    let guarded = ServiceBuilder::new().layer(lock(&registry, ToolLockOptions::default())).service(tools);
    assert_eq!(guarded.clone().oneshot(request()).await, Ok(1));
    let fails = Request::new(Call::new("s", "fails"));
    assert_eq!(guarded.clone().oneshot(fails).await, Err(StageError::Next("failed")));
    registry.rejects.store(true, Ordering::Relaxed);
    assert!(matches!(guarded.oneshot(request()).await, Err(StageError::Denied(_))));
    assert_eq!(*registry.ended.lock().unwrap(), [CallOutcome::Ok, CallOutcome::Failed]);
}

/// A future that waits for ever, or panics at its second poll.
async fn cut_short(panics: bool) -> Result<u32, String> {
    tokio::task::yield_now().await;
    assert!(!panics, "the tool panicked");
    std::future::pending().await
}

#[tokio::test]
async fn a_call_that_is_dropped_or_panics_has_ended() {
    for (panics, outcome) in [(false, CallOutcome::Cancelled), (true, CallOutcome::Failed)] {
        let registry = Registry::admits();
        let stage = lock(&registry, ToolLockOptions::default());
        let call = tokio::spawn(async move { stage.run(request(), || cut_short(panics)).await });
        while !call.is_finished() && (panics || registry.asked.lock().unwrap().is_empty()) {
            tokio::task::yield_now().await;
        }
        call.abort();
        assert_eq!(call.await.unwrap_err().is_panic(), panics);
        assert_eq!(*registry.ended.lock().unwrap(), [outcome]);
    }
    let registry = Registry::admits();
    let stage = lock(&registry, ToolLockOptions::default());
    let before = || -> std::future::Ready<Result<u32, String>> { panic!("before there is a future") };
    let call = tokio::spawn(async move { stage.run(request(), before).await });
    assert!(call.await.unwrap_err().is_panic());
    assert_eq!(*registry.ended.lock().unwrap(), [CallOutcome::Failed]);
}
