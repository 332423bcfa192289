//! How a call ended, read from what the client says afterwards.

use phasegate_core::calls::reported_numbers;
use phasegate_core::calls::reported_numbers::Reported;
use phasegate_core::events::event::Outcome;
use phasegate_core::shell::test_report;
use phasegate_core::shell::test_report::TestReport;
use serde_json::Value;

use crate::wire::ToolAnswer;

/// How a call ended, and the exit status if it ran a program and that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) outcome: Outcome,
    pub(crate) exit_code: Option<i64>,
}

impl Ending {
    /// An ending without an exit status.
    pub(crate) fn of(outcome: Outcome) -> Self {
        Self { outcome, exit_code: None }
    }
}

/// The numbers that the result of a server's tool reports.
pub(crate) fn reported(tool: Option<&str>, answer: &ToolAnswer) -> Reported {
    let text = answer.output.as_deref().filter(|_| tool.is_none());
    text.and_then(reported_numbers::of_text).unwrap_or_default()
}

/// How the client begins the error of a call that its user or a rule of the user's refused.
const REFUSALS: [&str; 2] =
    ["The user rejected permission to use this specific tool call", "The user has specified a rule which prevents you"];
/// How the client begins the error of a call that was stopped.
const STOPPED: [&str; 2] = ["Tool execution aborted", "Tool execution interrupted"];

/// What stands in the answer of a line of the shell that the user stopped: it has no exit status.
const INTERRUPTED: &str = "<shell_metadata>\nUser aborted the command";

/// The ending of a call that ran, by the client's own name of its tool; a server's tool has none.
///
/// A failing line of the shell ends like any other call: only its exit status tells.
pub(crate) fn ran(tool: Option<&str>, answer: &ToolAnswer) -> Ending {
    let metadata = |name: &str| answer.metadata.as_ref().and_then(|metadata| metadata.get(name));
    match tool {
        Some("bash") => match metadata("exit") {
            Some(Value::Number(status)) => match status.as_i64() {
                Some(0) => Ending { outcome: Outcome::Ok, exit_code: Some(0) },
                exit_code => Ending { outcome: Outcome::Failed, exit_code },
            },
            _ if answer.output.as_deref().is_some_and(|text| text.contains(INTERRUPTED)) => {
                Ending::of(Outcome::Cancelled)
            }
            _ => Ending::of(Outcome::Unknown),
        },
        Some("task") => Ending::of(task(answer)),
        // The client answers a call of a tool that does not exist with this one.
        Some("invalid") => Ending::of(Outcome::Failed),
        _ if answer.is_error == Some(true) => Ending::of(Outcome::Failed),
        _ => Ending::of(Outcome::Ok),
    }
}

/// The reports of tests in what a line of the shell printed.
pub(crate) fn tests(tool: Option<&str>, answer: &ToolAnswer) -> Vec<TestReport> {
    let printed = answer.end.as_deref().or(answer.output.as_deref()).filter(|_| tool == Some("bash"));
    printed.map(test_report::read).unwrap_or_default()
}

/// A subagent's answer begins with how far it has come.
fn task(answer: &ToolAnswer) -> Outcome {
    match attribute(answer, "state") {
        Some("completed") => Outcome::Ok,
        Some("running") => Outcome::Launched,
        Some("error") => Outcome::Failed,
        _ => Outcome::Unknown,
    }
}

/// The session of the subagent that a call ran.
pub(crate) fn subagent(answer: &ToolAnswer) -> Option<&str> {
    attribute(answer, "id")
}

/// The attribute of this name in the first tag of a subagent's answer.
fn attribute<'a>(answer: &'a ToolAnswer, name: &str) -> Option<&'a str> {
    let text = answer.output.as_deref()?.trim_start();
    let (head, _) = text.strip_prefix("<task ")?.split_once('>')?;
    let (_, rest) = head.split_once(&format!("{name}=\""))?;
    Some(rest.split_once('"')?.0)
}

/// The ending of a call whose part is an error.
pub(crate) fn failed(error: &str) -> Ending {
    let begins = |starts: &[&str]| starts.iter().any(|start| error.starts_with(start));
    Ending::of(if begins(&REFUSALS) {
        Outcome::Refused
    } else if begins(&STOPPED) {
        Outcome::Cancelled
    } else {
        Outcome::Failed
    })
}

#[cfg(test)]
mod tests {
    use phasegate_core::events::event::Outcome;
    use serde_json::json;

    use super::{failed, ran};

    fn ended(tool: Option<&str>, answer: serde_json::Value) -> (Outcome, Option<i64>) {
        let ending = ran(tool, &serde_json::from_value(answer).unwrap());
        (ending.outcome, ending.exit_code)
    }

    #[test]
    fn a_shell_is_ok_only_with_a_known_status_0() {
        for (metadata, wanted) in [
            (json!({"exit": 0}), (Outcome::Ok, Some(0))),
            (json!({"exit": 3}), (Outcome::Failed, Some(3))),
            (json!({"exit": null}), (Outcome::Unknown, None)),
            (json!({"exit": "0"}), (Outcome::Unknown, None)),
            (json!({}), (Outcome::Unknown, None)),
            (json!(null), (Outcome::Unknown, None)),
        ] {
            assert_eq!(ended(Some("bash"), json!({"metadata": metadata, "output": "x"})), wanted, "{metadata}");
        }
    }

    #[test]
    fn a_line_that_the_user_stopped_is_cancelled() {
        let output = "(no output)\n\n<shell_metadata>\nUser aborted the command\n</shell_metadata>";
        let stopped = |exit| json!({"metadata": {"exit": exit}, "output": output});
        assert_eq!(ended(Some("bash"), stopped(json!(null))), (Outcome::Cancelled, None));
        assert_eq!(
            ended(Some("bash"), stopped(json!(0))),
            (Outcome::Ok, Some(0)),
            "the program may have said so itself"
        );
    }

    #[test]
    fn other_tools_say_how_they_ended() {
        let task = |state: &str| json!({"output": format!("<task id=\"s\" state=\"{state}\">\n<task_result>")});
        for (tool, answer, outcome) in [
            (Some("task"), task("completed"), Outcome::Ok),
            (Some("task"), task("running"), Outcome::Launched),
            (Some("task"), task("error"), Outcome::Failed),
            (Some("task"), json!({"output": "state=\"completed\""}), Outcome::Unknown),
            (Some("read"), json!({"output": "text"}), Outcome::Ok),
            (Some("invalid"), json!({"output": "text"}), Outcome::Failed),
            (None, json!({"isError": false}), Outcome::Ok),
            (None, json!({"isError": true}), Outcome::Failed),
        ] {
            assert_eq!(ended(tool, answer.clone()), (outcome, None), "{answer}");
        }
    }

    #[test]
    fn failures_are_told_apart() {
        let outcome = |error| failed(error).outcome;
        assert_eq!(outcome("The user rejected permission to use this specific tool call."), Outcome::Refused);
        assert_eq!(outcome("Tool execution aborted"), Outcome::Cancelled);
        assert_eq!(outcome("File not found"), Outcome::Failed);
    }
}
