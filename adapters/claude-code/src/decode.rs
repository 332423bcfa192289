//! A hook's input as neutral events.

use phasegate_adapter::{Decoded, Message, Problem, SessionView};
use phasegate_core::event::{Agent, By, Outcome, PermissionOutcome, SessionSource};
use phasegate_core::{Code, Event, EventKind};
use serde_json::Value;

use crate::hook::Hook;
use crate::notice;
use crate::outcome::{self, Ending};
use crate::pairing::{Opened, Pairing};
use crate::tools::{self, Named};
use crate::wire::{self, ATTENDED, ENTRYPOINT, Head, fields};

/// What the client says of its terminal.
#[derive(Clone, Copy, Default)]
struct Terminal<'a> {
    entrypoint: Option<&'a str>,
    attended: Option<&'a str>,
}

impl<'a> Terminal<'a> {
    fn of(message: &'a Message) -> Self {
        let variable = |name: &str| message.environment.get(name).map(String::as_str);
        Self { entrypoint: variable(ENTRYPOINT), attended: variable(ATTENDED) }
    }

    /// Whether the client reads from a terminal; `None` where it does not say so plainly.
    fn is_one(self) -> Option<bool> {
        match (self.entrypoint, self.attended) {
            (_, Some(attended)) if attended != "1" => Some(false),
            (Some("cli"), _) => Some(true),
            (Some(other), _) if other.starts_with("sdk") => Some(false),
            _ => None,
        }
    }
}

/// Turns one hook input into events.
pub(crate) fn decode(message: &Message, session: &SessionView<'_>) -> Result<Decoded, Problem> {
    let Some(hook) = Hook::named(&message.event) else {
        return Err(Problem::new(Code::EventUnknown, format!("the hook event `{}` is not known", message.event)));
    };
    let head = Head::of(&message.body)?;
    let mut pairing = Pairing::from_memory(session.memory());
    let kinds = kinds(hook, message, head.agent_id.unwrap_or_default(), &mut pairing)?;
    let mut event = envelope(&head);
    let events = kinds
        .into_iter()
        .map(|kind| {
            event.kind = kind;
            event.clone()
        })
        .collect();
    Ok(Decoded { events, memory: pairing.into_memory() })
}

/// Who, where and in which session, with any kind.
fn envelope(head: &Head<'_>) -> Event {
    let agent = (head.agent_id.is_some() || head.agent_type.is_some()).then(|| Agent {
        id: head.agent_id.unwrap_or_default().to_owned(),
        kind: head.agent_type.unwrap_or_default().to_owned(),
        parent: None,
    });
    Event {
        cwd: head.cwd.map(str::to_owned),
        permission_mode: head.permission_mode.map(str::to_owned),
        agent,
        ..Event::new(head.session_id, EventKind::Idle {})
    }
}

/// The events' kinds. `by` is the id of the subagent that the message is about; empty for the main agent.
fn kinds(hook: Hook, message: &Message, by: &str, pairing: &mut Pairing) -> Result<Vec<EventKind>, Problem> {
    Ok(match hook {
        Hook::PreToolUse => tool_call(fields(message)?, by, pairing),
        Hook::PostToolUse => vec![tool_ran(fields(message)?, pairing)],
        Hook::PostToolUseFailure => vec![tool_failed(fields(message)?, pairing)],
        Hook::PostToolBatch => {
            pairing.all_ended(by);
            vec![EventKind::BatchEnd {}]
        }
        Hook::UserPromptSubmit => {
            pairing.all_ended(by);
            prompted(fields(message)?, by, Terminal::of(message))
        }
        Hook::UserPromptExpansion => expansion(fields(message)?),
        Hook::SessionStart => vec![session_start(&fields::<wire::SessionStart>(message)?, pairing)?],
        Hook::SessionEnd => {
            *pairing = Pairing::default();
            vec![EventKind::SessionEnd {}]
        }
        Hook::SubagentStart => vec![subagent_start(fields(message)?, pairing)],
        Hook::SubagentStop => vec![subagent_stop(fields(message)?, pairing)],
        Hook::Stop => {
            pairing.all_ended(by);
            vec![EventKind::Stop {}]
        }
        Hook::PreCompact => vec![EventKind::Compact {}],
        Hook::PermissionRequest => vec![permission(fields(message)?, by, PermissionOutcome::Asked, pairing)],
        Hook::PermissionDenied => vec![permission(fields(message)?, by, PermissionOutcome::Refused, pairing)],
        Hook::ConfigChange => vec![config_change(fields(message)?)],
        Hook::MessageDisplay => vec![display(fields(message)?)],
        Hook::Other => Vec::new(),
    })
}

