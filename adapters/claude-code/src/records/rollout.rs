//! A rollout, the file in which Codex keeps a session: one JSON object a line.
//!
//! Seen in 0.171.0: what a call came to is there before the hook about it is started, under the id that the hook is told. The
//! client starts no hook about a server's tool or a patch that failed, nor about a patch in a shell line. The calls that a
//! script makes are there under ids of their own, and the script's own call is no item. A subagent has a file of its own,
//! which its messages name.

use std::path::PathBuf;

use phasegate_adapter::{Message, RecordPlace, Recorded, RecordedEnd, Said};
use phasegate_core::calls::tool::BASH;
use serde_json::{Value, json};

use crate::messages::outcome;

/// How long what a program printed may be to be searched for reports of tests.
const MAX_OUTPUT_BYTES: usize = 1024 * 1024;
/// The tool by which the agent types into a program that runs. No hook is started for it.
const TYPES: &str = "write_stdin";

/// The file that a message names.
pub(crate) fn file(message: &Message) -> Option<PathBuf> {
    let file = PathBuf::from(message.body.get("transcript_path")?.as_str()?);
    file.is_absolute().then_some(file)
}

/// Where the client keeps the session of this message. A subagent's file is not the session's.
pub(crate) fn place(message: &Message) -> Option<RecordPlace> {
    let of_subagent = message.body.get("agent_id").is_some() || message.body.get("agent_transcript_path").is_some();
    file(message).filter(|_| !of_subagent).map(|file| RecordPlace { file, folder: None })
}

/// What a line says of calls.
pub(crate) fn read(line: &str) -> Vec<Recorded> {
    if !line.contains("\"item_completed\"") && !line.contains(TYPES) {
        return Vec::new();
    }
    let Ok(line) = serde_json::from_str::<Value>(line) else { return Vec::new() };
    let payload = line.get("payload").unwrap_or(&Value::Null);
    let at = text(&line, "timestamp").map(str::to_owned);
    let found = match text(payload, "type") {
        Some("item_completed") => payload.get("item").and_then(ended),
        Some("function_call") if text(payload, "name") == Some(TYPES) => typed(payload),
        _ => None,
    };
    found.map(|found| Recorded { at, ..found }).into_iter().collect()
}

/// What the agent says in a line.
pub(crate) fn words(line: &str) -> Option<Said> {
    if !line.contains("\"AgentMessage\"") {
        return None;
    }
    let line: Value = serde_json::from_str(line).ok()?;
    let item = line.get("payload").filter(|payload| text(payload, "type") == Some("item_completed"))?.get("item")?;
    let content = item.get("content").filter(|_| text(item, "type") == Some("AgentMessage"))?.as_array()?;
    let said = content.iter().filter_map(|part| text(part, "text")).collect::<Vec<_>>().join("\n");
    (!said.is_empty()).then(|| Said { text: said, at: text(&line, "timestamp").map(str::to_owned) })
}

/// What an item says of the end of a call.
fn ended(item: &Value) -> Option<Recorded> {
    let completed = text(item, "status") == Some("completed");
    let ran = completed || text(item, "status") == Some("failed");
    let (tool, input, end) = match text(item, "type")? {
        // A person's own line is none of the agent's, and what is typed into a program belongs to its call.
        "CommandExecution" if !matches!(text(item, "source"), Some("user_shell" | "unified_exec_interaction")) => {
            let exit_code = item.get("exit_code").and_then(Value::as_i64);
            let output = text(item, "aggregated_output").filter(|output| output.len() <= MAX_OUTPUT_BYTES);
            let tests = output.map(|output| outcome::tests(BASH, &Value::from(output)));
            let passed = exit_code.map(|code| code == 0 && completed);
            let line = item.get("command").and_then(Value::as_array).and_then(|words| words.last());
            let input = line.map(|line| json!({"command": line}));
            (Some(BASH), input, RecordedEnd { passed, exit_code, tests, ..RecordedEnd::of(ran) })
        }
        "FileChange" => (Some("Edit"), None, of_hooked(ran, Some(completed))),
        // How a server's tool that answered ended, its answer says.
        "McpToolCall" => (None, None, of_hooked(ran, (!completed).then_some(false))),
        _ => return None,
    };
    let call = text(item, "id")?.to_owned();
    Some(Recorded { call, tool: tool.map(str::to_owned), input, end: Some(end), at: None })
}

