//! Verdicts as the replies that the extension enforces: one JSON object, or nothing where the client goes on as it would.
//!
//! | key | what the extension does |
//! |---|---|
//! | `deny` | returns `{block, reason}` for a call; has nothing more done with what was typed |
//! | `ends` | beside `deny`: also has the client end the turn |
//! | `ask` | asks its user before it obeys `deny`; a yes lets the call go on |
//! | `go_on` | has the agent go on with this text as its next prompt |
//! | `registers` | offers the agent the tool `plan_skill_safety` |
//! | `context` | puts the text where the agent reads it next |
//! | `tell` | shows the text to the user |
//! | `status` | shows where the runs stand in the client's status line; empty: nothing |

use std::fmt::Write as _;

use phasegate_adapter::{Message, Problem, Received, Reply, Verdict, text};
use phasegate_core::policy::Mode;
use phasegate_core::shell::safety::SAFETY_OBLIGATION;
use phasegate_core::{Code, Decision, Effect, RunPosition};
use serde::Serialize;
use serde_json::Value;

use crate::hook::Hook;
use crate::wire::Head;

/// The text that follows a question if no person can be asked.
const NOBODY: &str = "Nobody can be asked here, so the call is denied.";

/// A reply's JSON.
#[derive(Default, Serialize)]
struct Output {
    #[serde(skip_serializing_if = "Option::is_none")]
    ask: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    deny: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    ends: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    go_on: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    registers: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tell: Option<String>,
}

/// The reply to a message with this verdict.
pub(crate) fn reply(message: &Message, verdict: &Verdict) -> Reply {
    let mut output = Output { status: status(verdict), context: text::context(verdict), ..Output::default() };
    let hook = Hook::named(&message.event);
    output.registers = verdict.obligations.iter().any(|owed| owed.id == SAFETY_OBLIGATION);
    match verdict.denial() {
        Some(decision) if hook == Some(Hook::AgentEnd) => match decision.code {
            Some(Code::Unfinished) => output.go_on = Some(text::held(decision, verdict)),
            _ => output.tell = Some(text::denial(decision)),
        },
        // What the user is told of the end of a turn is not for the agent.
        None if hook == Some(Hook::AgentEnd) => output.tell = verdict.text().map(str::to_owned),
        Some(decision) => {
            let called = hook == Some(Hook::ToolCall);
            let head = Head::of(&message.body).ok();
            deny(&mut output, decision, head.as_ref().filter(|_| called));
        }
        None => answer(verdict, &mut output),
    }
    json(&output)
}

/// A denial of what cannot be decided. Where nothing can be denied, the problem is reported.
pub(crate) fn refuse(received: Received<'_>, problem: &Problem) -> Reply {
    let hook = received.message().and_then(|message| Hook::named(&message.event));
    let text = problem.text();
    json(&match hook {
        Some(hook) if !hook.can_be_denied() => Output { tell: Some(text), ..Output::default() },
        // What cannot be read may be a call.
        Some(_) | None => Output { deny: Some(text), ..Output::default() },
    })
}

/// The reply that lets things go on and tells the problem, to the user and to the agent.
pub(crate) fn warn(problem: &Problem) -> Reply {
    let text = problem.text();
    json(&Output { context: Some(text.clone()), tell: Some(text), ..Output::default() })
}

/// Refuses what the event is about. A question is a denial too, for an extension that cannot ask it.
fn deny(output: &mut Output, decision: &Decision, call: Option<&Head<'_>>) {
    let text = text::denial(decision);
    output.ends = decision.ends_turn;
    match (decision.effect, call) {
        (Effect::Ask, Some(head)) if head.has_ui => {
            output.ask = Some(text.clone());
            output.deny = Some(text);
        }
        (Effect::Ask, Some(_)) => output.deny = Some(format!("{text}\n\n{NOBODY}")),
        _ => output.deny = Some(text),
    }
}

/// What came of a command: for the user who gave it, and where it changed something, for the agent too.
fn answer(verdict: &Verdict, output: &mut Output) {
    let Some(result) = &verdict.result else { return };
    let done = verdict.text();
    output.tell = Some(done.map_or_else(|| standing(result), str::to_owned));
    if let Some(done) = done {
        let parts = [Some(done), output.context.as_deref()];
        output.context = Some(parts.into_iter().flatten().collect::<Vec<_>>().join("\n\n"));
    }
}

/// Where the session stands, as text.
fn standing(result: &Value) -> String {
    let text = |key: &str| result.get(key).and_then(Value::as_str).unwrap_or_default();
    let list = |key: &str| {
        let items = result.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        items.collect::<Vec<_>>().join(", ")
    };
    let number = |key: &str| result.get(key).and_then(Value::as_u64).unwrap_or_default();
    if result.get("active").and_then(Value::as_bool) != Some(true) {
        let skills = list("available_skills");
        return format!("phasegate: no skill is active; skills that apply: {}", or_none(&skills));
    }
    let mut told = format!(
        "phasegate: skill {}, {} mode\nphase {} of {}: {}",
        text("skill_name"),
        text("mode"),
        number("phase_index").saturating_add(1),
        number("total_phases"),
        text("current_phase")
    );
    for (label, key) in [("allowed", "allowed_tools"), ("forbidden", "forbidden_tools"), ("missing", "missing")] {
        let items = list(key);
        if !items.is_empty() {
            let _ = write!(told, "\n{label}: {items}");
        }
    }
    told
}

fn or_none(text: &str) -> &str {
    if text.is_empty() { "none" } else { text }
}

/// Where the runs stand after the last event, for the status line; `None` where there never was one.
fn status(verdict: &Verdict) -> Option<String> {
    let told = |run: &RunPosition| {
        let mode = if run.mode == Mode::Warn { " (warn)" } else { "" };
        format!("{}: {}{mode}", run.skill, run.phase)
    };
    Some(verdict.runs.as_ref()?.iter().map(told).collect::<Vec<_>>().join(", "))
}

fn json(output: &Output) -> Reply {
    match Reply::json(output, output.deny.is_some()) {
        Reply::Json { text, .. } if text == "{}" => Reply::Nothing,
        reply => reply,
    }
}
