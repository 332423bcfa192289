//! A client as its driver sees it: how it is started, what its model calls its tools, how its frames are read.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::frame::Frame;
use super::later::Which;
use super::model::{Asked, Model};
use super::played::{Outcome, Played, Said};
use super::scratch::Scratch;
use super::story::{Call, Story};
use phasegate::scripted::{http, messages};
use xtask::failure::{Failure, Result};
use xtask::root::{read, write};

/// How long one process of a client may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The driver of one client.
pub(crate) trait Client: Sync {
    /// The client's id, also its adapter's.
    fn id(&self) -> &'static str;

    /// The client's name as a program.
    fn program(&self) -> &'static str;

    /// The variables that say to the guard how the client was started.
    fn variables(&self) -> &'static [&'static str] {
        &[]
    }

    /// The file by which the client knows a skill: prose only, what is enforced is the shipped config of that name.
    fn skill_file(&self, name: &str) -> String;

    /// What `phasegate init` is called with, each time; the client's id is added.
    fn installs(&self, _story: &Story) -> &'static [&'static [&'static str]] {
        &[&[]]
    }

    /// A call of a story, which has canonical names, as the client's model makes it.
    fn native(&self, call: &Call, scratch: &Scratch) -> (String, Value);

    /// The client's name for an event that a story requires; `None` if it has no such event.
    fn event(&self, required: &str) -> Option<String>;

    /// The client's program, with no arguments yet.
    fn start(&self, program: &Path, scratch: &Scratch) -> Command {
        scratch.command(program)
    }

    /// The arguments that switch the client's own questions off.
    fn permissive(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether the client reports a failed call to the model as an error.
    fn tells_failure(&self, _call: &Call) -> bool {
        true
    }

    /// A process of the client in the scratch project, with the scripted model at this port, and without a prompt.
    ///
    /// # Errors
    ///
    /// Its settings cannot be written.
    fn command(&self, stage: &Stage<'_>, port: u16) -> Result<Command>;

    /// Adds what the user types, and which session the process goes on with; `None` for the first process.
    fn prompt(&self, command: &mut Command, stage: &Stage<'_>, prompt: &str, which: Option<Which>);

    /// What the first message of the main conversation holds.
    fn marker(&self, prompt: &str) -> String {
        prompt.to_string()
    }

    /// Lets the client live in a terminal.
    ///
    /// # Errors
    ///
    /// It cannot.
    fn terminal(&self, _command: &Command, _stage: &Stage<'_>) -> Result {
        Err(Failure::new(format!("{} is not driven in a terminal", self.id())))
    }

    /// The messages that the client printed, and what it ended with, from its output and its errors.
    fn shown(&self, stream: &str, _errors: &str) -> (Value, String) {
        (Value::Null, tail(stream))
    }

    /// What a frame is about: the client's name for the event, and the call that it asks about.
    fn about(&self, input: &Value) -> (Option<String>, Option<String>);

    /// What the guard said in its reply to a call.
    fn said(&self, frame: &Frame) -> Said;
}

/// What a story is played with.
#[derive(Clone, Copy)]
pub(crate) struct Stage<'a> {
    /// The story.
    pub(crate) story: &'a Story,
    /// Where it is played.
    pub(crate) scratch: &'a Scratch,
    /// The client's program.
    pub(crate) program: &'a Path,
}

/// The client's version: the first word of what it prints that begins with a digit.
pub(crate) fn version(client: &dyn Client, program: &Path) -> Result<String> {
    let scratch = Scratch::new("version")?;
    let output =
        client.start(program, &scratch).arg("--version").output().map_err(|error| Failure::file(program, error))?;
    scratch.remove()?;
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).join(" ");
    let word = text.split_whitespace().find(|word| word.starts_with(|first: char| first.is_ascii_digit()));
    word.map(str::to_string).ok_or_else(|| Failure::new(format!("{} prints no version", client.id())))
}

/// The path and the text of the file by which a client knows a skill.
pub(crate) fn skill(client: &dyn Client, name: &str) -> (String, String) {
    let text = format!(
        "---\nname: {name}\ndescription: How {name} is done here. Use it when asked to.\n---\n\n\
         Work through the phases in their order. What is not open yet is refused, with what to do first.\n"
    );
    (client.skill_file(name), text)
}

/// Lets a client play a story in a scratch project whose frames are recorded, and returns the outcome.
pub(crate) fn play(client: &dyn Client, stage: &Stage<'_>) -> Result<Played> {
    let mut played = live(client, stage)?;
    if !played.asked {
        return Err(Failure::new("the client never asked the model"));
    }
    let frames = stage.scratch.frames()?;
    let inputs: Vec<Value> =
        frames.iter().map(|frame| serde_json::from_str(&frame.input).unwrap_or_default()).collect();
    for (event, _) in inputs.iter().map(|input| client.about(input)) {
        if let Some(event) = event.filter(|event| !played.events.contains(event)) {
            played.events.push(event);
        }
    }
    for (id, outcome) in &mut played.calls {
        let asks = |input: &Value| client.about(input).1.as_deref() == Some(id);
        let asked = frames.iter().zip(&inputs).find(|(_, input)| asks(input));
        outcome.said = asked.map(|(frame, _)| client.said(frame));
    }
    Ok(played)
}

