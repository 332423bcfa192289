//! The client's transcript of a session: one JSON object a line, with the calls of the agent and their results.

use std::path::PathBuf;
use std::time::Duration;

use phasegate_adapter::{Message, RecordPlace, Recorded, RecordedEnd, Said};
use phasegate_core::events::event::Outcome;
use serde_json::Value;

use crate::hosts::host::Host;
use crate::messages::outcome;
use crate::messages::outcome::REFUSALS;
use crate::messages::tools;

/// The folder of the transcripts of subagents, in one that is named after the session.
const SUBAGENTS: &str = "subagents";
/// How long a call is waited for: the client writes a message down within 106 ms of its end (measured with 2.1.332 and
/// 2.1.197), and starts the hook of its last call when that is complete. The hooks of the calls before it start earlier.
pub(crate) const LAG: Duration = Duration::from_millis(400);
/// The model that a message of the client itself names.
const CLIENT: &str = "<synthetic>";
/// How long what a program printed may be to be compared: of more the client keeps a part.
const MAX_COMPARED_BYTES: usize = 8 * 1024;
/// How the client begins its answer about a call that it did not make.
const NOT_MADE: [&str; 3] = ["<tool_use_error>", "PreToolUse:", "[Request interrupted"];

/// Where the client keeps the transcript of the session of this message.
pub(crate) fn place(host: &Host, message: &Message) -> Option<RecordPlace> {
    // Other hosts name a file too, which has another form.
    if !std::ptr::eq(host.dialect(message), host.own) {
        return None;
    }
    let file = PathBuf::from(message.body.get("transcript_path")?.as_str()?);
    let folder = file.with_extension("").join(SUBAGENTS);
    file.is_absolute().then_some(RecordPlace { file, folder: Some(folder) })
}

