//! A case: a project, its servers, and what a client sends and gets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};

use crate::client::Client;
use crate::matching::fits;
use crate::server;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What it shows.
    name: String,
    /// The rule that it tests.
    rule: String,
    /// The project's files; without any, nothing guards it.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// The servers and the way each behaves; of several, a list is written.
    #[serde(default)]
    servers: BTreeMap<String, String>,
    /// The words after `phasegate mcp`; by default `proxy`.
    args: Option<Vec<String>>,
    /// Whether the servers are listed in a file, also if there is only one.
    #[serde(default)]
    listed: bool,
    steps: Vec<Step>,
    /// What each server received, in order; absent: anything.
    #[serde(default)]
    received: BTreeMap<String, Vec<Value>>,
    /// What a session's journal holds of events, by name: how many.
    #[serde(default)]
    events: BTreeMap<String, usize>,
    #[serde(default)]
    status: i32,
    /// What is said on standard error.
    #[serde(default)]
    stderr: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Step {
    /// A message of the client.
    Send(Value),
    /// A line of the client, or several.
    SendText(String),
    /// Bytes of the client: text between numbers.
    SendBytes(Vec<Value>),
    /// A call of `look` with an argument of so many bytes.
    SendLong { id: i64, bytes: usize },
    /// A message that the client gets; order does not matter.
    Expect(Value),
    /// A result whose first text has so many bytes.
    ExpectLong { id: i64, bytes: usize },
    /// The client initializes and gets its answer.
    Greet,
    /// The client closes its end.
    Close,
    /// The program gets a signal.
    Signal(String),
    /// The program has ended, and the client starts it again.
    Again,
}

