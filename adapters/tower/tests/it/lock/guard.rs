//! The stage before a guard.

use std::sync::Arc;

use phasegate_tower::{
    AccessMode, Call, CallOutcome, DenialReason, Guard, Request, StageError, ToolLock, ToolLockOptions,
};

use super::{Ended, Journal, called, denied, written};

#[tokio::test]
async fn a_guard_is_an_admission() {
    let cases = [
        ("look", None),
        ("doubtful", None),
        ("forbidden", Some(r#"{"kind":"policy","policy_id":"denied","policy_reason":"no"}"#)),
        ("spent", Some(r#"{"kind":"budget","limit":"1","observed":"2","resets":"session","which":"b"}"#)),
        ("broken", Some(r#"{"kind":"rule_rejected","rule_name":"<adapter>","rule_reason":"evaluator_threw:"#)),
        ("panics", Some(r#"{"kind":"rule_rejected","rule_name":"<adapter>","rule_reason":"evaluator_threw:"#)),
    ];
    for (tool, reason) in cases {
        let guard = crate::guard();
        let warnings = Journal::default();
        let warned = Arc::clone(&warnings);
        let options = ToolLockOptions::default().on_warning(move |text| warned.lock().unwrap().push(text.to_owned()));
        let ended: Ended = |_| CallOutcome::Ok;
        let stage = ToolLock::new(Arc::clone(&guard) as Arc<dyn Guard>, options, ended);
        let (answer, ran) = called(&stage, Request::new(Call::new("s", tool))).await;
        match (reason, answer) {
            (None, Ok(42)) => assert_eq!((ran, crate::seen(&guard).len()), (1, 3), "{tool}"),
            (Some(reason), Err(StageError::Denied(denied))) => {
                let json = denied.reason.canonical();
                assert!(json.starts_with(reason), "{tool}: {json}");
                assert_eq!(ran, 0, "{tool}");
                assert!(!denied.advice.is_empty());
            }
            other => panic!("{tool}: {other:?}"),
        }
        assert_eq!(written(&warnings).len(), usize::from(tool == "doubtful"), "{tool}");
    }
}

#[tokio::test]
async fn the_guard_gets_what_the_request_states() {
    let guard = crate::guard();
    let ended: Ended = |_| CallOutcome::Ok;
    let stage = ToolLock::new(Arc::clone(&guard) as Arc<dyn Guard>, ToolLockOptions::default(), ended);
    let request = || Request::new(Call::new("s", "look"));
    assert_eq!(called(&stage, request()).await.0, Ok(42));
    // The engine has no policy here, and its version is empty.
    let error = denied(&stage, request().told_of("v1")).await;
    let expected = DenialReason::rule_version_mismatch("v1", "sha256:");
    assert_eq!(*error.reason, expected);
    let error = denied(&stage, request().with_access(AccessMode::Readonly)).await;
    assert!(error.to_string().starts_with("policy access-readonly denies the call: "), "{error}");
    let error = called(&stage, request().with_access(AccessMode::Admin)).await.0;
    assert_eq!(error, Ok(42), "what a server states makes nothing looser, and nothing stricter here");
}