/// What a line says of calls.
pub(crate) fn read(host: &Host, line: &str) -> Vec<Recorded> {
    if !line.contains("\"tool_use") && !line.contains("\"tool_result") {
        return Vec::new();
    }
    let Ok(line) = serde_json::from_str::<Value>(line) else { return Vec::new() };
    let blocks = line.pointer("/message/content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let at = text(&line, "timestamp").map(str::to_owned);
    // What the client kept of one result; a line of several does not say of which it is.
    let results = blocks.iter().filter(|block| text(block, "type") == Some("tool_result")).count();
    let kept = line.get("toolUseResult").filter(|_| results == 1).unwrap_or(&Value::Null);
    let denied = line.get("toolDenialKind").is_some();
    let one = |block: &Value| match text(block, "type")? {
        "tool_use" => {
            let named = tools::canonical(host.own, text(block, "name")?.to_owned(), None);
            let call = text(block, "id")?.to_owned();
            let input = block.get("input").cloned();
            Some(Recorded { call, tool: Some(named.tool), input, end: None, at: at.clone() })
        }
        "tool_result" => {
            let is_error = block.get("is_error").and_then(Value::as_bool) == Some(true);
            let said = said(block.get("content").unwrap_or(&Value::Null));
            let call = text(block, "tool_use_id")?.to_owned();
            let end = if denied { NOT_RUN } else { end(is_error, &said, kept) };
            Some(Recorded { call, tool: None, input: None, end: Some(end), at: at.clone() })
        }
        _ => None,
    };
    blocks.iter().filter_map(one).collect()
}

/// What the main agent says in a line. What the client writes in its name, as about a request that failed, is none of it.
pub(crate) fn words(line: &str) -> Option<Said> {
    if !line.contains("\"text\"") {
        return None;
    }
    let line: Value = serde_json::from_str(line).ok()?;
    let is = |name: &str| line.get(name).and_then(Value::as_bool) == Some(true);
    let model = line.pointer("/message/model").and_then(Value::as_str);
    // What another agent says, and what the client itself puts there, is not the main agent's.
    let others = ["isSidechain", "isApiErrorMessage", "isMeta"].into_iter().any(is) || line.get("agentId").is_some();
    if text(&line, "type") != Some("assistant") || others || model == Some(CLIENT) {
        return None;
    }
    let said = said(line.pointer("/message/content")?);
    (!said.is_empty()).then(|| Said { text: said, at: text(&line, "timestamp").map(str::to_owned) })
}

/// What the message about the end of a batch says of its calls: each with the answer that the agent reads, and not whether
/// that is an error. So a call counts as one that ran only where its answer is none of those that the client gives itself.
pub(crate) fn told(host: &Host, message: &Message) -> Vec<Recorded> {
    let calls = message.body.get("tool_calls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let one = |call: &Value| {
        let named = tools::canonical(host.own, text(call, "tool_name")?.to_owned(), None);
        let answer = call.get("tool_response")?;
        let ran = match answer.as_str() {
            Some(answer) => plainly_ran(answer),
            None => answer.is_array() || answer.is_object(),
        };
        let end = RecordedEnd::of(ran);
        let (id, input) = (text(call, "tool_use_id")?.to_owned(), call.get("tool_input").cloned());
        Some(Recorded { call: id, tool: Some(named.tool), input, end: Some(end), at: None })
    };
    calls.iter().filter_map(one).collect()
}

/// The end of a call that the client says was denied.
const NOT_RUN: RecordedEnd = RecordedEnd::of(false);

/// How a call ended whose result says this. `kept` is what the client itself keeps of what the tool answered: a text where it
/// answered nothing. A mod may rewrite what the result says, and not that.
fn end(is_error: bool, said: &str, kept: &Value) -> RecordedEnd {
    let answered = kept.is_object() || kept.is_array();
    let exit_code = outcome::exit_code(said).filter(|_| is_error && !answered);
    let ran = answered || !is_error || exit_code.is_some();
    let is_shells = kept.get("stdout").is_some();
    let small = |bytes: usize| bytes <= MAX_COMPARED_BYTES;
    if is_shells && outcome::of_response("Bash", &Value::Null, kept).outcome == Outcome::Ok {
        let tests = small(kept.to_string().len()).then(|| outcome::tests("Bash", kept));
        return RecordedEnd { passed: Some(true), tests, ..RecordedEnd::of(ran) };
    }
    let failed = kept.is_string() && is_error;
    let tests =
        (failed && exit_code.is_some() && small(said.len())).then(|| outcome::tests("Bash", &Value::from(said)));
    RecordedEnd { passed: failed.then_some(false), exit_code, tests, ..RecordedEnd::of(ran) }
}

/// Whether an answer is that of a call that ran, as far as its text shows.
fn plainly_ran(answer: &str) -> bool {
    !NOT_MADE.iter().chain(&REFUSALS).any(|start| answer.starts_with(start))
}

/// The text of a result or a message, which is one or has several.
fn said(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| text(part, "text")).collect::<Vec<_>>().join("\n"),
        _ => String::new(),
    }
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hosts::claude_code::HOST;

    /// One line with the result of a call, as the client writes it.
    fn result(is_error: bool, content: &str, kept: &Value) -> RecordedEnd {
        let block =
            serde_json::json!({"type": "tool_result", "tool_use_id": "t", "content": content, "is_error": is_error});
        let line = serde_json::json!({"type": "user", "timestamp": "2026-11-28T19:11:40.910Z", "toolUseResult": kept,
            "message": {"role": "user", "content": [block]}});
        let mut all = read(&HOST, &line.to_string());
        assert_eq!((all.len(), all[0].call.as_str()), (1, "t"));
        all.remove(0).end.unwrap()
    }

    #[test]
    fn a_call_ran_if_the_tool_answered_whatever_its_result_says() {
        let shell = serde_json::json!({"stdout": "", "stderr": "", "interrupted": false});
        let none = Value::from("Error: no");
        for (is_error, content, kept, ran, passed) in [
            (false, "", &shell, true, Some(true)),
            (true, "PreToolUse:Bash hook error: rewritten by a mod", &shell, true, Some(true)),
            (true, "Exit code 3\n1 failed", &none, true, Some(false)),
            (true, "PreToolUse:Bash hook error: no", &none, false, Some(false)),
            (true, "<tool_use_error>Error: No such tool available: X</tool_use_error>", &none, false, Some(false)),
            (true, "The user doesn't want to proceed with this tool use.", &none, false, Some(false)),
            (false, "a copy without what the client keeps", &Value::Null, true, None),
        ] {
            let end = result(is_error, content, kept);
            assert_eq!((end.ran, end.passed), (ran, passed), "{content}");
        }
    }

    #[test]
    fn words_are_those_of_the_main_agent() {
        let line = |fields: &str, model: &str| {
            format!(
                r#"{{{fields},"timestamp":"t","message":{{"model":"{model}","content":[{{"type":"text","text":"Done."}}]}}}}"#
            )
        };
        let said = Some(Said { text: "Done.".into(), at: Some("t".into()) });
        assert_eq!(words(&line(r#""type":"assistant","isSidechain":false"#, "m")), said);
        for (fields, model) in [
            (r#""type":"assistant","isSidechain":true"#, "m"),
            (r#""type":"assistant","isApiErrorMessage":true"#, "m"),
            (r#""type":"assistant","isMeta":true"#, "m"),
            (r#""type":"assistant","agentId":"a1""#, "m"),
            (r#""type":"assistant""#, "<synthetic>"),
            (r#""type":"user""#, "m"),
            (r#""type":"api-request-blob""#, "m"),
        ] {
            assert_eq!(words(&line(fields, model)), None, "{fields}");
        }
        assert_eq!(words(r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"text"}]}}"#), None);
    }

    #[test]
    fn a_line_that_is_cut_off_or_of_something_else_says_nothing() {
        for line in
            ["", "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\"", "{\"tool_use\":1}", "[]"]
        {
            assert_eq!(read(&HOST, line), [], "{line}");
        }
        let call = read(&HOST, r#"{"message":{"content":[{"type":"tool_use","id":"t","name":"Task","input":{}}]}}"#);
        let (tool, input) = (Some("Agent".into()), Some(serde_json::json!({})));
        assert_eq!(call, [Recorded { call: "t".into(), tool, input, end: None, at: None }]);
    }
}
