//! A real project behind the gate: phases, sessions, lists that follow.

use phasegate_guard::Gate;

use super::support::{Tools, activate, call, code, connect, listed, project};

#[tokio::test]
async fn phases_are_enforced_from_the_evidence_that_the_guard_saw() {
    let folder = tempfile::tempdir().unwrap();
    let (gate, tools) = (Gate::new(project(folder.path()), "box"), Tools::default());
    let client = connect(&gate, &tools).await;
    assert_eq!(activate(&client, "work").await.is_error, None);
    assert_eq!(code(&call(&client, "change_it").await).as_deref(), Some("not-done"));
    call(&client, "fails").await;
    assert_eq!(code(&call(&client, "change_it").await).as_deref(), Some("not-done"));
    call(&client, "look").await;
    assert_eq!(call(&client, "change_it").await.is_error, Some(false));
    assert_eq!(tools.ran(), ["fails", "look", "change_it"]);
}

#[tokio::test]
async fn two_connections_are_two_sessions() {
    let folder = tempfile::tempdir().unwrap();
    let (gate, tools) = (Gate::new(project(folder.path()), "box"), Tools::default());
    let (one, other) = (connect(&gate, &tools).await, connect(&gate, &tools).await);
    activate(&one, "work").await;
    assert_eq!(code(&call(&one, "change_it").await).as_deref(), Some("not-done"));
    assert_eq!(call(&other, "change_it").await.is_error, Some(false));
    activate(&other, "work").await;
    call(&other, "look").await;
    assert_eq!(call(&other, "change_it").await.is_error, Some(false));
    assert_eq!(code(&call(&one, "change_it").await).as_deref(), Some("not-done"));
}

#[tokio::test]
async fn lists_leave_out_what_the_phase_forbids_and_changes_are_announced() {
    let folder = tempfile::tempdir().unwrap();
    let gate = Gate::new(project(folder.path()), "box").hide_forbidden(true);
    let client = connect(&gate, &Tools::default()).await;
    let own = ["activate_skill", "deactivate_skill", "get_skill_phase", "manage_skill", "plan_skill_safety"];
    let with_own = |tools: &[&'static str]| [tools, &own[..]].concat();
    assert_eq!(listed(&client).await, with_own(&["look", "change_it", "shaped"]));
    activate(&client, "work").await;
    assert_eq!(listed(&client).await, with_own(&["look", "shaped"]));
    call(&client, "look").await;
    assert_eq!(listed(&client).await, with_own(&["look", "change_it", "shaped"]));
    call(&client, "change_it").await;
    assert_eq!(listed(&client).await, with_own(&["change_it"]));
    // Of the activation, and of the call that entered the second phase; they were sent before the lists were.
    assert_eq!(*client.service().0.lock().unwrap(), 2);
}

#[tokio::test]
async fn without_own_tools_the_server_is_as_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let gate = Gate::new(project(folder.path()), "box").own_tools(false);
    let (client, tools) = (connect(&gate, &Tools::default()).await, Tools::default());
    assert_eq!(listed(&client).await, ["look", "change_it", "shaped"]);
    let (plain, _) = (connect(&gate, &tools).await, ());
    activate(&plain, "work").await;
    assert_eq!(tools.ran(), ["activate_skill"]);
}