/// Plays the case.
pub(crate) fn run(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).unwrap();
    let case: Case = serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    assert!(!case.name.is_empty() && !case.rule.is_empty());
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().join("project");
    std::fs::create_dir_all(&root).unwrap();
    for (file, text) in &case.files {
        let file = root.join(file);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }
    let mut client = Client::start(command(&case, folder.path(), &root));
    for (number, step) in case.steps.iter().enumerate() {
        if matches!(step, Step::Again) {
            std::mem::replace(&mut client, Client::start(command(&case, folder.path(), &root))).end();
            continue;
        }
        if let Err(what) = play(step, &mut client) {
            client.close();
            let (status, errors, _) = client.end();
            return Err(format!("step {number}: {what}\nended with {status}; standard error:\n{errors}"));
        }
    }
    client.close();
    let (status, errors, waiting) = client.end();
    let mut wrong = Vec::new();
    if status.code() != Some(case.status) {
        wrong.push(format!("ended with {status}, not {}", case.status));
    }
    if !waiting.is_empty() {
        wrong.push(format!("nobody asked for {}", Value::from(waiting)));
    }
    wrong.extend(case.stderr.iter().filter(|text| !errors.contains(*text)).map(|text| format!("nobody said `{text}`")));
    for (server, expected) in &case.received {
        let received = received(folder.path(), server);
        if !fits(&Value::from(expected.clone()), Some(&Value::from(received.clone()))) {
            wrong.push(format!("`{server}` received {}", Value::from(received)));
        }
    }
    for server in case.servers.keys() {
        wrong.extend(left(&log(folder.path(), server)));
    }
    let events = events(&folder.path().join("state"));
    for (name, count) in &case.events {
        let found = events.get(name).copied().unwrap_or_default();
        if found != *count {
            wrong.push(format!("{found} events `{name}` were recorded, not {count}: {events:?}"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}\nstandard error:\n{errors}", wrong.join("\n"))) }
}

fn command(case: &Case, folder: &Path, root: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_phasegate"));
    command.current_dir(root).env_clear();
    for name in ["PATH", "LLVM_PROFILE_FILE"] {
        command.envs(std::env::var_os(name).map(|value| (name, value)));
    }
    for (name, below) in [
        ("HOME", "home"),
        ("PHASEGATE_STATE_DIR", "state"),
        ("PHASEGATE_CONFIG_DIR", "config"),
        ("PHASEGATE_MACHINE_DIR", "machine"),
    ] {
        command.env(name, folder.join(below));
    }
    command.arg("mcp").args(case.args.clone().unwrap_or_else(|| vec!["proxy".into()]));
    let entries: Vec<(&String, Vec<String>)> =
        case.servers.iter().map(|(name, way)| (name, started(way, &log(folder, name)))).collect();
    match entries.as_slice() {
        [] => {}
        [(name, words)] if !case.listed => {
            command.args(["--server", name, "--"]).args(words);
        }
        _ => {
            let entry = |words: &[String]| json!({"command": words[0], "args": words[1..]});
            let list: BTreeMap<_, _> = entries.iter().map(|(name, words)| (*name, entry(words))).collect();
            let file = folder.join("servers.json");
            std::fs::write(&file, json!({"mcpServers": list}).to_string()).unwrap();
            command.arg("--config").arg(file);
        }
    }
    command
}

/// The words that start a server.
fn started(way: &str, log: &Path) -> Vec<String> {
    let program = if way == "missing" { PathBuf::from("no-such-program") } else { std::env::current_exe().unwrap() };
    vec![program.display().to_string(), server::START.to_owned(), way.to_owned(), log.display().to_string()]
}

/// Where a server writes down what it receives.
fn log(folder: &Path, server: &str) -> PathBuf {
    folder.join(format!("{server}.received"))
}

fn received(folder: &Path, server: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(log(folder, server)).unwrap_or_default();
    text.lines().map(|line| serde_json::from_str(line).unwrap_or_else(|_| Value::from(line))).collect()
}

/// What a server that started a child left behind.
fn left(log: &Path) -> Option<String> {
    let child = std::fs::read_to_string(format!("{}.child", log.display())).ok()?;
    let state = std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    let lives = !state.is_empty() && !state.contains(") Z ");
    lives.then(|| format!("the process {child} was left behind"))
}

/// How many events of each name the journals of all sessions hold; ends of calls with their outcome.
fn events(state: &Path) -> BTreeMap<String, usize> {
    let mut events = BTreeMap::new();
    for project in std::fs::read_dir(state.join("projects")).into_iter().flatten() {
        for journal in std::fs::read_dir(project.unwrap().path().join("sessions")).into_iter().flatten() {
            let text = std::fs::read_to_string(journal.unwrap().path()).unwrap();
            for line in text.lines() {
                let Some((_, record)) = line.split_once(' ') else { continue };
                let record: Value = serde_json::from_str(record).unwrap();
                let event = &record["event"];
                let mut name = event["event"].as_str().unwrap_or_default().to_owned();
                if let Some(outcome) = event["outcome"].as_str() {
                    name = format!("{name}:{outcome}");
                }
                *events.entry(name).or_default() += 1;
            }
        }
    }
    events
}

fn play(step: &Step, client: &mut Client) -> Result<(), String> {
    match step {
        Step::Send(message) => client.send(format!("{message}\n").as_bytes()),
        Step::SendText(text) => client.send(format!("{text}\n").as_bytes()),
        Step::SendBytes(parts) => {
            for part in parts {
                match part {
                    Value::String(text) => client.send(text.as_bytes()),
                    other => client.send(&[u8::try_from(other.as_u64().unwrap()).unwrap()]),
                }
            }
        }
        Step::SendLong { id, bytes } => {
            let params = json!({"name": "look", "arguments": {"text": "x".repeat(*bytes)}});
            let call = json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params});
            client.send(format!("{call}\n").as_bytes());
        }
        Step::Expect(expected) => drop(client.expect(expected)?),
        Step::ExpectLong { id, bytes } => {
            let message = client.expect(&json!({"id": id}))?;
            let text = message["result"]["content"][0]["text"].as_str().unwrap_or_default();
            if text.len() != *bytes {
                return Err(format!("{} bytes, not {bytes}", text.len()));
            }
        }
        Step::Greet => {
            let params = json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
            let hello = json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params});
            let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            client.send(format!("{hello}\n").as_bytes());
            client.expect(&json!({"id": "hello", "result": {"protocolVersion": "2025-11-25"}}))?;
            client.send(format!("{ready}\n").as_bytes());
        }
        Step::Close => client.close(),
        Step::Signal(name) => client.signal(name),
        Step::Again => {}
    }
    Ok(())
}
