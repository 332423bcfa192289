//! A case: a project, its servers, and what a client sends and gets.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Deserialize;
use serde_json::{Value, json};

use super::client::Client;
use super::server;
use crate::matching::fits;

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
    /// The servers of a second relay of the same client.
    #[serde(default)]
    others: BTreeMap<String, String>,
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
    /// A request that the client gets, and its answer.
    Answer { asked: Value, result: Value },
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
    /// The same with the client's second relay.
    Other(Box<Step>),
    /// A person gives a command in the project.
    Command(Given),
}

/// A command on the command line.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    args: Vec<String>,
    #[serde(default)]
    status: i32,
    /// What is said.
    #[serde(default)]
    says: Vec<String>,
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
    let start = |servers| Client::start(command(&case, servers, folder.path(), &root));
    let mut client = start(&case.servers);
    let mut other = (!case.others.is_empty()).then(|| start(&case.others));
    for (number, step) in case.steps.iter().enumerate() {
        let played = match step {
            Step::Again => {
                std::mem::replace(&mut client, start(&case.servers)).end();
                continue;
            }
            Step::Other(step) => play(step, other.as_mut().unwrap()),
            Step::Command(given) => given.give(folder.path(), &root),
            step => play(step, &mut client),
        };
        if let Err(what) = played {
            client.close();
            let (status, errors, _) = client.end();
            return Err(format!("step {number}: {what}\nended with {status}; standard error:\n{errors}"));
        }
    }
    client.close();
    let (status, errors, waiting) = client.end();
    if let Some(mut other) = other {
        other.close();
        other.end();
    }
    let mut wrong = Vec::new();
    if status.code() != Some(case.status) {
        wrong.push(format!("ended with {status}, not {}", case.status));
    }
    if !waiting.is_empty() {
        wrong.push(format!("nobody asked for {}", Value::from(waiting)));
    }
    wrong.extend(case.stderr.iter().filter(|text| !errors.contains(*text)).map(|text| format!("nobody said `{text}`")));
    wrong.extend(left_behind(&case, folder.path()));
    if wrong.is_empty() { Ok(()) } else { Err(format!("{}\nstandard error:\n{errors}", wrong.join("\n"))) }
}

impl Given {
    fn give(&self, folder: &Path, root: &Path) -> Result<(), String> {
        let output = program(folder, root).args(&self.args).output().unwrap();
        let said = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).concat();
        let missing = self.says.iter().find(|text| !said.contains(*text));
        if output.status.code() == Some(self.status) && missing.is_none() {
            return Ok(());
        }
        Err(format!("{:?} ended with {}: {said}", self.args, output.status))
    }
}

/// The program in the project, with its folders elsewhere than those of this user.
fn program(folder: &Path, root: &Path) -> Command {
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
    command
}

fn command(case: &Case, servers: &BTreeMap<String, String>, folder: &Path, root: &Path) -> Command {
    let mut command = program(folder, root);
    command.arg("mcp").args(case.args.clone().unwrap_or_else(|| vec!["proxy".into()]));
    let entries: Vec<(&String, Vec<String>)> =
        servers.iter().map(|(name, way)| (name, started(way, &log(folder, name)))).collect();
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

/// What the servers and the journals show that the case does not say.
fn left_behind(case: &Case, folder: &Path) -> Vec<String> {
    let mut wrong = Vec::new();
    for (server, expected) in &case.received {
        let received = received(folder, server);
        if !fits(&Value::from(expected.clone()), Some(&Value::from(received.clone()))) {
            wrong.push(format!("`{server}` received {}", Value::from(received)));
        }
    }
    for server in case.servers.keys() {
        wrong.extend(left(&log(folder, server)));
    }
    let events = events(&folder.join("state"));
    for (name, count) in &case.events {
        let found = events.get(name).copied().unwrap_or_default();
        if found != *count {
            wrong.push(format!("{found} events `{name}` were recorded, not {count}: {events:?}"));
        }
    }
    wrong
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
        Step::Answer { asked, result } => {
            let request = client.expect(asked)?;
            let answer = json!({"jsonrpc": "2.0", "id": request["id"], "result": result});
            client.send(format!("{answer}\n").as_bytes());
        }
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
        Step::Again | Step::Other(_) | Step::Command(_) => {}
    }
    Ok(())
}
