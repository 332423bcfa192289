//! How a call ended, read from what the client says afterwards.

use phasegate_core::events::event::Outcome;
use phasegate_core::shell::test_report;
use phasegate_core::shell::test_report::TestReport;
use serde_json::Value;

use crate::tools;
use crate::wire::text_of;

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

/// What the client says of a call that its user interrupted.
const ABORTED: &str = "Operation aborted";

/// The ending that a `tool_result` shows. `signals`: whether this version of the client tells a shell that a signal ended
/// from one that ended well.
///
/// The client makes an error of a shell's line exactly if its exit status is not 0, and says the status in the last line.
pub(crate) fn of_result(native: &str, content: &Value, is_error: bool, signals: bool) -> Ending {
    let text = text_of(content);
    let last = text.trim_end().lines().next_back().unwrap_or_default();
    match (tools::is_shell(native), is_error) {
        (true, false) if signals => Ending { outcome: Outcome::Ok, exit_code: Some(0) },
        (true, false) => Ending::of(Outcome::Unknown),
        (false, false) => Ending::of(Outcome::Ok),
        (true, true) if last == "Command aborted" => Ending::of(Outcome::Cancelled),
        (true, true) => Ending { outcome: Outcome::Failed, exit_code: exit_code(last) },
        (false, true) if text == ABORTED => Ending::of(Outcome::Cancelled),
        (false, true) => Ending::of(Outcome::Failed),
    }
}

/// The reports of tests in what a line of the shell printed.
pub(crate) fn tests(native: &str, content: &Value) -> Vec<TestReport> {
    if tools::is_shell(native) { test_report::read(&text_of(content)) } else { Vec::new() }
}

/// The ending of a call that was let through here and never ran: interrupted, or refused by another extension.
pub(crate) fn of_none(result: &Value, is_error: bool) -> Ending {
    let text = result.get("content").map(text_of).unwrap_or_default();
    Ending::of(match (is_error, text.as_str()) {
        (true, ABORTED) => Outcome::Cancelled,
        (true, _) => Outcome::Refused,
        // It ran, and another extension kept its result from us.
        (false, _) => Outcome::Unknown,
    })
}

/// The number in a line `Command exited with code 3`.
fn exit_code(line: &str) -> Option<i64> {
    line.strip_prefix("Command exited with code ")?.parse().ok().filter(|code| *code != 0)
}

#[cfg(test)]
mod tests {
    use phasegate_core::events::event::Outcome;
    use serde_json::{Value, json};

    use super::{of_none, of_result};

    fn said(text: &str) -> Value {
        json!([{"type": "text", "text": text}])
    }

    #[test]
    fn a_shell_is_ok_only_where_a_status_other_than_0_would_be_an_error() {
        let ended = |tool: &str, text: &str, is_error, signals| {
            let ending = of_result(tool, &said(text), is_error, signals);
            (ending.outcome, ending.exit_code)
        };
        assert_eq!(ended("bash", "hi", false, true), (Outcome::Ok, Some(0)));
        assert_eq!(ended("bash", "hi", false, false), (Outcome::Unknown, None));
        assert_eq!(ended("bash", "hi\n\nCommand exited with code 3", true, true), (Outcome::Failed, Some(3)));
        assert_eq!(ended("bash", "Command exited with code 0", true, true), (Outcome::Failed, None));
        assert_eq!(ended("bash", "x\n\nCommand timed out after 1 seconds", true, true), (Outcome::Failed, None));
        assert_eq!(ended("bash", "x\n\nCommand aborted", true, true), (Outcome::Cancelled, None));
        assert_eq!(ended("edit", "Command exited with code 3", true, true), (Outcome::Failed, None));
        assert_eq!(ended("edit", "Operation aborted", true, true), (Outcome::Cancelled, None));
        assert_eq!(ended("edit", "done", false, false), (Outcome::Ok, None));
    }

    #[test]
    fn what_never_ran_was_refused_or_interrupted() {
        let result = |text: &str| json!({"content": [{"type": "text", "text": text}]});
        assert_eq!(of_none(&result("no"), true).outcome, Outcome::Refused);
        assert_eq!(of_none(&result("Operation aborted"), true).outcome, Outcome::Cancelled);
        assert_eq!(of_none(&Value::Null, false).outcome, Outcome::Unknown);
    }
}
