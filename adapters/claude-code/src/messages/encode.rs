//! Verdicts as the client's hook replies.
//!
//! Tried with both recorded versions of the client:
//! * A denial of a tool call is JSON on stdout, the same text on stderr, and exit status 2. Each alone denies; together the
//!   agent still reads the text alone.
//! * `{"continue": false}` beside a denial ends the turn since 2.1.329. 2.1.197 denies the call, and goes on.
//! * JSON that names another event than the one asked about is an error, and the older client then lets the call through
//!   whatever the exit status. So a reply names the event it was asked about, and where that cannot be told, none.
//! * `{"decision": "block"}` with exit status 2 names no event, and denies a tool call, a prompt and an expansion.
//! * A block answered to `Stop` or `SubagentStop` makes the agent go on, and one answered to `PostToolBatch` ends its turn:
//!   there a problem is told and nothing is blocked.

use phasegate_adapter::{Frame, Message, Output, Problem, Received, Reply, Verdict, text};
use phasegate_core::Effect;
use serde::Serialize;

use crate::hook::Hook;
use crate::hosts::dialect::Dialect;
use crate::hosts::host::Host;
use crate::hosts::other;
use crate::messages::wire;

/// A reply's JSON, in the client's spelling.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_message: Option<&'a str>,
    /// `false` ends the turn.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    goes_on: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stop_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hook_specific_output: Option<Specific<'a>>,
}

/// The part of a reply that only one event understands.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Specific<'a> {
    hook_event_name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    permission_decision_reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<Behavior<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    additional_context: Option<&'a str>,
}

/// The answer to a permission request.
#[derive(Serialize)]
struct Behavior<'a> {
    behavior: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a str>,
}

/// The reply to a message with this verdict.
pub(crate) fn reply(host: &Host, message: &Message, verdict: &Verdict) -> Reply {
    honoured(host.dialect(message), Hook::named(&message.event), replied(host, message, verdict))
}

/// A reply about a call with the exit status by which the host shows its reason to the agent.
fn honoured(dialect: &Dialect, hook: Option<Hook>, reply: Reply) -> Reply {
    let about_call = matches!(hook, Some(Hook::PreToolUse | Hook::PostToolUse | Hook::PostToolUseFailure));
    match reply {
        Reply::Output(output) if about_call && output.status == 2 => {
            Reply::Output(Output { status: dialect.denies_by, ..output })
        }
        other => other,
    }
}

fn replied(host: &Host, message: &Message, verdict: &Verdict) -> Reply {
    let hook = Hook::named(&message.event);
    let dialect = host.dialect(message);
    let context = text::context(verdict).filter(|_| !prompt_follows(message));
    match verdict.denial() {
        Some(decision) if decision.ends_turn && hook == Some(Hook::PreToolUse) => {
            let text = text::denial(decision);
            let ends = Answer { goes_on: Some(false), stop_reason: Some(&text), ..tool_answer("deny", &text, None) };
            json(&ends, Some(&text), 2)
        }
        Some(decision) if hook == Some(Hook::Stop) => json(&blocked(&text::held(decision, verdict)), None, 0),
        Some(decision) => {
            let effect = if dialect.honours_ask { decision.effect } else { Effect::Deny };
            let mut text = text::denial(decision);
            if let Some(context) = context.as_deref().filter(|_| dialect.denies_in_words) {
                text = format!("{text}\n\n{context}");
            }
            denied(hook, effect, &text, context.as_deref())
        }
        None if hook == Some(Hook::PreToolUse) && is_approved(host, message, verdict) => {
            json(&tool_answer("allow", APPROVED, context.as_deref()), None, 0)
        }
        None if hook == Some(Hook::PermissionRequest) && is_approved(host, message, verdict) => {
            json(&permission("allow", None), None, 0)
        }
        None => passed(hook, context.as_deref(), verdict.text()),
    }
}

/// The answer to the client's question to its user.
fn permission<'a>(behavior: &'static str, message: Option<&'a str>) -> Answer<'a> {
    Answer {
        hook_specific_output: Some(Specific {
            hook_event_name: "PermissionRequest",
            decision: Some(Behavior { behavior, message }),
            ..Specific::default()
        }),
        ..Answer::default()
    }
}

/// Why the client need not ask its user.
const APPROVED: &str = "phasegate: the call only reads";

/// Whether the client need not ask its user: it speaks its own words, and the policy approves the call. The client's own
/// rules that deny or ask hold all the same.
fn is_approved(host: &Host, message: &Message, verdict: &Verdict) -> bool {
    let own = std::ptr::eq(host.dialect(message), host.own);
    // A host that cannot ask does not know such an answer either.
    own && host.own.honours_ask
        && verdict.warnings.is_empty()
        && verdict.decision.as_ref().is_some_and(|decision| decision.approved)
}

/// Whether a prompt comes next, with which the context goes out, so that it is read once: not after a compaction. VS Code
/// says `new`, and its prompts take no context.
fn prompt_follows(message: &Message) -> bool {
    let source = message.body.get("source").and_then(serde_json::Value::as_str);
    Hook::named(&message.event) == Some(Hook::SessionStart)
        && matches!(source, Some("startup" | "resume" | "clear" | "fork"))
}

