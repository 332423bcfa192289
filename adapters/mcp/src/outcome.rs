//! How a call ended, as its answer says.

#[cfg(feature = "guarded")]
use phasegate_adapter::guarded::CallEnd;
use phasegate_core::calls::reported_numbers::{self, Reported};
use phasegate_core::events::event::Outcome;
use serde_json::Value;

use crate::message::object::Object;
use crate::message::{Kind, Message};

/// How a call ended, as far as one answer tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ending {
    /// The outcome.
    pub outcome: Outcome,
    /// The task under which the call goes on, where it was started as one.
    pub task: Option<String>,
    /// The numbers that the result reports.
    pub reported: Reported,
}

impl From<Outcome> for Ending {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, task: None, reported: Reported::new() }
    }
}

#[cfg(feature = "guarded")]
impl From<Ending> for CallEnd {
    fn from(Ending { outcome, reported, .. }: Ending) -> Self {
        Self { outcome, reported }
    }
}

/// The longest part of a result in which reported numbers are looked for, in bytes.
const MAX_REPORT: usize = 256 * 1024;
/// How a text begins that is an object, as it stands in JSON.
const TEXT_OF_AN_OBJECT: &str = "\"{";

/// What the answer to a `tools/call` says.
pub fn of_answer(message: &Message) -> Ending {
    match message.kind() {
        Kind::Result => of_result(message.content()),
        Kind::Error => Outcome::Failed.into(),
        Kind::Request | Kind::Notification => Outcome::Unknown.into(),
    }
}

/// What the result of a call says. A result that asks for input is no end: the client makes the call again, and that one
/// is decided anew.
pub fn of_result(json: &[u8]) -> Ending {
    let Ok(result) = Object::read(json) else { return Outcome::Unknown.into() };
    if result.doubtful(&["isError", "resultType", "task"]).is_some() {
        return Outcome::Unknown.into();
    }
    let task = result.get("task").map_or(json, str::as_bytes);
    let task = || Object::read(task).ok()?.text("taskId");
    match result.get("resultType").map(|_| result.text("resultType")) {
        None if result.get("task").is_some() => Ending { task: task(), ..Outcome::Launched.into() },
        None => complete(&result),
        Some(Some(kind)) if kind == "complete" => complete(&result),
        Some(Some(kind)) if kind == "task" => Ending { task: task(), ..Outcome::Launched.into() },
        Some(_) => Outcome::Unknown.into(),
    }
}

fn complete(result: &Object<'_>) -> Ending {
    Ending { reported: reported(result), ..of_error_flag(result).into() }
}

fn reported(result: &Object<'_>) -> Reported {
    let read = |key: &str| {
        let json = result.get(key).filter(|json| json.len() <= MAX_REPORT)?;
        serde_json::from_str::<Value>(json).ok()
    };
    match read("structuredContent").filter(Value::is_object) {
        Some(structured) => reported_numbers::numbers(&structured),
        // A text that is an object begins so: of most results nothing has to be read.
        None if result.get("content").is_some_and(|content| content.contains(TEXT_OF_AN_OBJECT)) => {
            read("content").map(|content| reported_numbers::of_server(&content)).unwrap_or_default()
        }
        None => Reported::new(),
    }
}

fn of_error_flag(result: &Object<'_>) -> Outcome {
    match result.get("isError") {
        None | Some("false" | "null") => Outcome::Ok,
        Some("true") => Outcome::Failed,
        Some(_) => Outcome::Unknown,
    }
}

/// What the state of a task says of the call that started it; `None` while it goes on.
pub fn of_task(json: &[u8]) -> Option<Ending> {
    let task: Value = serde_json::from_slice(json).ok()?;
    match task.get("status")?.as_str()? {
        "completed" => task.get("result").map(|result| of_result(result.to_string().as_bytes())),
        "failed" => Some(Outcome::Failed.into()),
        "cancelled" => Some(Outcome::Cancelled.into()),
        _ => None,
    }
}

/// What the answer to `tasks/get` or `tasks/result` says of the call that started the task: its state, or the result of
/// the call itself.
pub fn of_task_answer(message: &Message) -> Option<Ending> {
    let content = message.content();
    match message.kind() {
        Kind::Result if Object::read(content).is_ok_and(|result| result.get("status").is_some()) => of_task(content),
        Kind::Result => Some(of_result(content)),
        Kind::Error | Kind::Request | Kind::Notification => None,
    }
}

#[cfg(test)]
mod tests {
    use phasegate_core::events::event::Outcome;

    use super::{of_result, of_task};

    #[test]
    fn a_result_says_how_the_call_ended() {
        for (json, outcome, task) in [
            (r#"{"content":[]}"#, Outcome::Ok, None),
            (r#"{"content":[],"isError":false,"resultType":"complete"}"#, Outcome::Ok, None),
            (r#"{"content":[],"isError":true}"#, Outcome::Failed, None),
            (r#"{"content":[],"isError":"yes"}"#, Outcome::Unknown, None),
            (r#"{"isError":true,"isError":false}"#, Outcome::Unknown, None),
            (r#"{"resultType":"input_required","inputRequests":{}}"#, Outcome::Unknown, None),
            (r#"{"resultType":7}"#, Outcome::Unknown, None),
            (r#"{"task":{"taskId":"t1","status":"working"}}"#, Outcome::Launched, Some("t1")),
            (r#"{"resultType":"task","taskId":"t2","status":"working"}"#, Outcome::Launched, Some("t2")),
            ("[]", Outcome::Unknown, None),
        ] {
            let ending = of_result(json.as_bytes());
            assert_eq!((ending.outcome, ending.task.as_deref()), (outcome, task), "{json}");
        }
    }

    #[test]
    fn a_result_reports_numbers() {
        for (json, cost) in [
            (r#"{"content":[],"structuredContent":{"cost":0.5}}"#, Some(500_000)),
            (r#"{"content":[{"type":"text","text":"{\"cost\":2}"}]}"#, Some(2_000_000)),
            (r#"{"content":[{"type":"text","text":"cost: 2"}]}"#, None),
        ] {
            assert_eq!(of_result(json.as_bytes()).reported.get("/cost").copied(), cost, "{json}");
        }
    }

    #[test]
    fn a_task_says_when_it_is_over() {
        for (json, outcome) in [
            (r#"{"taskId":"t","status":"working"}"#, None),
            (r#"{"taskId":"t","status":"input_required"}"#, None),
            (r#"{"taskId":"t","status":"completed"}"#, None),
            (r#"{"taskId":"t","status":"completed","result":{"content":[]}}"#, Some(Outcome::Ok)),
            (r#"{"taskId":"t","status":"completed","result":{"isError":true}}"#, Some(Outcome::Failed)),
            (r#"{"taskId":"t","status":"failed"}"#, Some(Outcome::Failed)),
            (r#"{"taskId":"t","status":"cancelled"}"#, Some(Outcome::Cancelled)),
            ("7", None),
        ] {
            assert_eq!(of_task(json.as_bytes()).map(|ending| ending.outcome), outcome, "{json}");
        }
    }
}
