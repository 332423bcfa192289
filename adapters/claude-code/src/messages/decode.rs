//! A hook's input as neutral events.

use phasegate_adapter::{Decoded, Memory, Message, Problem, SessionView};
use phasegate_core::calls::analysis::{CallAnalysis, Invocation};
use phasegate_core::calls::reported_numbers;
use phasegate_core::calls::reported_numbers::Reported;
use phasegate_core::calls::tool::{AGENT, BASH, SKILL};
use phasegate_core::events::event::{Agent, By, Outcome, PermissionOutcome, SessionSource};
use phasegate_core::shell::test_report::TestReport;
use phasegate_core::state::OpenCall;
use phasegate_core::{Code, Event, EventKind};
use serde_json::Value;

use crate::hook::Hook;
use crate::hosts::dialect::{Dialect, Ends, Skills};
use crate::hosts::host::Host;
use crate::messages::notice;
use crate::messages::outcome;
use crate::messages::outcome::Ending;
use crate::messages::read_skill;
use crate::messages::tools;
use crate::messages::tools::Named;
use crate::messages::wire;
use crate::messages::wire::{Head, fields};

/// What the client says of its terminal.
#[derive(Clone, Copy, Default)]
struct Terminal<'a> {
    entrypoint: Option<&'a str>,
    attended: Option<&'a str>,
}

