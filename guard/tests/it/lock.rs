//! The tool lock before a real project: its policy, its budgets and its version.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use phasegate_adapter::{Guard, Standing};
use phasegate_guard::tower::{
    AccessMode, Call, CallOutcome, Code, DenialReason, Event, Request, StageError, ToolAdmissionDenied, ToolLock,
    ToolLockOptions,
};
use serde_json::json;

use super::support::project;

const SETTINGS: &str = "mode: block\nbudgets:\n  looks: {count: calls, of: [look], limit: 2, per: project}\n";

type Ended = fn(&&'static str) -> CallOutcome;

fn lock(guard: &Arc<dyn Guard>) -> ToolLock<Ended> {
    let ended: Ended = |_| CallOutcome::Ok;
    ToolLock::new(Arc::clone(guard), ToolLockOptions::default(), ended)
}

async fn run(lock: &ToolLock<Ended>, request: Request) -> Result<&'static str, Box<ToolAdmissionDenied>> {
    let next = || async { Ok::<_, std::convert::Infallible>("ran") };
    lock.run(request, next).await.map_err(|error| match error {
        StageError::Denied(denied) => denied,
        StageError::Next(never) => match never {},
    })
}

#[tokio::test]
async fn a_project_admits_by_its_policy_and_a_second_stage_goes_on_with_its_budget() {
    let folder = tempfile::tempdir().unwrap();
    let guard: Arc<dyn Guard> = project(folder.path());
    std::fs::write(folder.path().join("project/.phasegate/config.yaml"), SETTINGS).unwrap();
    let look = |session: &str| Request::new(Call::new(session, "look").with_input(json!({"x": 1})));
    let first = lock(&guard);
    assert_eq!(run(&first, look("one")).await, Ok("ran"));
    let denied = run(&first, look("one").told_of("sha256:0")).await.unwrap_err();
    let DenialReason::RuleVersionMismatch { expected, actual } = denied.reason() else { panic!("{denied}") };
    assert_eq!(expected, "sha256:0");
    assert_eq!((actual.len(), actual.starts_with("sha256:")), (71, true));
    // What was denied did not count, and the version that is in force admits.
    assert_eq!(run(&first, look("one").told_of(actual.clone())).await, Ok("ran"));
    let second = lock(&guard);
    let denied = run(&second, look("two")).await.unwrap_err();
    let json = r#"{"kind":"budget","limit":"2","observed":"3","resets":"never","which":"looks"}"#;
    assert_eq!(denied.reason.canonical(), json);
    assert!(denied.advice.contains("phasegate access admin --for 30m"), "{}", denied.advice);
    // A server may make a call stricter, and no call looser.
    let store = |access| Request::new(Call::new("two", "store")).with_access(access);
    assert_eq!(run(&second, store(AccessMode::Admin)).await, Ok("ran"));
    let denied = run(&second, store(AccessMode::Readonly)).await.unwrap_err();
    assert!(denied.reason.canonical().contains(r#""policy_id":"access-readonly""#), "{denied}");
    let denied = run(&second, Request { access: Some(AccessMode::Admin), ..look("two") }).await.unwrap_err();
    assert_eq!(denied.reason.kind(), "budget");
}

const SKILL: &str = "skill: tidy\nstart: [session]\nphases:\n  look: {allowed: [look], forbidden: [drop]}\n";
const RULES: &str = r#"
@id("all") permit(principal, action, resource) unless { resource.name == "other" };
@id("R") @reason("denied_by_rule") forbid(principal, action, resource) when { resource.name == "store" };
@id("A") @kind("axiom AX-01") forbid(principal, action, resource) when { resource.name == "sum" };
@id("I") @kind("invariant stock") forbid(principal, action, resource) when { resource.name == "take" };
@id("B") @kind("ambiguous") forbid(principal, action, resource) when { resource.name == "either" };
"#;

/// The denials of a project with these rules, as canonical JSON.
async fn kinds_of_a_project() -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let guard: Arc<dyn Guard> = project(folder.path());
    let own = folder.path().join("project/.phasegate");
    std::fs::write(own.join("config.yaml"), format!("{SETTINGS}rules: {{default: deny}}\n")).unwrap();
    std::fs::create_dir_all(own.join("rules")).unwrap();
    std::fs::write(own.join("rules/r.cedar"), RULES).unwrap();
    std::fs::write(own.join("skills/tidy.yaml"), SKILL).unwrap();
    let stage = lock(&guard);
    let call = |tool: &str| Request::new(Call::new("one", tool));
    for _ in 0..2 {
        assert_eq!(run(&stage, call("look")).await, Ok("ran"));
    }
    let mut denied = Vec::new();
    for tool in ["look", "drop", "store", "other", "sum", "take", "either"] {
        denied.push(run(&stage, call(tool)).await.unwrap_err().reason().canonical());
    }
    denied.push(run(&stage, call("free").told_of("sha256:0")).await.unwrap_err().reason().canonical());
    assert_eq!(run(&stage, call("free")).await, Ok("ran"));
    denied
}

/// Each kind that a project gives, as a server gets it; another project of the same text gives the same bytes.
#[tokio::test]
async fn a_stage_gives_every_kind_of_denial_that_a_project_has() {
    let denied = kinds_of_a_project().await;
    let expected = [
        r#"{"kind":"budget","limit":"2","observed":"3","resets":"never","which":"looks"}"#,
        r#"{"kind":"policy","policy_id":"phase-forbidden","policy_reason":"Not yet (skill tidy): drop is forbidden"}"#,
        r#"{"kind":"rule_rejected","rule_name":"R","rule_reason":"denied_by_rule"}"#,
        r#"{"kind":"no_rule_matched"}"#,
        r#"{"axiom_id":"AX-01","kind":"axiom_violation"}"#,
        r#"{"invariant":"stock","kind":"effect_invariant_violated"}"#,
        r#"{"kind":"ambiguous_ruleset"}"#,
    ];
    assert_eq!(denied[..7], expected);
    let kinds: BTreeSet<&str> = denied.iter().map(|json| DenialReason::parse(json).unwrap().kind()).collect();
    assert_eq!(kinds, BTreeSet::from(DenialReason::KINDS));
    assert_eq!(kinds_of_a_project().await, denied);
}

#[tokio::test]
async fn a_server_tells_the_version_in_force_and_ends_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let guard: Arc<dyn Guard> = project(folder.path());
    std::fs::write(folder.path().join("project/.phasegate/config.yaml"), SETTINGS).unwrap();
    let stage = lock(&guard);
    assert_eq!(stage.require_guarded().await, Ok(()));
    let version = stage.version("one").await.unwrap().unwrap();
    assert_eq!(guard.standing("one"), Standing::Unknown, "nothing is recorded");
    let store = || Request::new(Call::new("one", "store"));
    assert_eq!(run(&stage, store().told_of(&version)).await, Ok("ran"));
    assert_eq!(stage.version("one").await, Ok(Some(version)));
    stage.end("one").await;
    assert_eq!(guard.standing("one"), Standing::Ended);
}