/// A denial, in the form of the frame's event as far as that can be told.
pub(crate) fn refuse(host: &Host, received: Received<'_>, problem: &Problem) -> Reply {
    let dialect;
    let hook = match received {
        Received::Message(message) => {
            dialect = host.dialect(message);
            Hook::named(&message.event)
        }
        Received::Unread(frame) => {
            dialect = host.by_variable(frame);
            match wire::unread(host, frame) {
                Some(body) => other::event(&body).and_then(|event| Hook::named(&event)),
                None => unread(frame),
            }
        }
    };
    let reply = honoured(dialect, hook, block(hook, &problem.text(), None));
    match reply {
        // The line of an event at which the client would go on without end makes nothing of the status alone.
        Reply::Output(output) if hook.is_none() && dialect.denies_in_words => {
            Reply::Output(Output { stdout: Vec::new(), ..output })
        }
        other => other,
    }
}

/// The reply that lets the call go on and reports the problem: to the user, and to the agent where that is possible.
pub(crate) fn warn(received: Received<'_>, problem: &Problem) -> Reply {
    let hook = received.message().and_then(|message| Hook::named(&message.event));
    told(hook, &problem.text(), None)
}

/// Whether a frame that cannot be read is a tool call: the client writes the event's name before anything the agent
/// chose, and within text every quotation mark is escaped, so the first such key is the client's own.
///
/// Only this one event is recognised: where the guess is wrong, the reply still blocks.
fn unread(frame: &Frame) -> Option<Hook> {
    let text = String::from_utf8_lossy(&frame.bytes);
    let key = |key: &str| text.split_once(key).map(|(_, rest)| rest);
    let rest = key("\"hook_event_name\"").or_else(|| key("\"hookEventName\""))?;
    let rest = rest.trim_start().strip_prefix(':')?.trim_start();
    rest.starts_with("\"PreToolUse\"").then_some(Hook::PreToolUse)
}

fn denied(hook: Option<Hook>, effect: Effect, text: &str, context: Option<&str>) -> Reply {
    // The decision is about the end of the turn: a problem there is told, by `block`.
    if hook == Some(Hook::SubagentStop) {
        return json(&blocked(text), None, 0);
    }
    if effect == Effect::Ask && hook == Some(Hook::PreToolUse) {
        return json(&tool_answer("ask", text, context), None, 0);
    }
    block(hook, text, context)
}

/// Refuses what the event is about; where nothing can be refused, tells it.
fn block(hook: Option<Hook>, text: &str, context: Option<&str>) -> Reply {
    let output = match hook {
        Some(Hook::PreToolUse) => tool_answer("deny", text, context),
        Some(Hook::PermissionRequest) => permission("deny", Some(text)),
        Some(
            hook @ (Hook::PostToolUse | Hook::PostToolUseFailure | Hook::UserPromptSubmit | Hook::UserPromptExpansion),
        ) => Answer { hook_specific_output: told_context(hook, context), ..blocked(text) },
        None | Some(Hook::ConfigChange) => blocked(text),
        Some(
            Hook::PostToolBatch
            | Hook::SessionStart
            | Hook::SessionEnd
            | Hook::SubagentStart
            | Hook::SubagentStop
            | Hook::Stop
            | Hook::PreCompact
            | Hook::PermissionDenied
            | Hook::MessageDisplay
            | Hook::Other,
        ) => return told(hook, text, context),
    };
    json(&output, Some(text), 2)
}

fn blocked(text: &str) -> Answer<'_> {
    Answer { decision: Some("block"), reason: Some(text), ..Answer::default() }
}

fn tool_answer<'a>(answer: &'static str, text: &'a str, context: Option<&'a str>) -> Answer<'a> {
    Answer {
        hook_specific_output: Some(Specific {
            hook_event_name: "PreToolUse",
            permission_decision: Some(answer),
            permission_decision_reason: Some(text),
            additional_context: context,
            ..Specific::default()
        }),
        ..Answer::default()
    }
}

/// Nothing is refused. Never an explicit allow, unless the policy approves the call: that skips the user's own question
/// about it.
/// What came of a command that the user typed is told to both, the user and the agent.
fn passed(hook: Option<Hook>, context: Option<&str>, answer: Option<&str>) -> Reply {
    if let Some(answer) = answer {
        return told(hook, answer, context);
    }
    match hook.and_then(|hook| told_context(hook, context)) {
        Some(specific) => json(&Answer { hook_specific_output: Some(specific), ..Answer::default() }, None, 0),
        None => Reply::Nothing,
    }
}

fn told(hook: Option<Hook>, text: &str, context: Option<&str>) -> Reply {
    let both = context.map(|context| format!("{text}\n\n{context}"));
    let specific = hook.and_then(|hook| told_context(hook, Some(both.as_deref().unwrap_or(text))));
    json(&Answer { system_message: Some(text), hook_specific_output: specific, ..Answer::default() }, None, 0)
}

fn told_context(hook: Hook, context: Option<&str>) -> Option<Specific<'_>> {
    Some(Specific { hook_event_name: hook.context_name()?, additional_context: Some(context?), ..Specific::default() })
}

fn json(answer: &Answer<'_>, stderr: Option<&str>, status: u8) -> Reply {
    // Writing these types cannot fail; if it did, a reply that must block still would, by its exit status.
    let mut stdout = serde_json::to_vec(answer).unwrap_or_default();
    stdout.push(b'\n');
    let stderr = stderr.map(|text| format!("{text}\n").into_bytes()).unwrap_or_default();
    Reply::Output(Output { stdout, stderr, status })
}
