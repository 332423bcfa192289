//! The extension's messages as neutral events.

use phasegate_adapter::{Decoded, Memory, Message, Problem, SessionView};
use phasegate_core::calls::analysis::{CallAnalysis, Invocation};
use phasegate_core::calls::reported_numbers;
use phasegate_core::calls::reported_numbers::Reported;
use phasegate_core::events::event::{By, Outcome, PermissionOutcome, SessionSource};
use phasegate_core::shell::safety::REGISTER;
use phasegate_core::shell::test_report::TestReport;
use phasegate_core::{Code, Event, EventKind};
use serde_json::Value;

use crate::hook::Hook;
use crate::outcome::{self, Ending};
use crate::tools::{self, Named};
use crate::wire::{self, Told};

/// The words with which a person has a skill read.
pub(crate) const SKILL_COMMAND: &str = "/skill:";
/// The first word of the commands that people type everywhere.
const TYPED: &str = "/phasegate";

/// Turns one message into events.
pub(crate) fn decode(message: &Message, session: &SessionView<'_>) -> Result<Decoded, Problem> {
    let Some(hook) = Hook::named(&message.event) else {
        return Err(Problem::new(Code::EventUnknown, format!("the event `{}` is not known", message.event)));
    };
    let decoding = Decoding { told: Told::of(message)?, session };
    let kinds = decoding.kinds(hook)?;
    let cwd = message.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into_owned());
    let event = |kind| Event { cwd: cwd.clone(), ..Event::new(&message.session, kind) };
    Ok(Decoded { events: kinds.into_iter().map(event).collect(), memory: Memory::Null })
}

/// A message with what its decoding depends on.
struct Decoding<'a> {
    told: Told<'a>,
    session: &'a SessionView<'a>,
}

impl Decoding<'_> {
    fn kinds(&self, hook: Hook) -> Result<Vec<EventKind>, Problem> {
        let told = &self.told;
        Ok(match hook {
            Hook::ToolCall => tool_call(told.fields()?, told),
            Hook::ToolResult => vec![self.tool_ran(&told.fields()?)],
            Hook::ToolExecutionEnd => self.tool_over(told.fields()?).into_iter().collect(),
            Hook::TurnEnd => vec![EventKind::BatchEnd {}],
            Hook::Input => input(told.fields()?, told),
            Hook::Command => vec![command(&told.fields()?, told)],
            Hook::MessageEnd => said(told.fields()?),
            Hook::SessionStart => vec![self.session_start(&told.fields()?)?],
            Hook::SessionShutdown => {
                let wire::SessionShutdown { reason } = told.fields()?;
                // The extension is loaded anew, and the session goes on.
                if reason == "reload" { Vec::new() } else { vec![EventKind::SessionEnd {}] }
            }
            Hook::SessionBeforeCompact | Hook::SessionTree => vec![EventKind::Compact {}],
            Hook::SessionCompact => vec![EventKind::SessionStart { source: SessionSource::Compact, parent: None }],
            Hook::AgentEnd => vec![self.turn_over(&told.fields()?)],
            Hook::AgentSettled => vec![EventKind::Idle {}],
            Hook::Permission => vec![permission(told.fields()?)?],
            Hook::BeforeAgentStart | Hook::Other => Vec::new(),
        })
    }

    fn tool_ran(&self, ran: &wire::ToolRan) -> EventKind {
        // Only versions that also say how they run tell a shell that a signal ended from one that ended well.
        let signals = self.told.head.mode.is_some();
        let ending = outcome::of_result(&ran.tool_name, &ran.content, ran.is_error, signals);
        let as_decided = self.session.open_call(&ran.tool_call_id).is_some_and(|call| call.has_input(&ran.input));
        // What ran was not what was decided: it proves nothing.
        let ending = if as_decided { ending } else { Ending { outcome: Outcome::Unknown, exit_code: None } };
        let kept = Kept {
            tests: outcome::tests(&ran.tool_name, &ran.content),
            reported: reported_numbers::of_server(&ran.content),
        };
        result(&ran.tool_call_id, ending, &ran.tool_name, kept)
    }

    fn tool_over(&self, over: wire::ToolOver) -> Option<EventKind> {
        let ending = outcome::of_none(&over.result, over.is_error);
        self.session.open_call(&over.tool_call_id)?;
        Some(result(&over.tool_call_id, ending, &over.tool_name, Kept::default()))
    }

    /// The agent has done with a prompt. It can go on only where it ended by itself: not after an interrupt or an error.
    /// Older versions, which do not say how they run, leave what they are given now until the next prompt.
    fn turn_over(&self, end: &wire::AgentEnd) -> EventKind {
        let ended = matches!(end.stop_reason.as_deref(), Some("stop" | "length"));
        let can_hold = ended && self.told.head.mode.is_some();
        EventKind::Stop { can_hold, interactive: self.told.head.sits() }
    }

    fn session_start(&self, start: &wire::SessionStart) -> Result<EventKind, Problem> {
        let message = &self.told;
        let own = |id: &String| *id != message.message.session;
        let beside = |name: &str| message.beside(name).map(str::to_owned);
        let begun = self.session.has_started();
        let by_agent = beside("inherited").filter(own);
        let forked = message.beside("forked").and_then(session_of).filter(own);
        let before = start.previous_session_file.as_deref().and_then(session_of);
        let before = before.or_else(|| beside("previous")).filter(own);
        let (source, parent) = match start.reason.as_str() {
            // The session of a program that an agent started; it may also go on with an earlier one.
            "startup" if by_agent.is_some() => (SessionSource::Child, by_agent),
            // Some ways of running tell one start twice.
            "startup" | "new" | "fork" if begun => (SessionSource::Resume, None),
            "startup" if forked.is_some() => (SessionSource::Fork, forked),
            "startup" => (SessionSource::Startup, None),
            "reload" | "resume" => (SessionSource::Resume, None),
            "new" => (SessionSource::Clear, before),
            "fork" => (SessionSource::Fork, before.or(forked)),
            other => {
                let what = format!("the event `session_start`: the reason `{other}` is not known");
                return Err(Problem::new(Code::BadInput, what));
            }
        };
        Ok(EventKind::SessionStart { source, parent })
    }
}