const DEAR: &str = r#"
@id("dear") @effect("ask") @reason("it is dear") forbid(principal, action, resource) when { resource.name == "look" };
"#;

#[tokio::test]
async fn a_call_that_needs_a_person_names_the_approval_and_spends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let guard: Arc<dyn Guard> = project(folder.path());
    let own = folder.path().join("project/.phasegate");
    std::fs::write(own.join("config.yaml"), SETTINGS.replace("limit: 2", "limit: 1")).unwrap();
    std::fs::create_dir_all(own.join("rules")).unwrap();
    std::fs::write(own.join("rules/r.cedar"), DEAR).unwrap();
    let stage = lock(&guard);
    let look = || Request::new(Call::new("one", "look"));
    let denied = run(&stage, look()).await.unwrap_err();
    assert_eq!(denied.reason, Arc::new(DenialReason::rule_rejected("dear", "it is dear")));
    let name = denied.approval.unwrap();
    let approve = json!({"event": "command", "by": "human", "name": "approve", "args": {"name": name}});
    let _ = guard.handle("one", Event::from_value(approve).unwrap()).await.unwrap();
    assert_eq!(run(&stage, look()).await, Ok("ran"));
    assert_eq!(run(&stage, look()).await.unwrap_err().reason.kind(), "budget");
}