/// Lets a client play a story in a scratch project, and returns the outcome as far as the model read it.
pub(crate) fn live(client: &dyn Client, stage: &Stage<'_>) -> Result<Played> {
    let Stage { story, scratch, program } = *stage;
    let own = Scratch { base: scratch.base.clone() };
    let calls = story.calls().into_iter().map(|(id, call)| (id, client.native(call, scratch))).collect();
    let model = Arc::new(Model::new(story.clone(), own, client.marker(&story.prompt), calls));
    let answering = Arc::clone(&model);
    let port = http::serve(move |request| answering.answer(request))
        .map_err(|error| Failure::new(format!("the scripted model cannot listen: {error}")))?;
    let (out, err) = (scratch.path("stream.jsonl"), scratch.path("stderr.txt"));
    for (at, (prompt, which)) in processes(story).into_iter().enumerate() {
        if at > 0 {
            scratch.hand(&story.between)?;
        }
        let mut command = client.command(stage, port)?;
        set(&mut command, story);
        if at == 0 && !story.terminal.is_empty() {
            // Nothing streams from a terminal.
            write(&out, "")?;
            client.terminal(&command, stage)?;
            continue;
        }
        client.prompt(&mut command, stage, prompt, which);
        command.stdout(File::create(&out).map_err(|error| Failure::file(&out, error))?);
        command.stderr(File::create(&err).map_err(|error| Failure::file(&err, error))?);
        wait(&mut command.spawn().map_err(|error| Failure::file(program, error))?)?;
    }
    write(&scratch.path("requests.json"), &asked(&model).to_string())?;
    played(client, stage, &model)
}

fn set(command: &mut Command, story: &Story) {
    for (name, value) in &story.client_env {
        if value.is_empty() {
            command.env_remove(name)
        } else {
            command.env(name, value)
        };
    }
}

/// What the user types into each process, and which session it goes on with.
fn processes(story: &Story) -> Vec<(&str, Option<Which>)> {
    let first = std::iter::once((story.prompt.as_str(), None));
    let then = story.then.iter().map(|prompt| (prompt.as_str(), Some(Which::Continued)));
    let later = story.later.iter().map(|later| (later.prompt.as_str(), Some(later.session)));
    first.chain(then).chain(later).collect()
}

/// Waits for a process of a client to end, and ends it if it takes too long.
pub(crate) fn wait(child: &mut Child) -> Result {
    let failed = |error: std::io::Error| Failure::new(format!("the client: {error}"));
    let started = Instant::now();
    while child.try_wait().map_err(failed)?.is_none() {
        if started.elapsed() > PATIENCE {
            child.kill().map_err(failed)?;
            child.wait().map_err(failed)?;
            return Err(Failure::new("the client did not end in time"));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Ok(())
}

fn played(client: &dyn Client, stage: &Stage<'_>, model: &Model) -> Result<Played> {
    let state = model.state();
    if let Some(failure) = &state.failed {
        return Err(Failure::new(failure.clone()));
    }
    let errors = read(&stage.scratch.path("stderr.txt")).unwrap_or_default();
    let (shown, last_word) = client.shown(&read(&stage.scratch.path("stream.jsonl"))?, &errors);
    let mut played = Played { asked: !state.asked.is_empty(), last_word, ..Played::default() };
    for (id, _) in stage.story.calls() {
        let asked = state.asked.iter().find_map(|asked| messages::result(&asked.messages, &id));
        // Where the client ends the turn, the model reads a result when the session goes on; the client shows it now.
        let result = asked.or_else(|| messages::result(&shown, &id));
        let (error, read) = result.map_or((None, String::new()), |(error, read)| (Some(error), read));
        let outcome = Outcome { said: None, error, read, trace: state.traces.get(&id).copied() };
        played.calls.insert(id, outcome);
    }
    Ok(played)
}

/// The requests, kept to explain a failed story.
fn asked(model: &Model) -> Value {
    let state = model.state();
    let one =
        |asked: &Asked| json!({"conversation": asked.conversation, "turn": asked.turn, "messages": asked.messages});
    json!({"asked": state.asked.iter().map(one).collect::<Vec<_>>(), "aside": state.aside})
}

/// The last line that holds anything.
fn tail(text: &str) -> String {
    text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default().to_string()
}

/// The argument of a call, as text.
pub(crate) fn argument<'a>(call: &'a Call, name: &str) -> &'a str {
    call.input.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The arguments of a call under the client's own names, as far as they have others; the rest stays.
pub(crate) fn renamed(call: &Call, names: &[(&str, &str)]) -> Value {
    let name =
        |own: &String| names.iter().find(|(from, _)| from == own).map_or(own.clone(), |(_, to)| (*to).to_string());
    Value::Object(call.input.iter().map(|(own, value)| (name(own), value.clone())).collect())
}