fn tool_call(call: wire::ToolCall, message: &Told<'_>) -> Vec<EventKind> {
    // The client's own list of skills tells which one a file is, and that it is none.
    let skill = match message.message.body.get("skill").and_then(Value::as_str) {
        Some(listed) => Some(listed.to_owned()).filter(|name| !name.is_empty()),
        None => tools::skill_of(&call.tool_name, &call.input),
    };
    let invokes = skill.clone().map(Invocation::Skill);
    let analysis = CallAnalysis { invokes, ..tools::analysis(&call.tool_name, &call.input) };
    let everywhere = message.beside("loaded").is_some_and(|how| how == "user");
    let Named { tool, native, server, labels } = tools::canonical(call.tool_name, everywhere, message.beside("server"));
    let call = EventKind::ToolCall {
        id: call.tool_call_id,
        tool,
        native,
        server,
        background: false,
        input: call.input,
        labels,
        analysis,
    };
    let skill = skill.map(|name| EventKind::Skill { name, args: None, by: By::Agent });
    std::iter::once(call).chain(skill).collect()
}

/// What is kept of what a call answered: it may hold anything.
#[derive(Default)]
struct Kept {
    tests: Vec<TestReport>,
    reported: Reported,
}

/// A call's end. The tool is always named, so that a result proves something for its own call only.
fn result(id: &str, ending: Ending, native: &str, kept: Kept) -> EventKind {
    let Kept { tests, reported } = kept;
    EventKind::ToolResult {
        id: Some(id.to_owned()),
        outcome: Some(ending.outcome),
        ok: None,
        exit_code: ending.exit_code,
        output: None,
        tests,
        reported,
        tool: Some(tools::canonical(native.to_owned(), false, None).tool),
        input: None,
    }
}