fn tool_call(call: wire::ToolUse, by: &str, pairing: &mut Pairing) -> Vec<EventKind> {
    if let Some(id) = &call.tool_use_id {
        pairing.opened(&Opened { id, by, tool: &call.tool_name, input: &call.tool_input });
    }
    let named = tools::canonical(call.tool_name, call.mcp_server);
    let skill = (named.server.is_none() && named.tool == "Skill").then(|| skill(&call.tool_input)).flatten();
    let analysis = tools::analysis(&named, &call.tool_input);
    let Named { tool, native, server } = named;
    let call = EventKind::ToolCall {
        id: call.tool_use_id,
        tool,
        native,
        server,
        background: call.tool_input.get("run_in_background").and_then(Value::as_bool) == Some(true),
        input: call.tool_input,
        labels: None,
        analysis,
    };
    std::iter::once(call).chain(skill).collect()
}

/// The skill that a call of the tool `Skill` invokes.
fn skill(input: &Value) -> Option<EventKind> {
    let name = input.get("skill")?.as_str()?.trim_start_matches('/').to_owned();
    let args = input.get("args").filter(|args| !args.is_null()).cloned();
    Some(EventKind::Skill { name, args, by: By::Agent })
}

fn tool_ran(ran: wire::ToolRan, pairing: &mut Pairing) -> EventKind {
    let started = ran.tool_response.get("agentId").and_then(Value::as_str);
    pairing.ended(ran.tool_use_id.as_deref(), started);
    let named = tools::canonical(ran.tool_name, ran.mcp_server);
    let ending = outcome::of_response(own(&named), &ran.tool_input, &ran.tool_response);
    result(ran.tool_use_id, ending, named.tool, ran.tool_input)
}

fn tool_failed(failed: wire::ToolFailed, pairing: &mut Pairing) -> EventKind {
    pairing.ended(failed.tool_use_id.as_deref(), None);
    let named = tools::canonical(failed.tool_name, failed.mcp_server);
    let ending = outcome::of_failure(own(&named), &failed.error, failed.is_interrupt);
    result(failed.tool_use_id, ending, named.tool, failed.tool_input)
}

/// The canonical name of one of the client's own tools; empty for a server's.
fn own(named: &Named) -> &str {
    if named.server.is_some() { "" } else { &named.tool }
}

/// A call's end. The tool is always named, so that a result proves something for its own call only. What the call
/// answered is left out: no policy reads it, and it may hold anything.
fn result(id: Option<String>, ending: Ending, tool: String, input: Value) -> EventKind {
    let named = id.is_some();
    EventKind::ToolResult {
        id,
        outcome: Some(ending.outcome),
        ok: None,
        exit_code: ending.exit_code,
        output: None,
        tool: Some(tool),
        input: (!named).then_some(input),
    }
}

/// A prompt; and where it is the client's own note that a program in the background is over, the end of that call: how
/// it ended is the program's word, so it proves nothing.
fn prompted(submit: wire::PromptSubmit, by: &str, terminal: Terminal<'_>) -> Vec<EventKind> {
    let over = notice::ended(&submit.prompt).map(|id| EventKind::ToolResult {
        id: Some(id.to_owned()),
        outcome: Some(Outcome::Unknown),
        ok: None,
        exit_code: None,
        output: None,
        tool: None,
        input: None,
    });
    over.into_iter().chain([prompt(submit, by, terminal)]).collect()
}

fn prompt(submit: wire::PromptSubmit, by: &str, terminal: Terminal<'_>) -> EventKind {
    let interactive = match submit.source.as_deref() {
        // The platform's own notifications carry words of subagents and commands, and begin with a tag.
        _ if !by.is_empty() || notice::begins_with_tag(&submit.prompt) => Some(false),
        Some(source) if source != "user" => Some(false),
        _ => terminal.is_one(),
    };
    EventKind::Prompt { text: submit.prompt, interactive }
}

