//! One call, from the decision to its outcome.

use std::panic::AssertUnwindSafe;

use futures_util::FutureExt as _;
use phasegate_adapter::Problem;
use phasegate_core::event::Outcome;
use phasegate_core::state::Record;
use phasegate_core::{Code, Effect, EventKind, Step};
use rmcp::ErrorData;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, DetailedTask, ResultType, TaskPayload};

use super::sessions::Seat;
use super::{Shared, lock};
use crate::call::Call;
use crate::denial::{self, Denied, Form};
use crate::events::{self, Named};
use crate::outcome;

/// What becomes of a call.
pub(super) enum Fate {
    /// It runs, and how it ends is nobody's concern: nothing guards the project, or the host's guard follows it.
    Plain,
    /// It runs, and its outcome is told.
    Run {
        /// What is told when it ends.
        open: Open,
        /// Whether a run moved by the decision.
        moved: bool,
        /// What the agent is told of a call that runs although something is wrong with it.
        warning: Option<String>,
    },
    /// It does not run.
    Denied(Denied),
}

/// A call that was let through.
#[derive(Clone)]
pub(super) struct Open {
    /// The session it belongs to.
    pub(super) seat: Seat,
    /// The id of its events.
    id: String,
    /// The tool's name.
    tool: String,
}

impl Shared {
    /// Hands one event to the guard. A guard that panics has failed, and no more.
    pub(super) async fn handle(&self, seat: &Seat, kind: EventKind) -> Result<Step, Problem> {
        let handled = AssertUnwindSafe(self.guard.handle(&seat.session, seat.event(kind))).catch_unwind().await;
        handled.unwrap_or_else(|_| Err(Problem::new(Code::Internal, "the guard failed while it decided")))
    }

    /// Decides a call. Whatever keeps it from being decided denies it.
    pub(super) async fn decide(&self, seat: Seat, call: &Call, labels: Option<phasegate_core::tool::Labels>) -> Fate {
        let id = self.sessions.fresh();
        let named = Named { id: id.clone(), server: &self.server, tool: &call.name, labels };
        let kind = events::tool_call(call, named);
        if seat.host && self.decided(&seat, &kind, call).await {
            return Fate::Plain;
        }
        let step = match self.begin(&seat).await {
            Ok(()) => self.handle(&seat, kind).await,
            Err(problem) => Err(problem),
        };
        match step {
            Ok(step) => match &step.decision {
                Some(decision) if decision.lets_through() => {
                    let warning = (decision.effect == Effect::Warn).then(|| denial::warning(decision, &plain_name));
                    Fate::Run { open: Open { seat, id, tool: call.name.clone() }, moved: moved(&step), warning }
                }
                Some(decision) => Fate::Denied(denial::denial(decision, &plain_name)),
                None => {
                    Fate::Denied(denial::problem(&call.name, &Problem::new(Code::Internal, "the call was not decided")))
                }
            },
            Err(problem) if problem.code == Code::PolicyMissing && self.unguarded().await => Fate::Plain,
            Err(problem) => Fate::Denied(denial::problem(&call.name, &problem)),
        }
    }

    async fn decided(&self, seat: &Seat, kind: &EventKind, call: &Call) -> bool {
        let event = seat.event(kind.clone());
        let asked = self.guard.decided(&seat.session, &event, call.marks.clone());
        AssertUnwindSafe(asked).catch_unwind().await.unwrap_or(false)
    }

    async fn unguarded(&self) -> bool {
        AssertUnwindSafe(self.guard.unguarded()).catch_unwind().await.unwrap_or(false)
    }

    /// Tells how a call ended. A call that goes on as a task ends when the task does.
    pub(super) async fn ended(
        &self,
        open: Open,
        answer: &Result<CallToolResponse, ErrorData>,
        cancelled: bool,
    ) -> bool {
        let outcome = match answer {
            _ if cancelled => Outcome::Cancelled,
            Ok(CallToolResponse::Complete(result)) => of_result(result),
            Ok(CallToolResponse::Task(task)) => {
                lock(&self.tasks).insert(task.task.task_id.clone(), open.clone());
                Outcome::Launched
            }
            Err(_) => Outcome::Failed,
            // It asks for input: the client calls again, and that call is decided anew.
            Ok(_) => Outcome::Unknown,
        };
        self.outcome(open, outcome).await
    }

    /// Tells how a task ended, once it did. Whether a run moved by that.
    pub(super) async fn task(&self, task: &DetailedTask) -> Option<(Seat, bool)> {
        let outcome = match &task.payload {
            TaskPayload::Completed { result } => {
                outcome::of_result(serde_json::to_string(result).unwrap_or_default().as_bytes()).outcome
            }
            TaskPayload::Failed { .. } => Outcome::Failed,
            TaskPayload::Cancelled => Outcome::Cancelled,
            _ => return None,
        };
        let open = lock(&self.tasks).remove(&task.task.task_id)?;
        let seat = open.seat.clone();
        Some((seat, self.outcome(open, outcome).await))
    }

    /// An outcome that cannot be recorded proves nothing; the answer itself is the server's, and goes out.
    async fn outcome(&self, open: Open, outcome: Outcome) -> bool {
        let told = self.handle(&open.seat, events::tool_result(open.id, &open.tool, outcome)).await;
        told.is_ok_and(|step| moved(&step))
    }
}

/// Whether a run began, moved or ended.
pub(super) fn moved(step: &Step) -> bool {
    let moves = |record: &Record| {
        matches!(record, Record::ActivateSkill { .. } | Record::PhaseAdvance { .. } | Record::DeactivateSkill { .. })
    };
    step.records.iter().any(moves)
}

fn of_result(result: &CallToolResult) -> Outcome {
    let complete = result.result_type.as_ref().is_none_or(ResultType::is_complete);
    match result.is_error {
        _ if !complete => Outcome::Unknown,
        Some(true) => Outcome::Failed,
        _ => Outcome::Ok,
    }
}

/// The server's answer with a warning beside it. One that asks for input carries none:
/// the call comes again.
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

/// Inside of a server, a tool has the name that the server gave it.
fn plain_name(tool: &str, _server: Option<&str>) -> String {
    tool.to_owned()
}