/// What is given to the client: a prompt, and before it the skill that it has read. What is given while the agent works
/// waits, and reaches it as a message.
fn input(given: wire::Input, message: &Told<'_>) -> Vec<EventKind> {
    let by_hand = given.source.as_deref() == Some("interactive");
    let typed = by_hand && message.head.in_terminal();
    let mut kinds = Vec::new();
    if given.streaming_behavior.is_none() {
        kinds.push(EventKind::Prompt { text: given.text.clone(), interactive: Some(typed) });
    }
    let invoked = given.text.strip_prefix(SKILL_COMMAND).map(|rest| {
        let (name, args) = rest.split_once(' ').unwrap_or((rest, ""));
        let args = args.trim();
        let by = if by_hand { By::Human } else { By::Platform };
        EventKind::Skill { name: name.to_owned(), args: (!args.is_empty()).then(|| Value::from(args)), by }
    });
    kinds.extend(invoked);
    kinds
}

/// A call of the extension's own tool; or one of its own commands: what is typed after it is as if typed after the word
/// that all platforms know; nothing asks where the session stands.
fn command(command: &wire::Command, message: &Told<'_>) -> EventKind {
    if let Some(input) = command.input.as_ref().filter(|_| command.name == REGISTER) {
        return EventKind::Command { by: By::Agent, name: REGISTER.into(), args: input.clone() };
    }
    match command.args.trim() {
        "" if command.name == "safety" => {
            EventKind::Command { by: By::Agent, name: "safety".into(), args: Value::Null }
        }
        "" => EventKind::Command { by: By::Agent, name: "get_skill_phase".into(), args: Value::Null },
        args => EventKind::Prompt { text: format!("{TYPED} {args}"), interactive: Some(message.head.in_terminal()) },
    }
}

/// A whole message of the agent or of its user; results are separate events.
fn said(end: wire::MessageEnd) -> Vec<EventKind> {
    let wire::Said { role, content, response_id, timestamp } = end.message;
    let text = wire::text_of(&content);
    if !matches!(role.as_str(), "assistant" | "user") || text.is_empty() {
        return Vec::new();
    }
    let id = response_id.unwrap_or_else(|| format!("{role}-{timestamp}"));
    vec![EventKind::Message { id, role, text, complete: true }]
}

/// The session that the client keeps in a file of this name: `TIME_ID.jsonl`.
fn session_of(file: &str) -> Option<String> {
    let name = file.rsplit(['/', '\\']).next()?.strip_suffix(".jsonl")?;
    let (_, id) = name.split_once('_')?;
    (!id.is_empty()).then(|| id.to_owned())
}

fn permission(answer: wire::Permission) -> Result<EventKind, Problem> {
    let outcome = match answer.outcome.as_str() {
        "asked" => PermissionOutcome::Asked,
        "granted" => PermissionOutcome::Granted,
        "refused" => PermissionOutcome::Refused,
        other => {
            let what = format!("the event `permission`: the outcome `{other}` is not known");
            return Err(Problem::new(Code::BadInput, what));
        }
    };
    Ok(EventKind::Permission { id: answer.tool_call_id, outcome })
}

#[cfg(test)]
mod tests {
    use phasegate_adapter::{Decoded, Frame, Memory, Playback, SessionView};
    use phasegate_core::EventKind;
    use phasegate_core::events::event::{By, SessionSource};
    use phasegate_core::state::Session;
    use serde_json::{Value, json};

    use super::{decode, session_of};
    use crate::Pi;
    use crate::wire::open;

    fn kinds(frame: &Value, memory: &Memory) -> Vec<EventKind> {
        let decoded = read(frame, memory);
        decoded.events.into_iter().map(|event| event.kind).collect()
    }

    fn typed(frame: &Value) -> Option<bool> {
        match kinds(frame, &Memory::Null).remove(0) {
            EventKind::Prompt { interactive, .. } => interactive,
            other => panic!("{other:?}"),
        }
    }

    fn read(frame: &Value, memory: &Memory) -> Decoded {
        let message = open(&Frame::new(frame.to_string())).unwrap();
        decode(&message, &SessionView::new(memory, None)).unwrap()
    }