impl<'a> Terminal<'a> {
    fn of(host: &Host, message: &'a Message) -> Self {
        let variable = |name: &str| message.environment.get(name).map(String::as_str);
        Self { entrypoint: variable(host.entrypoint_variable), attended: variable(host.attended_variable) }
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

/// A message with what its decoding depends on.
struct Decoding<'a> {
    host: &'a Host,
    dialect: &'a Dialect,
    message: &'a Message,
    /// The id of the subagent that the message is about; empty for the main agent.
    by: &'a str,
    session: &'a SessionView<'a>,
}

/// Turns one hook input into events.
pub(crate) fn decode(host: &Host, message: &Message, session: &SessionView<'_>) -> Result<Decoded, Problem> {
    let Some(hook) = Hook::named(&message.event) else {
        return Err(Problem::new(Code::EventUnknown, format!("the hook event `{}` is not known", message.event)));
    };
    if host.other(&message.body, &message.environment).is_some_and(|other| other.silent) {
        return Ok(Decoded { events: Vec::new(), memory: Memory::Null });
    }
    let head = Head::of(&message.body)?;
    let dialect = host.dialect(message);
    let decoding = Decoding { host, dialect, message, by: head.agent_id.unwrap_or_default(), session };
    let kinds = decoding.kinds(hook)?;
    let mut event = envelope(&head);
    let events = kinds
        .into_iter()
        .map(|kind| {
            event.kind = kind;
            event.clone()
        })
        .collect();
    Ok(Decoded { events, memory: Memory::Null })
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

impl Decoding<'_> {
    fn kinds(&self, hook: Hook) -> Result<Vec<EventKind>, Problem> {
        let message = self.message;
        Ok(match hook {
            Hook::PreToolUse => self.tool_call(fields(message)?),
            Hook::PostToolUse => vec![self.tool_ran(fields(message)?)],
            Hook::PostToolUseFailure => vec![self.tool_failed(fields(message)?)],
            Hook::PostToolBatch => vec![EventKind::BatchEnd {}],
            Hook::UserPromptSubmit => self.prompted(fields(message)?),
            Hook::UserPromptExpansion => expansion(fields(message)?),
            Hook::SessionStart => vec![session_start(&fields::<wire::SessionStart>(message)?)?],
            Hook::SessionEnd => vec![EventKind::SessionEnd {}],
            Hook::SubagentStart => vec![self.subagent_start(fields(message)?)],
            Hook::SubagentStop => vec![subagent_stop(fields(message)?, self.holds())],
            // The end of a subagent's turn has an event of its own.
            Hook::Stop if !self.by.is_empty() => Vec::new(),
            Hook::Stop => stop(fields(message)?, self.holds(), Terminal::of(self.host, message)),
            Hook::PreCompact => vec![EventKind::Compact {}],
            Hook::PermissionRequest => vec![self.permission(fields(message)?, PermissionOutcome::Asked)],
            Hook::PermissionDenied => vec![self.permission(fields(message)?, PermissionOutcome::Refused)],
            Hook::ConfigChange => vec![config_change(fields(message)?)],
            Hook::MessageDisplay => vec![display(fields(message)?)],
            Hook::Other => Vec::new(),
        })
    }

    /// Whether a block at the end of a turn has the agent go on.
    fn holds(&self) -> bool {
        matches!(self.dialect.ends, Ends::Response | Ends::Recorded)
    }

    fn tool_call(&self, call: wire::ToolUse) -> Vec<EventKind> {
        let always = self.dialect.background_tool == Some(call.tool_name.as_str());
        let named = tools::canonical(self.dialect, call.tool_name, call.mcp_server);
        let skill = match own(&named) {
            SKILL => skill(&call.tool_input),
            BASH if self.dialect.skills == Skills::Text => read_skill::of_line(&call.tool_input),
            _ => None,
        };
        let analysis = tools::analysis(self.dialect, &named, &call.tool_input);
        let invokes = invoked(self.dialect, &named, skill.as_ref(), &call.tool_input);
        // The start of a subagent is reported with its type, and not with the call.
        let starts_as = match &invokes {
            Some(Invocation::Agent(kind)) => Some(kind.clone()),
            Some(Invocation::Skill(_)) | None => None,
        };
        let analysis = CallAnalysis { invokes, starts_as, ..analysis };
        let labels = tools::labels(self.dialect, &named);
        let Named { tool, native, server } = named;
        let call = EventKind::ToolCall {
            id: call.tool_use_id,
            tool,
            native,
            server,
            background: always || call.tool_input.get(self.dialect.background).and_then(Value::as_bool) == Some(true),
            input: call.tool_input,
            labels,
            analysis,
        };
        std::iter::once(call).chain(skill).collect()
    }

    fn tool_ran(&self, ran: wire::ToolRan) -> EventKind {
        let named = tools::canonical(self.dialect, ran.tool_name, ran.mcp_server);
        let ending = match self.dialect.ends {
            Ends::Response => outcome::of_response(own(&named), &ran.tool_input, &ran.tool_response),
            Ends::Text => outcome::of_text(named.own().and_then(|own| self.dialect.tool(own))),
            Ends::TextWithStatus => outcome::of_text_with_status(own(&named), &ran.tool_response),
            Ends::Recorded => outcome::before_record(own(&named), &ran.tool_input, &ran.tool_response),
        };
        let kept = Kept {
            tests: outcome::tests(own(&named), &ran.tool_response),
            reported: outcome::reported(own(&named), &ran.tool_response),
        };
        result(ran.tool_use_id, ending, named.tool, ran.tool_input, kept)
    }

    fn tool_failed(&self, failed: wire::ToolFailed) -> EventKind {
        let named = tools::canonical(self.dialect, failed.tool_name, failed.mcp_server);
        let ending = outcome::of_failure(own(&named), &failed.error, failed.is_interrupt);
        let error = Value::String(failed.error);
        let reported = if named.server.is_some() { reported_numbers::of_server(&error) } else { Reported::new() };
        let tests = outcome::tests(own(&named), &error);
        let kept = Kept { tests, reported };
        result(failed.tool_use_id, ending, named.tool, failed.tool_input, kept)
    }

    /// A prompt, and the skills that it names. If it is the client's own notification that a background program ended,
    /// also the end of that call. The notification quotes the program, so the outcome proves nothing.
    fn prompted(&self, submit: wire::PromptSubmit) -> Vec<EventKind> {
        let over = notice::ended(&submit.prompt).map(ended_in_background);
        let by = if self.by.is_empty() { By::Human } else { By::Agent };
        let named = (self.dialect.skills == Skills::Text).then(|| read_skill::of_prompt(&submit.prompt, by));
        let prompt = prompt(submit, self.by, Terminal::of(self.host, self.message));
        over.into_iter().chain([prompt]).chain(named.into_iter().flatten()).collect()
    }

    fn subagent_start(&self, agent: wire::Subagent) -> EventKind {
        let call = self.starter();
        EventKind::SubagentStart { id: agent.agent_id, kind: agent.agent_type, call, prompt: None }
    }

    /// The call that started the subagent that begins now, if only one can have. A skill that runs as a subagent looks
    /// like any other before it runs. While a subagent works that is tied to no call, any open call may have started it.
    fn starter(&self) -> Option<String> {
        let tied = |agent: &str| self.session.open_calls().any(|call| call.started.as_deref() == Some(agent));
        if !self.session.agents().all(tied) {
            return None;
        }
        let starts = |call: &&OpenCall| call.started.is_none() && matches!(call.tool.as_str(), AGENT | SKILL);
        let mut starters = self.session.open_calls().filter(starts);
        match (starters.next(), starters.next()) {
            (Some(one), None) => one.id.clone(),
            _ => None,
        }
    }

    /// A question to the user about a call. A client that does not name the call means the newest one like it.
    fn permission(&self, asked: wire::ToolUse, outcome: PermissionOutcome) -> EventKind {
        let id = asked.tool_use_id.or_else(|| {
            let Named { tool, .. } = tools::canonical(self.dialect, asked.tool_name, asked.mcp_server);
            let like = |call: &&OpenCall| {
                call.agent.as_deref().unwrap_or_default() == self.by
                    && call.tool == tool
                    && call.has_input(&asked.tool_input)
            };
            self.session.open_calls().rev().find(like)?.id.clone()
        });
        EventKind::Permission { id, outcome }
    }
}

/// The skill that a call of the tool `Skill` invokes.
fn skill(input: &Value) -> Option<EventKind> {
    let name = input.get("skill")?.as_str()?.trim_start_matches('/').to_owned();
    let args = input.get("args").filter(|args| !args.is_null()).cloned();
    Some(EventKind::Skill { name, args, by: By::Agent })
}

/// The skill or the subagent that a call invokes. The client knows a type for calls that name none.
fn invoked(dialect: &Dialect, named: &Named, skill: Option<&EventKind>, input: &Value) -> Option<Invocation> {
    if let Some(EventKind::Skill { name, .. }) = skill {
        return Some(Invocation::Skill(name.clone()));
    }
    let kind = match input.get(dialect.agent_kind) {
        None | Some(Value::Null) => dialect.any_agent,
        Some(kind) => kind.as_str()?,
    };
    (own(named) == AGENT).then(|| Invocation::Agent(kind.to_owned()))
}

/// The canonical name of one of the client's own tools; empty for a server's.
fn own(named: &Named) -> &str {
    if named.server.is_some() { "" } else { &named.tool }
}

/// What is kept of what a call answered: it may hold anything.
#[derive(Default)]
struct Kept {
    tests: Vec<TestReport>,
    reported: Reported,
}

/// A call's end. The tool is always named, so that a result proves something for its own call only.
fn result(id: Option<String>, ending: Ending, tool: String, input: Value, kept: Kept) -> EventKind {
    let named = id.is_some();
    let Kept { tests, reported } = kept;
    EventKind::ToolResult {
        id,
        outcome: Some(ending.outcome),
        ok: None,
        exit_code: ending.exit_code,
        output: None,
        tests,
        reported,
        tool: Some(tool),
        input: (!named).then_some(input),
    }
}

/// The end of a call that ran in the background.
fn ended_in_background(id: &str) -> EventKind {
    EventKind::ToolResult {
        id: Some(id.to_owned()),
        outcome: Some(Outcome::Unknown),
        ok: None,
        exit_code: None,
        output: None,
        tests: Vec::new(),
        reported: Reported::new(),
        tool: None,
        input: None,
    }
}

fn prompt(submit: wire::PromptSubmit, by: &str, terminal: Terminal<'_>) -> EventKind {
    let interactive = match submit.source.as_deref() {
        // The platform's own notifications quote subagents and commands, and begin with a tag.
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

fn session_start(start: &wire::SessionStart) -> Result<EventKind, Problem> {
    let source = match start.source.as_str() {
        // VS Code says `new`.
        "startup" | "new" => SessionSource::Startup,
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
    Ok(EventKind::SessionStart { source, parent: None })
}

/// The agent's last message, where the host sends it, and the end of the turn.
fn stop(ended: wire::Stop, can_hold: bool, terminal: Terminal<'_>) -> Vec<EventKind> {
    let wire::Stop { last_assistant_message } = ended;
    let said = last_assistant_message.filter(|text| !text.is_empty()).map(|text| EventKind::Message {
        id: String::new(),
        role: "assistant".into(),
        text,
        complete: true,
    });
    said.into_iter().chain([EventKind::Stop { can_hold, interactive: terminal.is_one() }]).collect()
}

fn subagent_stop(agent: wire::Subagent, can_hold: bool) -> EventKind {
    EventKind::SubagentStop {
        id: agent.agent_id,
        kind: agent.agent_type,
        message: agent.last_assistant_message,
        can_hold,
    }
}

fn config_change(change: wire::ConfigChange) -> EventKind {
    // The other source is skills, which say nothing of what the client starts.
    let at_once = change.source.ends_with("_settings");
    EventKind::ConfigChanged { path: change.file_path.unwrap_or(change.source), unguarded: None, at_once }
}

fn display(piece: wire::MessageDisplay) -> EventKind {
    EventKind::Message { id: piece.message_id, role: "assistant".into(), text: piece.delta, complete: piece.last }
}

#[cfg(test)]
mod tests {
    use phasegate_core::EventKind;

    use super::{Terminal, prompt};
    use crate::messages::wire::PromptSubmit;

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
