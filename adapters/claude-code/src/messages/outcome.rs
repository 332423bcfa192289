//! How a call ended, read from what the client says afterwards.

use phasegate_adapter::ToolRow;
use phasegate_core::calls::reported_numbers;
use phasegate_core::calls::reported_numbers::Reported;
use phasegate_core::calls::tool::AGENT;
use phasegate_core::events::event::Outcome;
use phasegate_core::shell::test_report;
use phasegate_core::shell::test_report::TestReport;
use serde_json::Value;

/// How a call ended, and the exit status if it ran a program and that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ending {
    pub(crate) outcome: Outcome,
    pub(crate) exit_code: Option<i64>,
}

impl Ending {
    fn of(outcome: Outcome) -> Self {
        Self { outcome, exit_code: None }
    }
}

/// The client's tools that run programs.
fn is_shell(tool: &str) -> bool {
    matches!(tool, "Bash" | "PowerShell")
}

/// The ending that a `PostToolUse` shows. `tool` is the canonical name, empty for a server's tool.
///
/// The event comes after calls that the client counts as successful, which is more than those that succeeded.
pub(crate) fn of_response(tool: &str, input: &Value, response: &Value) -> Ending {
    let flag = |name: &str| response.get(name).and_then(Value::as_bool);
    let status = response.get("status").and_then(Value::as_str);
    if flag("interrupted") == Some(true) {
        return Ending::of(Outcome::Cancelled);
    }
    let launched = flag("isAsync") == Some(true)
        || status.is_some_and(|status| status.ends_with("_launched"))
        || response.get("backgroundTaskId").is_some_and(|id| !id.is_null());
    if launched {
        return Ending::of(Outcome::Launched);
    }
    match tool {
        shell if is_shell(shell) => of_shell(input, response),
        "Skill" => Ending::of(match flag("success") {
            Some(true) => Outcome::Ok,
            Some(false) => Outcome::Failed,
            None => Outcome::Unknown,
        }),
        "Agent" => Ending::of(if status == Some("completed") { Outcome::Ok } else { Outcome::Unknown }),
        _ if flag("isError") == Some(true) => Ending::of(Outcome::Failed),
        _ => Ending::of(Outcome::Ok),
    }
}

/// The ending that a `PostToolUse` shows, if the answer is a text: the event comes after calls that succeeded, which says
/// how a file tool ended. A program that failed has answered, too.
pub(crate) fn of_text(tool: Option<&ToolRow>) -> Ending {
    let file_tool = tool.is_some_and(|row| row.access.is_some());
    Ending::of(if file_tool { Outcome::Ok } else { Outcome::Unknown })
}

/// The ending that a `PostToolUse` shows, if the answer is a text with a word for how the call ended. A shell's has the exit
/// status in its last line, which the host writes: `<shellId: 0 completed with exit code 3>`.
pub(crate) fn of_text_with_status(tool: &str, response: &Value) -> Ending {
    let text = |name: &str| response.get(name).and_then(Value::as_str).unwrap_or_default();
    let status = || {
        let last = text("text_result_for_llm").lines().next_back()?.strip_prefix("<shellId: ")?.strip_suffix('>')?;
        last.split_once(" completed with exit code ")?.1.parse().ok()
    };
    match text("result_type") {
        "success" if is_shell(tool) => {
            let exit_code: Option<i64> = status();
            let outcome = match exit_code {
                Some(0) => Outcome::Ok,
                Some(_) => Outcome::Failed,
                None => Outcome::Unknown,
            };
            Ending { outcome, exit_code }
        }
        "success" => Ending::of(Outcome::Ok),
        "failure" => Ending::of(Outcome::Failed),
        "rejected" | "denied" => Ending::of(Outcome::Refused),
        _ => Ending::of(Outcome::Unknown),
    }
}

/// The ending that a `PostToolUse` shows, if the answer of a program is a text and the session's file says how it ended. Where
/// there is no such file, that of a program is not known.
pub(crate) fn before_record(tool: &str, input: &Value, response: &Value) -> Ending {
    match tool {
        "" => of_response(tool, input, response),
        AGENT => Ending::of(Outcome::Launched),
        "Edit" if response.as_str().and_then(exit_code) == Some(0) => Ending::of(Outcome::Ok),
        _ => Ending::of(Outcome::Unknown),
    }
}

/// The client sends a shell's failure as `PostToolUseFailure`, except where it knows that the program means something else
/// by a status other than 0 (`grep` without a match); then it says so, and the status is not known.
fn of_shell(input: &Value, response: &Value) -> Ending {
    let finished =
        response.get("interrupted").and_then(Value::as_bool) == Some(false) && response.get("stdout").is_some();
    let interpreted = response.get("returnCodeInterpretation").is_some_and(|text| !text.is_null());
    let background = input.get("run_in_background").and_then(Value::as_bool) == Some(true);
    if finished && !interpreted && !background {
        Ending { outcome: Outcome::Ok, exit_code: Some(0) }
    } else {
        Ending::of(Outcome::Unknown)
    }
}

