//! One call, from the decision to its outcome.

use phasegate_adapter::guarded::{CallEnd, GuardedCall, GuardedSession, Proposed, Ruling};
use phasegate_core::calls::reported_numbers;
use phasegate_core::calls::tool::Labels;
use phasegate_core::events::event::CallOutcome;
use phasegate_core::{Change, Outcome};
use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, DetailedTask, ResultType, TaskPayload};

use crate::gate::Shared;
use crate::sync::lock;
use phasegate_mcp::denial::{self, Denied, Form};
use phasegate_mcp::events::{self, Named};
use phasegate_mcp::message::tool_call::Call;
use phasegate_mcp::outcome;

/// How a call is answered.
pub(super) enum Fate {
    /// It runs, and its outcome is not recorded here: nothing guards the project, or the host's guard records it.
    Plain,
    /// It runs, and its outcome is recorded.
    Run {
        /// The call, until it ends.
        open: GuardedCall,
        /// Whether a run moved by the decision.
        moved: bool,
        /// The warning that the agent reads beside the answer.
        warning: Option<String>,
    },
    /// It does not run.
    Denied(Denied),
}

impl Shared {
    /// Decides a call. Whatever keeps it from being decided denies it.
    pub(super) async fn decide(&self, session: &GuardedSession, call: &Call, labels: Option<Labels>) -> Fate {
        let named = Named { id: self.calls.fresh_id(), server: &self.server, tool: &call.name, labels };
        let proposed = Proposed {
            event: events::tool_call(&call.name, call.input.clone(), named),
            host_ids: call.host_ids.clone(),
            stated: None,
        };
        let ruled = self.calls.decide(session, proposed).await;
        match ruled.ruling {
            Ruling::Unguarded | Ruling::DecidedByHost => Fate::Plain,
            Ruling::Runs { call, warning } => {
                let warning = warning.map(|decision| denial::warning(&decision));
                Fate::Run { open: call, moved: ruled.step.is_some_and(|step| moved(&step)), warning }
            }
            Ruling::Denied(why) => Fate::Denied(denial::of(&why, &call.name)),
        }
    }

    /// Records how a call ended. A call that goes on as a task ends when the task does. Whether a run moved by that.
    pub(super) async fn ended(
        &self,
        open: GuardedCall,
        answer: &Result<CallToolResponse, ErrorData>,
        cancelled: bool,
    ) -> bool {
        let end = match answer {
            _ if cancelled => CallOutcome::Cancelled.into(),
            Ok(CallToolResponse::Complete(result)) => of_result(result),
            Ok(CallToolResponse::Task(task)) => {
                lock(&self.tasks).insert(task.task.task_id.clone(), open.clone());
                CallOutcome::Launched.into()
            }
            Err(_) => CallOutcome::Failed.into(),
            // It asks for input: the client calls again, and that call is decided anew.
            Ok(_) => CallOutcome::Unknown.into(),
        };
        self.record(open, end).await
    }

    /// Records how a task ended, once it has. The session, and whether a run moved by that.
    pub(super) async fn task(&self, task: &DetailedTask) -> Option<(GuardedSession, bool)> {
        let end: CallEnd = match &task.payload {
            TaskPayload::Completed { result } => {
                outcome::of_result(serde_json::to_string(result).unwrap_or_default().as_bytes()).into()
            }
            TaskPayload::Failed { .. } => CallOutcome::Failed.into(),
            TaskPayload::Cancelled => CallOutcome::Cancelled.into(),
            _ => return None,
        };
        let open = lock(&self.tasks).remove(&task.task.task_id)?;
        let session = open.session.clone();
        Some((session, self.record(open, end).await))
    }

    /// An end that cannot be recorded proves nothing; the answer itself is the server's, and goes out.
    async fn record(&self, open: GuardedCall, end: CallEnd) -> bool {
        self.calls.ended(open, end).await.is_ok_and(|step| moved(&step))
    }
}

/// Whether a run began, moved or ended.
pub(super) fn moved(step: &Outcome) -> bool {
    step.changes.iter().any(Change::moves_a_run)
}

fn of_result(result: &CallToolResult) -> CallEnd {
    let texts = result.content.iter().filter_map(ContentBlock::as_text);
    let reported = match &result.structured_content {
        Some(structured) => reported_numbers::numbers(structured),
        None => texts.map(|text| text.text.as_str()).find_map(reported_numbers::of_text).unwrap_or_default(),
    };
    CallEnd { outcome: outcome_of(result), reported }
}

fn outcome_of(result: &CallToolResult) -> CallOutcome {
    let complete = result.result_type.as_ref().is_none_or(ResultType::is_complete);
    match result.is_error {
        _ if !complete => CallOutcome::Unknown,
        Some(true) => CallOutcome::Failed,
        _ => CallOutcome::Ok,
    }
}

/// The server's answer with a warning beside it. One that asks for input carries none: the call comes again.
pub(super) fn warned(answer: CallToolResponse, warning: String) -> CallToolResponse {
    match answer {
        CallToolResponse::Complete(mut result) => {
            result.content.push(ContentBlock::text(warning));
            CallToolResponse::Complete(result)
        }
        CallToolResponse::Task(mut task) => {
            task.meta.get_or_insert_default().0.insert(denial::WARNING.to_owned(), warning.into());
            CallToolResponse::Task(task)
        }
        other => other,
    }
}

/// A denial as the server's answer. The form is ours, so it can be read.
pub(super) fn answer(denied: &Denied, form: Form) -> CallToolResult {
    parsed(&denied.result(form)).unwrap_or_else(|| CallToolResult::error(vec![ContentBlock::text(denied.text.clone())]))
}

/// A result that was written as JSON text.
pub(super) fn parsed(result: &str) -> Option<CallToolResult> {
    serde_json::from_str(result).ok()
}