    #[test]
    fn only_what_is_typed_into_a_terminal_is_a_persons() {
        let input = |source: &str, head: Value| {
            let mut frame = json!({"event": {"type": "input", "text": "hello", "source": source}, "session": "s"});
            for (key, value) in head.as_object().unwrap() {
                frame[key] = value.clone();
            }
            frame
        };
        assert_eq!(typed(&input("interactive", json!({"mode": "tui", "hasUI": true}))), Some(true));
        assert_eq!(typed(&input("interactive", json!({"hasUI": true}))), Some(true));
        for (source, head) in [
            ("interactive", json!({"mode": "json"})),
            ("interactive", json!({"mode": "print"})),
            ("interactive", json!({"mode": "rpc", "hasUI": true})),
            ("interactive", json!({})),
            ("rpc", json!({"hasUI": true})),
            ("extension", json!({"mode": "tui", "hasUI": true})),
        ] {
            assert_eq!(typed(&input(source, head.clone())), Some(false), "{source} {head}");
        }
    }

    #[test]
    fn a_typed_skill_is_a_persons_and_an_extensions_is_not() {
        for (source, by) in [("interactive", By::Human), ("extension", By::Platform)] {
            let event = json!({"type": "input", "text": "/skill:alpha with words", "source": source});
            let kinds = kinds(&json!({"event": event, "session": "s"}), &Memory::Null);
            let skill = EventKind::Skill { name: "alpha".into(), args: Some(json!("with words")), by };
            assert_eq!(kinds.last(), Some(&skill));
        }
    }

    #[test]
    fn the_clients_list_says_which_skill_a_file_is() {
        let path = json!({"path": "docs/alpha/SKILL.md"});
        let read = |listed: Value| {
            let event = json!({"type": "tool_call", "toolName": "read", "toolCallId": "1", "input": path});
            let mut frame = json!({"event": event, "session": "s"});
            frame["skill"] = listed;
            kinds(&frame, &Memory::Null).into_iter().find_map(|kind| match kind {
                EventKind::Skill { name, .. } => Some(name),
                _ => None,
            })
        };
        assert_eq!(read(json!("beta")).as_deref(), Some("beta"));
        assert_eq!(read(json!("")), None, "the client knows no skill there");
        assert_eq!(read(Value::Null).as_deref(), Some("alpha"), "the client has no list");
    }

    #[test]
    fn sessions_begin_as_they_do() {
        let start = |reason: &str, rest: Value| {
            let mut frame = json!({"event": {"type": "session_start", "reason": reason}, "session": "s"});
            for (key, value) in rest.as_object().unwrap() {
                frame[key] = value.clone();
            }
            frame
        };
        let forked = json!({"forked": "/x/2026-01-01_p.jsonl"});
        for (frame, begun, source, parent) in [
            (start("startup", json!({})), false, SessionSource::Startup, None),
            (start("startup", json!({})), true, SessionSource::Resume, None),
            (start("startup", json!({"inherited": "p"})), false, SessionSource::Child, Some("p")),
            (start("startup", json!({"inherited": "s"})), true, SessionSource::Resume, None),
            (start("startup", forked.clone()), false, SessionSource::Fork, Some("p")),
            (start("startup", forked), true, SessionSource::Resume, None),
            (start("new", json!({"previous": "p", "inherited": "q"})), false, SessionSource::Clear, Some("p")),
            (start("fork", json!({"previous": "p"})), false, SessionSource::Fork, Some("p")),
            (start("resume", json!({"previous": "p"})), false, SessionSource::Resume, None),
            (start("fork", json!({"previous": "s", "forked": "/x/t_p.jsonl"})), true, SessionSource::Resume, None),
            (start("reload", json!({"previous": "s"})), true, SessionSource::Resume, None),
        ] {
            let expected = EventKind::SessionStart { source, parent: parent.map(str::to_owned) };
            let started = Session { source: begun.then_some(source), ..Session::default() };
            let message = open(&Frame::new(frame.to_string())).unwrap();
            let decoded = decode(&message, &SessionView::new(&Memory::Null, Some(&started))).unwrap();
            assert_eq!(decoded.events.first().map(|event| &event.kind), Some(&expected), "{frame}");
        }
        assert_eq!(session_of("/a/b/2026-11-21T03-54-12-474Z_01a1-b.jsonl").as_deref(), Some("01a1-b"));
        assert_eq!((session_of("/a/b.jsonl"), session_of("x_y")), (None, None));
    }