/// A skill that a person invokes as `/name`: the client makes no `Skill` call for it.
fn expansion(expansion: wire::PromptExpansion) -> Vec<EventKind> {
    if expansion.expansion_type != "slash_command" {
        return Vec::new();
    }
    let args = expansion.command_args.filter(|args| !args.is_empty()).map(Value::String);
    vec![EventKind::Skill { name: expansion.command_name.trim_start_matches('/').to_owned(), args, by: By::Human }]
}

fn session_start(start: &wire::SessionStart, pairing: &mut Pairing) -> Result<EventKind, Problem> {
    let source = match start.source.as_str() {
        "startup" => SessionSource::Startup,
        "resume" => SessionSource::Resume,
        "clear" => SessionSource::Clear,
        "compact" => SessionSource::Compact,
        "fork" => SessionSource::Fork,
        other => {
            return Err(Problem::new(
                Code::BadInput,
                format!("the input of the hook `SessionStart`: the source `{other}` is not known"),
            ));
        }
    };
    // A conversation can be compacted in the middle of a turn; everything else begins without open calls.
    if source != SessionSource::Compact {
        *pairing = Pairing::default();
    }
    Ok(EventKind::SessionStart { source, parent: None })
}

fn subagent_start(agent: wire::Subagent, pairing: &mut Pairing) -> EventKind {
    let call = pairing.subagent(&agent.agent_id);
    EventKind::SubagentStart { id: agent.agent_id, kind: agent.agent_type, call, prompt: None }
}

fn subagent_stop(agent: wire::Subagent, pairing: &mut Pairing) -> EventKind {
    pairing.all_ended(&agent.agent_id);
    EventKind::SubagentStop { id: agent.agent_id, kind: agent.agent_type, message: agent.last_assistant_message }
}

fn permission(asked: wire::ToolUse, by: &str, outcome: PermissionOutcome, pairing: &Pairing) -> EventKind {
    let id = asked.tool_use_id.or_else(|| pairing.like(by, &asked.tool_name, &asked.tool_input));
    EventKind::Permission { id, outcome }
}

fn config_change(change: wire::ConfigChange) -> EventKind {
    EventKind::ConfigChanged { path: change.file_path.unwrap_or(change.source), unguarded: None }
}

fn display(piece: wire::MessageDisplay) -> EventKind {
    EventKind::Message { id: piece.message_id, role: "assistant".into(), text: piece.delta, complete: piece.last }
}

#[cfg(test)]
mod tests {
    use phasegate_core::EventKind;

    use super::{Terminal, prompt};
    use crate::wire::PromptSubmit;

    fn interactive(text: &str, source: Option<&str>, entrypoint: Option<&str>, by: &str) -> Option<bool> {
        let submit = PromptSubmit { prompt: text.into(), source: source.map(Into::into) };
        match prompt(submit, by, Terminal { entrypoint, attended: None }) {
            EventKind::Prompt { interactive, .. } => interactive,
            _ => panic!("a prompt"),
        }
    }

    #[test]
    fn only_what_a_terminal_sends_is_a_persons() {
        assert_eq!(interactive("hello", None, None, ""), None);
        assert_eq!(interactive("hello", None, Some("cli"), ""), Some(true));
        assert_eq!(interactive("hello", Some("user"), Some("cli"), ""), Some(true));
        assert_eq!(interactive("hello", Some("system"), Some("cli"), ""), Some(false));
        assert_eq!(interactive("hello", Some("user"), Some("sdk-cli"), ""), Some(false));
        assert_eq!(interactive("hello", None, Some("claude-vscode"), ""), None);
        assert_eq!(interactive("<task-notification>\n", None, Some("cli"), ""), Some(false));
        assert_eq!(interactive("hello", None, Some("cli"), "a1"), Some(false));
    }

    #[test]
    fn a_terminal_that_nobody_sits_before_is_none() {
        let terminal = |attended| Terminal { entrypoint: Some("cli"), attended };
        assert_eq!(terminal(Some("1")).is_one(), Some(true));
        assert_eq!(terminal(Some("0")).is_one(), Some(false));
        assert_eq!(terminal(Some("")).is_one(), Some(false));
    }
}
