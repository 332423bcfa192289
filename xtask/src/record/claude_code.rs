//! The driver of the real Claude Code client.

mod http;
mod messages;
mod model;
mod hooks;
mod terminal;

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::model::Model;
use super::later::Which;
use super::played::{Outcome, Played};
use super::scratch::Scratch;
use super::story::Story;
use crate::failure::{Failure, Result};
use crate::process;
use crate::root::{read, write};

/// The client's id, also its adapter's.
pub(crate) const ID: &str = "claude-code";

/// The client's name as a program.
pub(crate) const PROGRAM: &str = "claude";

/// The variables in which the client tells its hooks how it was started.
pub(crate) const VARIABLES: &[&str] = &["CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_SESSION_ATTENDED"];

/// The key that the client is given. The model asks for none.
const KEY: &str = "none";

/// How long one story may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The client's version: the first word of what it prints.
pub(crate) fn version(client: &Path) -> Result<String> {
    let text = process::output(Command::new(client).arg("--version"))?;
    let word = text.split_whitespace().next().map(str::to_string);
    word.ok_or_else(|| Failure::new(format!("{} prints no version", client.display())))
}

/// The file by which the client knows a skill: prose only, what is enforced is the shipped config of that name.
pub(crate) fn skill(name: &str) -> (String, String) {
    let text = format!(
        "---\nname: {name}\ndescription: How {name} is done here. Use it when asked to.\n---\n\n\
         Work through the phases in their order. What is not open yet is refused, with what to do first.\n"
    );
    (format!(".claude/skills/{name}/SKILL.md"), text)
}

/// Lets the client live through a story in a scratch project whose hooks are recorded; returns what came of it.
pub(crate) fn play(story: &Story, scratch: &Scratch, client: &Path) -> Result<Played> {
    let mut played = live(story, scratch, client)?;
    if !played.asked {
        return Err(Failure::new("the client never asked the model"));
    }
    let frames = scratch.frames()?;
    played.events = hooks::events(&frames);
    for (id, outcome) in &mut played.calls {
        outcome.said = hooks::said(&frames, id);
    }
    Ok(played)
}

/// Lets the client live through a story in a scratch project; returns what came of it, as far as the model was told.
pub(crate) fn live(story: &Story, scratch: &Scratch, client: &Path) -> Result<Played> {
    let model = Arc::new(Model::new(story.clone(), Scratch { base: scratch.base.clone() }, marker(&story.prompt)));
    let answering = Arc::clone(&model);
    let port = http::serve(move |request| answering.answer(request))?;
    let (out, err) = (scratch.path("stream.jsonl"), scratch.path("stderr.txt"));
    for (at, (prompt, which)) in processes(story).into_iter().enumerate() {
        if at > 0 {
            scratch.hand(&story.between)?;
        }
        let mut command = command(story, scratch, client, port)?;
        if at == 0 && !story.terminal.is_empty() {
            // Nothing streams from a terminal.
            write(&out, "")?;
            terminal::live(&command, &story.terminal, scratch)?;
            continue;
        }
        command.args(["--output-format", "stream-json", "--verbose", "-p", prompt]).args(which);
        command.stdout(File::create(&out).map_err(|error| Failure::file(&out, error))?);
        command.stderr(File::create(&err).map_err(|error| Failure::file(&err, error))?);
        wait(&mut command.spawn().map_err(|error| Failure::file(client, error))?)?;
    }
    write(&scratch.path("requests.json"), &asked(&model).to_string())?;
    played(story, scratch, &model)
}

/// What the user types into each process, and the arguments that say which session it goes on with.
fn processes(story: &Story) -> Vec<(&str, &'static [&'static str])> {
    let continued: &[&str] = &["--continue"];
    let first = std::iter::once((story.prompt.as_str(), &[][..]));
    let then = story.then.iter().map(|prompt| (prompt.as_str(), continued));
    let later = story.later.iter().map(|later| {
        let which: &[&str] = match later.session {
            Which::Continued => continued,
            Which::Forked => &["--continue", "--fork-session"],
            Which::New => &[],
        };
        (later.prompt.as_str(), which)
    });
    first.chain(then).chain(later).collect()
}

/// What the first message of the main conversation holds. A command's text is replaced by its expansion, its name stays.
fn marker(prompt: &str) -> String {
    match prompt.split_whitespace().next() {
        Some(command) if command.starts_with('/') => format!("<command-name>{command}"),
        _ => prompt.to_string(),
    }
}

fn command(story: &Story, scratch: &Scratch, client: &Path, port: u16) -> Result<Command> {
    let own = std::env::current_exe().map_err(|error| Failure::new(error.to_string()))?;
    let servers = scratch.path("mcp.json");
    if !servers.exists() {
        write(&servers, &json!({"mcpServers": {"lsp": {"command": own, "args": ["lsp-double"]}}}).to_string())?;
    }
    let mut command = scratch.command(client);
    command.args(["--model", "claude-sonnet-4-5"]);
    command.arg("--debug-file").arg(scratch.path("debug.log"));
    command.arg("--strict-mcp-config").arg("--mcp-config").arg(servers);
    match story.client_args.get(ID) {
        Some(args) => command.args(args),
        None => command.args(["--permission-mode", "bypassPermissions"]),
    };
    command.env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}")).env("ANTHROPIC_API_KEY", KEY);
    command.env("CLAUDE_CODE_TMPDIR", scratch.path("tmp")).env("SHELL", "/bin/sh").env("TERM", "dumb");
    for name in ["IS_SANDBOX", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER"] {
        command.env(name, "1");
    }
    for (name, value) in &story.client_env {
        if value.is_empty() {
            command.env_remove(name)
        } else {
            command.env(name, value)
        };
    }
    Ok(command)
}

fn wait(child: &mut Child) -> Result {
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

fn played(story: &Story, scratch: &Scratch, model: &Model) -> Result<Played> {
    let state = model.state();
    if let Some(failure) = &state.failed {
        return Err(Failure::new(failure.clone()));
    }
    let (shown, last_word) = shown(&read(&scratch.path("stream.jsonl"))?);
    let mut played = Played { asked: !state.asked.is_empty(), last_word, ..Played::default() };
    for (id, _) in story.calls() {
        let asked = state.asked.iter().find_map(|asked| messages::result(&asked.messages, &id));
        // Where the client ends the turn, the model reads a result when the session goes on; the client shows it now.
        let result = asked.or_else(|| messages::result(&shown, &id));
        let (error, read) = result.map_or((None, String::new()), |(error, read)| (Some(error), read));
        let outcome = Outcome { said: None, error, read, trace: state.traces.get(&id).copied() };
        played.calls.insert(id, outcome);
    }
    Ok(played)
}

/// The messages that the client printed, and what it ended with.
fn shown(stream: &str) -> (Value, String) {
    let lines: Vec<Value> = stream.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    let messages = lines.iter().filter_map(|line| line.get("message").cloned()).collect();
    let last = lines.iter().rev().find_map(|line| line.get("result")?.as_str().map(str::to_string));
    (Value::Array(messages), last.unwrap_or_default())
}

/// The requests, for whoever looks into a failed story.
fn asked(model: &Model) -> Value {
    let state = model.state();
    let one = |asked: &model::Asked| json!({"conversation": asked.conversation, "turn": asked.turn, "messages": asked.messages});
    json!({"asked": state.asked.iter().map(one).collect::<Vec<_>>(), "aside": state.aside})
}
