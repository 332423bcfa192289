//! A platform that sends one JSON object per line and honours `{"answer": "deny", "text": ...}`.

use phasegate_adapter::*;
use phasegate_core::{Code, Event};
use serde::Deserialize;

/// The adapter.
#[derive(Debug)]
pub struct Echo;

static TABLE: Table = Table {
    id: "echo",
    name: "Echo",
    versions: &["1.0"],
    version_command: &["echo-client", "--version"],
    capabilities: Capabilities {
        deny: Ability::Yes,
        ask: Ability::no("the call is denied, with the question as the reason"),
        rewrite: Ability::no("a call runs as the agent wrote it"),
        inject_context: Ability::Yes,
        hide_tools: Ability::no("a forbidden call is denied when it comes"),
        see_builtin_tools: Ability::Yes,
        see_subagents: Ability::no("all calls count as the main agent's"),
        fail_closed: Ability::Yes,
    },
    places: PlaceTable { settings: &[".echo/guard"], signs: &[".echo"], ..PlaceTable::NONE },
    programs: &[],
    tools: &[ToolRow { native: "sh", canonical: "Bash", access: None, labels: &[] }],
    limits: &[],
};

inventory::submit!(Registered(&Echo));

impl Adapter for Echo {
    fn id(&self) -> &str {
        TABLE.id
    }
    fn name(&self) -> &str {
        TABLE.name
    }
    fn capabilities(&self) -> Capabilities {
        TABLE.capabilities.clone()
    }
    fn codec(&self) -> &dyn Codec {
        self
    }
    fn installer(&self) -> &dyn Installer {
        self
    }
    fn diagnostics(&self) -> &dyn Diagnostics {
        self
    }
}

/// What a line may say.
#[derive(Deserialize)]
struct Line {
    session: String,
    event: String,
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    tool: String,
    #[serde(default)]
    input: serde_json::Value,
}

fn bad(problem: impl ToString) -> Problem {
    Problem::new(Code::BadInput, problem.to_string())
}

fn answer(word: &str, text: Option<String>) -> Reply {
    Reply::json(&serde_json::json!({"answer": word, "text": text}), word == "deny")
}

impl Codec for Echo {
    fn open(&self, frame: &Frame) -> Result<Message, Problem> {
        let body = strict::read(str::from_utf8(&frame.bytes).map_err(bad)?).map_err(bad)?;
        let Line { session, event, .. } = Line::deserialize(&body).map_err(bad)?;
        Ok(Message { session, event, body, ..Message::default() })
    }

    fn decode(&self, message: &Message, session: &SessionView<'_>) -> Result<Decoded, Problem> {
        let line = Line::deserialize(&message.body).map_err(bad)?;
        let row = TABLE.tool(&line.tool);
        let kind = match message.event.as_str() {
            "start" => serde_json::json!({"event": "session_start", "source": "startup"}),
            "call" => serde_json::json!({
                "event": "tool_call", "id": line.id, "tool": row.map_or(line.tool.as_str(), |row| row.canonical),
                "native": row.map(|row| row.native), "input": line.input,
            }),
            // Only a call that is open can end.
            "done" if session.open_call(line.id.as_deref().unwrap_or_default()).is_some() => {
                serde_json::json!({"event": "tool_result", "id": line.id, "outcome": "ok"})
            }
            "done" => return Ok(Decoded { events: Vec::new(), memory: Memory::Null }),
            other => return Err(Problem::new(Code::EventUnknown, format!("the event `{other}` is not known"))),
        };
        let event = Event { session: message.session.clone(), ..Event::from_value(kind).map_err(bad)? };
        Ok(Decoded { events: vec![event], memory: Memory::Null })
    }

    fn reply(&self, message: &Message, verdict: &Verdict) -> Reply {
        match verdict.denial() {
            Some(denial) if message.event == "call" => answer("deny", Some(text::denial(denial))),
            _ => answer("go", text::context(verdict)),
        }
    }

    fn refuse(&self, _: Received<'_>, problem: &Problem) -> Reply {
        answer("deny", Some(problem.text()))
    }
    fn warn(&self, _: Received<'_>, problem: &Problem) -> Reply {
        answer("go", Some(problem.text()))
    }
}

impl Installer for Echo {
    fn places(&self) -> Places {
        TABLE.places()
    }

    fn install(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        let path = request.project.join(".echo/guard");
        let (before, after) = (request.existing.get(&path).cloned(), Some(format!("{} hook echo\n", request.command)));
        Ok(if before == after { Vec::new() } else { vec![Change { path, before, after }] })
    }

    fn uninstall(&self, request: &InstallRequest) -> Result<Vec<Change>, Problem> {
        let path = request.project.join(".echo/guard");
        let before = request.existing.get(&path).cloned();
        Ok(before.map(|before| Change { path, before: Some(before), after: None }).into_iter().collect())
    }

    fn unguarded(&self, request: &InstallRequest) -> Option<String> {
        let guarded = request.existing.values().any(|text| text.ends_with(" hook echo\n"));
        (!guarded).then(|| "no settings file starts it".to_owned())
    }
}

impl Diagnostics for Echo {
    fn versions(&self) -> Vec<String> {
        TABLE.versions()
    }
    fn examine(&self, request: &ExamineRequest) -> Examined {
        Examined::from_unguarded(self.unguarded(&request.install))
    }
}

fn main() -> Result<(), Problem> {
    let mut session = Playback::default();
    for line in [
        r#"{"session": "s1", "event": "start"}"#,
        r#"{"session": "s1", "event": "call", "id": "1", "tool": "sh", "input": {"command": "ls"}}"#,
        r#"{"session": "s1", "event": "done", "id": "1"}"#,
    ] {
        let message = Echo.open(&Frame::new(line))?;
        assert_eq!(session.decode(&Echo, &message)?.events.len(), 1);
    }
    let unread = Frame::new("{");
    if let Err(problem) = Echo.open(&unread) {
        let reply = Refusal::closed(problem).reply(&Echo, Received::Unread(&unread));
        assert_eq!(reply.into_output().status, 2);
    }
    Ok(())
}