/// The end of a call whose hook is started only if it succeeded.
fn of_hooked(ran: bool, passed: Option<bool>) -> RecordedEnd {
    RecordedEnd { passed, untold: passed == Some(false), ..RecordedEnd::of(ran) }
}

/// A call that typed something into a program that runs. Keys that only control it, such as an interrupt, type nothing.
fn typed(call: &Value) -> Option<Recorded> {
    let arguments: Value = serde_json::from_str(text(call, "arguments")?).ok()?;
    text(&arguments, "chars")?.chars().find(|letter| !letter.is_control())?;
    let (call, tool) = (text(call, "call_id")?.to_owned(), Some(TYPES.to_owned()));
    Some(Recorded { call, tool, input: None, end: Some(RecordedEnd::of(true)), at: None })
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(item: &Value) -> Option<Recorded> {
        let line = json!({"timestamp": "2026-11-30T17:05:39.380Z", "type": "event_msg",
            "payload": {"type": "item_completed", "item": item}});
        read(&line.to_string()).pop()
    }

    fn shell(status: &str, exit_code: i64, output: &str) -> Value {
        json!({"type": "CommandExecution", "id": "c", "command": ["/bin/bash", "-lc", "make"], "status": status,
            "source": "unified_exec_startup", "exit_code": exit_code, "aggregated_output": output})
    }

    #[test]
    fn words_are_the_items_with_a_message_of_the_agent() {
        let line = |item: &str| {
            format!(r#"{{"timestamp":"t","type":"event_msg","payload":{{"type":"item_completed","item":{item}}}}}"#)
        };
        let said = Some(Said { text: "Done.".into(), at: Some("t".into()) });
        assert_eq!(words(&line(r#"{"type":"AgentMessage","content":[{"type":"Text","text":"Done."}]}"#)), said);
        assert_eq!(words(&line(r#"{"type":"UserMessage","content":[{"text":"\"AgentMessage\""}]}"#)), None);
    }

    #[test]
    fn the_end_of_a_program_is_its_status() {
        for (status, code, passed, ran) in
            [("completed", 0, true, true), ("failed", 3, false, true), ("declined", 1, false, false)]
        {
            let found = item(&shell(status, code, "x")).unwrap();
            let end = found.end.unwrap();
            assert_eq!((end.ran, end.passed, end.exit_code), (ran, Some(passed), Some(code)), "{status}");
            assert_eq!((found.call.as_str(), found.tool.as_deref()), ("c", Some("Bash")));
            assert_eq!(found.input, Some(json!({"command": "make"})));
        }
        let user = json!({"type": "CommandExecution", "id": "c", "source": "user_shell", "status": "completed"});
        assert_eq!(item(&user), None);
    }

    #[test]
    fn other_items_say_whether_they_ran() {
        let change = |status: &str| item(&json!({"type": "FileChange", "id": "c", "status": status})).unwrap().end;
        assert_eq!(change("completed").unwrap().passed, Some(true));
        let failed = change("failed").unwrap();
        assert_eq!((failed.passed, failed.untold), (Some(false), true));
        assert!(!change("declined").unwrap().ran);
        assert!(item(&json!({"type": "McpToolCall", "id": "c", "status": "completed"})).unwrap().end.unwrap().ran);
        assert_eq!(item(&json!({"type": "AgentMessage", "id": "c"})), None);
    }

    #[test]
    fn only_what_is_typed_counts_as_a_call_past_the_guard() {
        let typed = |chars: &str| {
            let arguments = json!({"session_id": 1, "chars": chars}).to_string();
            let payload =
                json!({"type": "function_call", "name": "write_stdin", "call_id": "c", "arguments": arguments});
            read(&json!({"type": "response_item", "payload": payload}).to_string()).len()
        };
        assert_eq!([typed("touch x\n"), typed(""), typed("\u{3}"), typed("\r")], [1, 0, 0, 0]);
        assert_eq!(read("{\"item_completed\": "), []);
    }
}