    #[test]
    fn a_command_asks_or_says() {
        let typed = |args: &str, mode: &str| {
            let frame =
                json!({"event": {"type": "command", "name": "phase", "args": args}, "session": "s", "mode": mode});
            kinds(&frame, &Memory::Null).remove(0)
        };
        assert!(matches!(typed(" ", "tui"), EventKind::Command { by: By::Agent, .. }));
        for (mode, interactive) in [("tui", Some(true)), ("rpc", Some(false)), ("print", Some(false))] {
            let expected = EventKind::Prompt { text: "/phasegate approve plan".into(), interactive };
            assert_eq!(typed("approve plan", mode), expected);
        }
    }

    #[test]
    fn what_ran_otherwise_than_it_was_decided_proves_nothing() {
        let call = |id: &str| {
            let input = json!({"path": "a", "content": "x"});
            json!({"event": {"type": "tool_call", "toolName": "write", "toolCallId": id, "input": input}, "session": "s"})
        };
        let ran = |id: &str, path: &str| {
            let input = json!({"content": "x", "path": path});
            let event = json!({"type": "tool_result", "toolName": "write", "toolCallId": id, "input": input, "content": [], "isError": false});
            json!({"event": event, "session": "s"})
        };
        let over = |id: &str| {
            let event = json!({"type": "tool_execution_end", "toolName": "write", "toolCallId": id, "isError": true});
            json!({"event": event, "session": "s"})
        };
        let mut session = Playback::default();
        let mut play = |frame: &Value| {
            let decoded = session.decode(&Pi, &open(&Frame::new(frame.to_string())).unwrap()).unwrap();
            decoded.events.first().map(|event| event.to_value()["outcome"].clone())
        };
        for id in ["1", "2", "3"] {
            play(&call(id));
        }
        assert_eq!(play(&ran("1", "a")), Some(json!("ok")));
        assert_eq!(play(&ran("1", "a")), Some(json!("unknown")), "once only");
        assert_eq!(play(&ran("2", "b")), Some(json!("unknown")));
        assert_eq!((play(&over("3")), play(&over("3"))), (Some(json!("refused")), None));
    }

    #[test]
    fn only_an_agent_that_stops_by_itself_can_go_on() {
        for (reason, mode, can_hold, interactive) in [
            (json!("stop"), json!("tui"), true, Some(true)),
            (json!("length"), json!("print"), true, Some(false)),
            (json!("stop"), json!("json"), true, Some(false)),
            (json!("stop"), json!("rpc"), true, None),
            (json!("stop"), Value::Null, false, None),
            (json!("aborted"), json!("tui"), false, Some(true)),
            (json!("error"), json!("print"), false, Some(false)),
            (Value::Null, json!("tui"), false, Some(true)),
        ] {
            let event = json!({"type": "agent_end", "stopReason": reason});
            let frame = json!({"event": event, "session": "s", "mode": mode, "hasUI": true});
            assert_eq!(kinds(&frame, &Memory::Null), [EventKind::Stop { can_hold, interactive }], "{frame}");
        }
    }

    #[test]
    fn a_session_starts_once() {
        let start = json!({"event": {"type": "session_start", "reason": "startup"}, "session": "s"});
        let message = open(&Frame::new(start.to_string())).unwrap();
        let mut session = Playback::default();
        let mut source = || session.decode(&Pi, &message).unwrap().events[0].to_value()["source"].clone();
        assert_eq!((source(), source()), (json!("startup"), json!("resume")));
    }
}