/// How the client begins its answer to the agent when its user, a rule or a hook said no.
pub(crate) const REFUSALS: [&str; 4] = [
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "Permission to use ",
    "Claude requested permissions to use ",
];

/// The ending that a `PostToolUseFailure` shows. `tool` is the canonical name, empty for a server's tool.
pub(crate) fn of_failure(tool: &str, error: &str, interrupted: bool) -> Ending {
    if interrupted {
        return Ending::of(Outcome::Cancelled);
    }
    if REFUSALS.iter().any(|start| error.starts_with(start)) {
        return Ending::of(Outcome::Refused);
    }
    let exit_code = if is_shell(tool) { exit_code(error) } else { None };
    Ending { outcome: Outcome::Failed, exit_code }
}

/// The reports of tests in what a shell answered: its texts, or the one text of a failure.
pub(crate) fn tests(tool: &str, response: &Value) -> Vec<TestReport> {
    if !is_shell(tool) {
        return Vec::new();
    }
    match response {
        Value::String(text) => test_report::read(text),
        _ => {
            let text = |name: &str| response.get(name).and_then(Value::as_str).unwrap_or_default();
            test_report::read(&[text("stdout"), text("stderr"), text("text_result_for_llm")].join("\n"))
        }
    }
}

/// The numbers that a result reports: a server's, or a subagent's. `tool` is the canonical name, empty for a server's tool.
pub(crate) fn reported(tool: &str, response: &Value) -> Reported {
    match tool {
        "" => reported_numbers::of_server(response),
        AGENT => reported_numbers::numbers(response),
        _ => Reported::new(),
    }
}

/// The number in a first line `Exit code 3`.
pub(crate) fn exit_code(error: &str) -> Option<i64> {
    error.strip_prefix("Exit code ")?.lines().next()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use phasegate_core::events::event::Outcome;
    use serde_json::{Value, json};

    use super::{Ending, of_failure, of_response};

    fn ended(tool: &str, input: &Value, response: &Value) -> (Outcome, Option<i64>) {
        let Ending { outcome, exit_code } = of_response(tool, input, response);
        (outcome, exit_code)
    }

    #[test]
    fn a_shell_is_ok_only_with_a_known_status_0() {
        let plain = json!({"stdout": "", "stderr": "", "interrupted": false});
        assert_eq!(ended("Bash", &json!({}), &plain), (Outcome::Ok, Some(0)));
        assert_eq!(ended("Bash", &json!({"run_in_background": true}), &plain), (Outcome::Unknown, None));
        for (response, outcome) in [
            (json!({"stdout": "", "interrupted": true}), Outcome::Cancelled),
            (json!({"stdout": "", "interrupted": false, "returnCodeInterpretation": "Files differ"}), Outcome::Unknown),
            (json!({"stdout": "", "interrupted": false, "backgroundTaskId": "b1"}), Outcome::Launched),
            (json!({"stdout": ""}), Outcome::Unknown),
            (json!("done"), Outcome::Unknown),
            (Value::Null, Outcome::Unknown),
        ] {
            assert_eq!(ended("Bash", &json!({}), &response), (outcome, None), "{response}");
        }
    }

    #[test]
    fn other_tools_say_how_they_ended() {
        for (tool, response, outcome) in [
            ("Agent", json!({"status": "completed"}), Outcome::Ok),
            ("Agent", json!({"isAsync": true, "status": "async_launched"}), Outcome::Launched),
            ("Agent", json!({"status": "something_new"}), Outcome::Unknown),
            ("Skill", json!({"success": true}), Outcome::Ok),
            ("Skill", json!({"success": false}), Outcome::Failed),
            ("Skill", json!("Launching"), Outcome::Unknown),
            ("", json!([{"type": "text", "text": "x"}]), Outcome::Ok),
            ("", json!({"isError": true}), Outcome::Failed),
            ("Read", json!({"type": "text"}), Outcome::Ok),
        ] {
            assert_eq!(ended(tool, &json!({}), &response), (outcome, None), "{tool} {response}");
        }
    }

    #[test]
    fn failures_are_told_apart() {
        let failed = |tool, error, interrupted| {
            let Ending { outcome, exit_code } = of_failure(tool, error, interrupted);
            (outcome, exit_code)
        };
        assert_eq!(failed("Bash", "Exit code 3", false), (Outcome::Failed, Some(3)));
        assert_eq!(failed("Bash", "Exit code 143\nCommand timed out after 1s", false), (Outcome::Failed, Some(143)));
        assert_eq!(failed("Bash", "Exit code 143", true), (Outcome::Cancelled, None));
        assert_eq!(failed("", "Exit code 0", false), (Outcome::Failed, None));
        assert_eq!(
            failed("Edit", "The user doesn't want to proceed with this tool use. STOP", false),
            (Outcome::Refused, None)
        );
        assert_eq!(failed("Read", "File does not exist.", false), (Outcome::Failed, None));
    }
}
