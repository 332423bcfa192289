//! A guard that cannot work: no call reaches the handler that was not decided.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use phasegate_adapter::{Guard, Problem};
use phasegate_core::{Code, Decision, Effect, Event, EventKind, Facts, Outcome, Policy, State};
use phasegate_guard::Gate;
use rmcp::model::{ClientRequest, CustomRequest};

use super::support::{Tools, call, code, connect, listed};

/// Does with a call what its tool's name says.
#[derive(Default)]
struct Scripted {
    unguarded: bool,
    seen: Mutex<Vec<String>>,
}

#[async_trait]
impl Guard for Scripted {
    async fn handle(&self, _: &str, event: Event) -> Result<Outcome, Problem> {
        let what = match &event.kind {
            EventKind::ToolCall { tool, .. } => tool.clone(),
            EventKind::ToolResult { outcome: Some(outcome), .. } => format!("{outcome:?}"),
            _ => return Ok(phasegate_core::step(&Policy::default(), &State::default(), &event, &Facts::default())),
        };
        self.seen.lock().unwrap().push(what.clone());
        assert!(what != "panics", "the guard is broken");
        let mut step = phasegate_core::step(&Policy::default(), &State::default(), &event, &Facts::default());
        match what.as_str() {
            "forbidden" | "shaped" => step.decision = Some(Decision { effect: Effect::Deny, ..Decision::allow() }),
            "doubtful" => {
                step.decision = Some(Decision { effect: Effect::Warn, reason: "not so".into(), ..Decision::allow() });
            }
            "asked" => step.decision = Some(Decision { effect: Effect::Ask, ..Decision::allow() }),
            "undecided" => step.decision = None,
            "busy" => return Err(Problem::new(Code::StateBusy, "busy")),
            "missing" => return Err(Problem::new(Code::PolicyMissing, "none")),
            _ => {}
        }
        Ok(step)
    }

    async fn probe(&self, _: &str, _: Vec<Event>) -> Result<Vec<Decision>, Problem> {
        Err(Problem::new(Code::StateBusy, "busy"))
    }

    async fn unguarded(&self) -> bool {
        self.unguarded
    }
}

#[tokio::test]
async fn a_call_that_is_not_let_through_does_not_run() {
    let (guard, tools) = (Arc::new(Scripted::default()), Tools::default());
    let client = connect(&Gate::new(Arc::clone(&guard) as Arc<dyn Guard>, "box"), &tools).await;
    for tool in ["forbidden", "asked", "undecided", "busy", "missing", "panics"] {
        let result = call(&client, tool).await;
        assert_eq!((result.is_error, tools.ran()), (Some(true), vec![]), "{tool}");
    }
    assert_eq!(code(&call(&client, "busy").await).as_deref(), Some("state-busy"));
    // The connection lives on, and what is allowed runs.
    assert_eq!(call(&client, "look").await.is_error, Some(false));
    assert_eq!(tools.ran(), ["look"]);
}

#[tokio::test]
async fn the_agent_reads_a_warning_beside_the_answer() {
    let tools = Tools::default();
    let client = connect(&Gate::new(Arc::new(Scripted::default()), "box"), &tools).await;
    let result = call(&client, "doubtful").await;
    let texts: Vec<_> = result.content.iter().map(|block| block.as_text().unwrap().text.clone()).collect();
    assert_eq!((result.is_error, tools.ran().len(), texts.len()), (Some(false), 1, 2));
    assert!(texts[0] == "done" && texts[1].contains("not so"), "{texts:?}");
}

#[tokio::test]
async fn outcomes_are_told_as_they_were() {
    let (guard, tools) = (Arc::new(Scripted::default()), Tools::default());
    let client = connect(&Gate::new(Arc::clone(&guard) as Arc<dyn Guard>, "box"), &tools).await;
    call(&client, "look").await;
    call(&client, "fails").await;
    let broken = client.call_tool(rmcp::model::CallToolRequestParams::new("breaks")).await;
    assert!(broken.is_err());
    assert_eq!(*guard.seen.lock().unwrap(), ["look", "Ok", "fails", "Failed", "breaks", "Failed"]);
}

#[tokio::test]
async fn where_nothing_guards_everything_runs() {
    let tools = Tools::default();
    let guard = Arc::new(Scripted { unguarded: true, ..Scripted::default() });
    let client = connect(&Gate::new(guard, "box"), &tools).await;
    assert_eq!(call(&client, "missing").await.is_error, Some(false));
    assert_eq!(tools.ran(), ["missing"]);
    // Any other problem still denies.
    assert_eq!(call(&client, "busy").await.is_error, Some(true));
}

#[tokio::test]
async fn a_guard_that_cannot_be_probed_hides_nothing() {
    let gate = Gate::new(Arc::new(Scripted::default()), "box").hide_forbidden(true).own_tools(false);
    let client = connect(&gate, &Tools::default()).await;
    assert_eq!(listed(&client).await, ["look", "change_it", "shaped"]);
}

#[tokio::test]
async fn a_denial_keeps_out_of_the_way_of_a_declared_form() {
    let client = connect(&Gate::new(Arc::new(Scripted::default()), "box"), &Tools::default()).await;
    listed(&client).await;
    let result = call(&client, "shaped").await;
    assert_eq!((result.is_error, result.structured_content), (Some(true), None));
    assert!(result.meta.unwrap().0.contains_key("dev.phasegate/denial"));
}

#[tokio::test]
async fn a_method_that_passes_for_a_call_is_not_passed_on() {
    let tools = Tools::default();
    let client = connect(&Gate::new(Arc::new(Scripted::default()), "box"), &tools).await;
    for (method, answered) in [("Tools/Call", false), ("tools/call ", false), ("x/own", true)] {
        let request = ClientRequest::CustomRequest(CustomRequest::new(method, None));
        assert_eq!(client.send_request(request).await.is_ok(), answered, "{method}");
    }
    assert_eq!(tools.ran(), ["x/own"]);
}
