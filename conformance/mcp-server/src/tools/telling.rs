//! Tools that tell the client something while they run.

#![expect(deprecated, reason = "the official suite wants to hear log messages")]

use std::time::Duration;

use rmcp::model::{CallToolResult, LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, Tool};
use serde_json::json;

use super::call::{Call, failed, said};
use crate::shared::Change;

/// How long the tools of the suite wait between two messages.
const PAUSE: Duration = Duration::from_millis(50);

/// Logs three messages. Whether the client hears them is not the tool's concern, here and below.
pub(super) async fn logging(call: &Call<'_>) -> CallToolResult {
    for text in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
        if call.logs(LoggingLevel::Info) {
            let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(text));
            drop(call.context.peer.notify_logging_message(message).await);
        }
        tokio::time::sleep(PAUSE).await;
    }
    said("three messages were logged")
}

/// Reports progress three times, if the caller gave a token.
pub(super) async fn progress(call: &Call<'_>) -> CallToolResult {
    for percent in [0.0, 50.0, 100.0] {
        report(call, percent, 100.0).await;
        tokio::time::sleep(PAUSE).await;
    }
    said("progress was reported")
}

async fn report(call: &Call<'_>, progress: f64, total: f64) {
    if let Some(token) = call.context.meta.get_progress_token() {
        let told = ProgressNotificationParam::new(token, progress).with_total(total);
        drop(call.context.peer.notify_progress(told).await);
    }
}

/// Waits, in steps; a call that is cancelled ends at once. Without arguments, a moment.
pub(super) async fn slow(call: &Call<'_>) -> CallToolResult {
    let whole = |name: &str| call.arguments.get(name).and_then(serde_json::Value::as_u64);
    let steps = u32::try_from(whole("steps").unwrap_or(1)).unwrap_or(1).max(1);
    let step = Duration::from_millis(whole("milliseconds").unwrap_or(100)) / steps;
    for done in 1..=steps {
        tokio::select! {
            () = tokio::time::sleep(step) => {}
            () = call.context.ct.cancelled() => return failed("cancelled"),
        }
        report(call, f64::from(done), f64::from(steps)).await;
    }
    said("done")
}

/// Adds the tool `extra` to the list or removes it, and notifies this client and all listeners.
pub(super) async fn change_tools(call: &Call<'_>) -> CallToolResult {
    let listed = call.arguments.get("listed").and_then(serde_json::Value::as_bool).unwrap_or_default();
    let described = Some(call.text("description")).filter(|text| !text.is_empty()).unwrap_or("Comes and goes");
    let tool =
        || Tool::new("extra", described.to_owned(), serde_json::Map::from_iter([("type".into(), json!("object"))]));
    call.shared.set_extra(listed.then(tool));
    call.shared.changed(Change::Tools);
    drop(call.context.peer.notify_tool_list_changed().await);
    said(if listed { "`extra` is listed" } else { "`extra` is not listed" })
}
