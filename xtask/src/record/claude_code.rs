//! The driver of the real Claude Code client.

mod http;
mod messages;
mod model;
mod hooks;

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use self::model::Model;
use super::played::{Outcome, Played};
use super::scratch::Scratch;
use super::story::Story;
use crate::failure::{Failure, Result};
use crate::process;
use crate::root::write;

/// The client's id, also its adapter's.
pub(super) const ID: &str = "claude-code";

/// The client's name as a program.
pub(super) const PROGRAM: &str = "claude";

/// How long one story may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// The client's version: the first word of what it prints.
pub(super) fn version(client: &Path) -> Result<String> {
    let text = process::output(Command::new(client).arg("--version"))?;
    let word = text.split_whitespace().next().map(str::to_string);
    word.ok_or_else(|| Failure::new(format!("{} prints no version", client.display())))
}

/// The file by which the client knows a skill: prose only, what is enforced is the shipped config of that name.
pub(super) fn skill(name: &str) -> (String, String) {
    let text = format!(
        "---\nname: {name}\ndescription: How {name} is done here. Use it when asked to.\n---\n\n\
         Work through the phases in their order. What is not open yet is refused, with what to do first.\n"
    );
    (format!(".claude/skills/{name}/SKILL.md"), text)
}

/// Lets the client live through a story in a scratch project; returns what came of it.
pub(super) fn play(story: &Story, scratch: &Scratch, client: &Path) -> Result<Played> {
    let model = Arc::new(Model::new(story.clone(), scratch.path("project"), marker(&story.prompt)));
    let answering = Arc::clone(&model);
    let port = http::serve(move |request| answering.answer(request))?;
    let (out, err) = (scratch.path("stream.jsonl"), scratch.path("stderr.txt"));
    for (at, prompt) in std::iter::once(&story.prompt).chain(&story.then).enumerate() {
        let mut command = command(story, scratch, client, port)?;
        command.args(["-p", prompt]).args((at > 0).then_some("--continue"));
        command.stdout(File::create(&out).map_err(|error| Failure::file(&out, error))?);
        command.stderr(File::create(&err).map_err(|error| Failure::file(&err, error))?);
        wait(&mut command.spawn().map_err(|error| Failure::file(client, error))?)?;
    }
    write(&scratch.path("requests.json"), &asked(&model).to_string())?;
    played(story, scratch, &model)
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
    write(&servers, &json!({"mcpServers": {"lsp": {"command": own, "args": ["lsp-double"]}}}).to_string())?;
    let mut command = scratch.command(client);
    command.args(["--output-format", "stream-json", "--verbose", "--model", "claude-sonnet-4-5"]);
    command.arg("--debug-file").arg(scratch.path("debug.log"));
    command.arg("--strict-mcp-config").arg("--mcp-config").arg(servers);
    match story.client_args.get(ID) {
        Some(args) => command.args(args),
        None => command.args(["--permission-mode", "bypassPermissions"]),
    };
    command.env("ANTHROPIC_BASE_URL", format!("http://127.0.0.1:{port}")).env("ANTHROPIC_API_KEY", "none");
    command.env("CLAUDE_CODE_TMPDIR", scratch.path("tmp")).env("SHELL", "/bin/sh").env("TERM", "dumb");
    for name in ["IS_SANDBOX", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_TELEMETRY", "DISABLE_AUTOUPDATER"] {
        command.env(name, "1");
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
    let frames = scratch.frames()?;
    let state = model.state();
    if state.asked.is_empty() {
        return Err(Failure::new("the client never asked the model"));
    }
    let mut played = Played { events: hooks::events(&frames), ..Played::default() };
    for (id, _) in story.calls() {
        let result = state.asked.iter().find_map(|asked| messages::result(&asked.messages, &id));
        let (error, read) = result.map_or((None, String::new()), |(error, read)| (Some(error), read));
        let outcome = Outcome { said: hooks::said(&frames, &id), error, read, trace: state.traces.get(&id).copied() };
        played.calls.insert(id, outcome);
    }
    Ok(played)
}

/// The requests, for whoever looks into a failed story.
fn asked(model: &Model) -> Value {
    let state = model.state();
    let one = |asked: &model::Asked| json!({"conversation": asked.conversation, "turn": asked.turn, "messages": asked.messages});
    json!({"asked": state.asked.iter().map(one).collect::<Vec<_>>(), "aside": state.aside})
}