#[tokio::test]
async fn where_nothing_guards_the_project_what_a_server_relies_on_is_denied() {
    let folder = tempfile::tempdir().unwrap();
    let guard: Arc<dyn Guard> = project(folder.path());
    std::fs::remove_dir_all(folder.path().join("project/.phasegate")).unwrap();
    let lock = lock(&guard);
    assert_eq!(lock.require_guarded().await.unwrap_err().code, Code::PolicyMissing);
    assert_eq!(lock.version("one").await, Ok(None));
    let store = || Request::new(Call::new("one", "store"));
    assert_eq!(run(&lock, store()).await, Ok("ran"));
    for request in [store().with_access(AccessMode::Readonly), store().told_of("sha256:0")] {
        let denied = run(&lock, request).await.unwrap_err();
        assert_eq!(denied.reason.kind(), "rule_rejected");
        assert!(denied.to_string().contains("nothing guards the project"), "{denied}");
    }
}

const ONE_AT_A_TIME: &str = r#"
@id("one") @reason("another one is under way")
forbid(principal, action, resource) when { resource.name == "publish" && context.facts.publishing };
"#;

/// A project in which one call of `publish` runs at a time.
fn publishing(folder: &Path) -> Arc<dyn Guard> {
    let own = folder.join("project/.phasegate");
    let guard: Arc<dyn Guard> = project(folder);
    std::fs::write(own.join("config.yaml"), "mode: block\n").unwrap();
    std::fs::create_dir_all(own.join("rules")).unwrap();
    std::fs::write(own.join("rules/r.cedar"), ONE_AT_A_TIME).unwrap();
    let facts = "facts:\n  publishing: {running: publish, scope: project, within: 1h}\n";
    std::fs::write(own.join("rules/r.yaml"), facts).unwrap();
    guard
}

fn publish(session: &str) -> Request {
    Request::new(Call::new(session, "publish"))
}

async fn never() -> Result<&'static str, ()> {
    std::future::pending().await
}

#[tokio::test]
async fn a_call_that_was_cut_short_no_longer_runs() {
    let folder = tempfile::tempdir().unwrap();
    let stage = lock(&publishing(folder.path()));
    let mut open = Box::pin(stage.run(publish("one"), never));
    assert!(tokio::time::timeout(Duration::from_millis(500), &mut open).await.is_err());
    assert_eq!(run(&stage, publish("two")).await.unwrap_err().reason.kind(), "rule_rejected");
    drop(open);
    assert_eq!(run(&stage, publish("two")).await, Ok("ran"));
}

/// Says in which folder a child of the test below makes a call that does not end.
#[cfg(target_os = "linux")]
const CHILD: &str = "PHASEGATE_TEST_PUBLISHES_IN";

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_call_of_a_process_that_was_killed_no_longer_runs() {
    if let Some(folder) = std::env::var_os(CHILD) {
        let begun = Path::new(&folder).join("begun");
        let next = || async move {
            std::fs::write(begun, "").unwrap();
            never().await
        };
        drop(lock(&project(Path::new(&folder))).run(publish("one"), next).await);
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let stage = lock(&publishing(folder.path()));
    let this = "lock::a_call_of_a_process_that_was_killed_no_longer_runs";
    let mut child = Command::new(std::env::current_exe().unwrap());
    let mut child = child.args(["--exact", this]).env(CHILD, folder.path()).spawn().unwrap();
    while !folder.path().join("begun").exists() {
        assert!(child.try_wait().unwrap().is_none(), "the call was not admitted");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!(run(&stage, publish("two")).await.unwrap_err().reason.kind(), "rule_rejected");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(run(&stage, publish("two")).await, Ok("ran"));
}
