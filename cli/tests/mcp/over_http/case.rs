//! A case: a project, a server, and what clients send and get.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::address;
use super::clients::Clients;
use super::http::{Exchange, Seen};
use super::program::Program;
use super::server;
use crate::matching::fits;

const META: &str = "io.modelcontextprotocol";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// What it shows.
    name: String,
    /// The rule, or the part of the protocol, that it tests.
    rule: String,
    /// The project's files; without any, nothing guards it.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// `child`, or how the server at an address behaves; absent: none.
    server: Option<String>,
    /// More words for the program.
    #[serde(default)]
    args: Vec<String>,
    /// What the file of tokens holds.
    tokens: Option<String>,
    /// Whether the program refuses to start, with this on standard error.
    refuses: Option<Vec<String>>,
    #[serde(default)]
    steps: Vec<Step>,
    /// What servers received, in order, of what is asked for: each is a part of some message.
    #[serde(default)]
    received: Vec<Value>,
    /// What no server received.
    #[serde(default)]
    not_received: Vec<Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// What the step is for.
    #[serde(default, rename = "about")]
    _about: String,
    /// A request; with `open`, it stays open under that name.
    send: Option<Request>,
    open: Option<String>,
    /// A session is begun by a handshake; its id is kept under this name.
    greet: Option<String>,
    /// The token that goes with it.
    token: Option<String>,
    /// An open request whose connection is broken off.
    close: Option<String>,
    /// An open request that has brought these messages by now.
    told: Option<String>,
    /// An open request that has ended by now.
    done: Option<String>,
    /// The program has this many servers as children.
    children: Option<usize>,
    /// The program gets this signal, and is started again.
    restart: Option<String>,
    /// The client of this name, which no other client has started, has ended.
    gone: Option<String>,
    /// The request is sent by the client of this name; absent: by this process.
    via: Option<String>,
    status: Option<u16>,
    #[serde(default)]
    headers: Map<String, Value>,
    /// The last message.
    answer: Option<Value>,
    /// The messages, whole.
    messages: Option<Vec<Value>>,
    /// What is kept under a name: `header:NAME`, `event` (the last event's id) or a place in the answer.
    #[serde(default)]
    keep: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Request {
    method: Option<String>,
    path: Option<String>,
    /// Headers besides those of every request; `null` takes one away.
    headers: BTreeMap<String, Option<String>>,
    token: Option<String>,
    /// In this session.
    session: Option<String>,
    /// As the revision without sessions wants it: `_meta` and headers are added.
    stateless: Option<Value>,
    /// The body as it is.
    body: Option<Value>,
    /// The body, as text.
    text: Option<String>,
    /// A body of so many blanks before the message.
    blanks: Option<usize>,
    /// The whole request, as text.
    raw: Option<String>,
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
    let log = folder.path().join("received");
    let args = args(&case, folder.path(), &log);
    let started = Program::start(folder.path(), &root, &args);
    if let Some(words) = &case.refuses {
        let said = started.err().ok_or("the program started")?;
        let missing: Vec<&String> = words.iter().filter(|word| !said.contains(*word)).collect();
        return if missing.is_empty() { Ok(()) } else { Err(format!("nobody said {missing:?}: {said}")) };
    }
    let again = || Program::start(folder.path(), &root, &args);
    let (kept, open, clients) = (BTreeMap::new(), BTreeMap::new(), Clients::new(folder.path()));
    let mut play = Play { program: started?, again: &again, clients, kept, open };
    let lived = case
        .steps
        .iter()
        .enumerate()
        .try_for_each(|(number, step)| play.step(step).map_err(|what| format!("step {number}: {what}")));
    let ended = play.program.end();
    lived.map_err(|what| format!("{what}\n{ended:?}"))?;
    ended?;
    received(&case, &log)
}

fn received(case: &Case, log: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap_or_default()).collect();
    let mut rest = lines.iter();
    for expected in &case.received {
        if !rest.any(|line| fits(expected, Some(line))) {
            return Err(format!("no server received {expected} in its turn; received:\n{text}"));
        }
    }
    match case.not_received.iter().find(|never| lines.iter().any(|line| fits(never, Some(line)))) {
        Some(never) => Err(format!("a server received {never}")),
        None => Ok(()),
    }
}

fn args(case: &Case, folder: &Path, log: &Path) -> Vec<String> {
    let verb = if case.server.is_some() { "proxy" } else { "serve" };
    let mut args: Vec<String> = vec![verb.to_owned()];
    if !case.args.iter().any(|arg| arg == "--listen") {
        args.extend(["--listen".to_owned(), "127.0.0.1:0".to_owned()]);
    }
    if let Some(tokens) = &case.tokens {
        let file = folder.join("tokens");
        std::fs::write(&file, tokens).unwrap();
        private(&file);
        args.extend(["--token-file".to_owned(), file.display().to_string()]);
    }
    args.extend(case.args.iter().cloned());
    let own = || std::env::current_exe().unwrap().display().to_string();
    match case.server.as_deref() {
        None => {}
        Some("child") => {
            args.extend(["--server", "test", "--"].map(ToOwned::to_owned));
            args.extend([own(), server::START.to_owned(), log.display().to_string()]);
        }
        Some(way) => {
            args.extend(["--server".to_owned(), "test".to_owned(), "--url".to_owned(), address::start(way, log)])
        }
    }
    args
}

fn private(file: &PathBuf) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600)).unwrap();
}

struct Play<'a> {
    program: Program,
    again: &'a dyn Fn() -> Result<Program, String>,
    clients: Clients,
    kept: BTreeMap<String, String>,
    open: BTreeMap<String, Exchange>,
}

/// What a step must lead to.
struct Expected {
    answer: Option<Value>,
    messages: Option<Value>,
    headers: Value,
}

impl Play<'_> {
    fn step(&mut self, step: &Step) -> Result<(), String> {
        if let Some(name) = &step.greet {
            return self.greet(name, step.token.as_deref());
        }
        if let Some(signal) = &step.restart {
            self.program.signal(signal);
            self.program = (self.again)()?;
        }
        if let Some(name) = &step.gone {
            self.clients.end(name);
        }
        if let Some(count) = step.children {
            self.program.wait_for_children(count)?;
        }
        if let Some(name) = &step.close {
            self.open.remove(name).unwrap().close();
        }
        let own = self.program.address.clone();
        let address = step.via.as_ref().map_or_else(|| own.clone(), |name| self.clients.address(name, &own));
        let expected = self.expected(step);
        let met = |seen: &Seen| self.differs(step, &expected, seen).is_none();
        let seen = if let Some(request) = &step.send {
            let exchange = Exchange::send(&address, &self.written(request));
            if let Some(name) = &step.open {
                // Whatever follows must find it there.
                let seen = exchange.wait(|seen| met(seen) && (seen.status.is_some() || step.status.is_none()));
                self.open.insert(name.clone(), exchange);
                seen
            } else {
                exchange.wait(|seen| seen.over)
            }
        } else if let Some(name) = &step.told {
            self.open[name].wait(met)
        } else if let Some(name) = &step.done {
            let seen = self.open[name].wait(|seen| seen.over);
            if !seen.over {
                return Err("it is not over".to_owned());
            }
            seen
        } else {
            return Ok(());
        };
        if let Some(what) = self.differs(step, &expected, &seen) {
            return Err(format!("{what}: {seen:?}"));
        }
        for (name, place) in &step.keep {
            let found = match place.strip_prefix("header:") {
                Some(header) => seen.headers.get(header).cloned(),
                None if place == "event" => seen.ids.last().cloned(),
                None => seen.messages.last().and_then(|message| message.pointer(place)).map(|value| match value {
                    Value::String(text) => text.clone(),
                    other => other.to_string(),
                }),
            };
            let found = found.ok_or_else(|| format!("there is no {place}: {seen:?}"))?;
            self.kept.insert(name.clone(), found);
        }
        Ok(())
    }

    /// What a step expects, with what was kept in its place.
    fn expected(&self, step: &Step) -> Expected {
        let filled = |value: &Value| serde_json::from_str(&self.filled(&value.to_string())).unwrap();
        let messages = step.messages.as_ref().map(|messages| filled(&Value::from(messages.clone())));
        let headers = filled(&Value::Object(step.headers.clone()));
        Expected { answer: step.answer.as_ref().map(filled), messages, headers }
    }

    fn differs(&self, step: &Step, expected: &Expected, seen: &Seen) -> Option<String> {
        let Expected { answer, messages, headers } = expected;
        if step.status.is_some() && step.status != seen.status {
            return Some(format!("HTTP {:?}, not {:?}", seen.status, step.status));
        }
        if !fits(headers, Some(&json!(seen.headers))) {
            return Some(format!("not the headers {headers}"));
        }
        if answer.as_ref().is_some_and(|answer| !fits(answer, seen.messages.last())) {
            return Some("not the answer".to_owned());
        }
        let whole =
            messages.as_ref().is_some_and(|messages| !fits(messages, Some(&Value::from(seen.messages.clone()))));
        whole.then(|| "not the messages".to_owned())
    }

    fn greet(&mut self, name: &str, token: Option<&str>) -> Result<(), String> {
        let params =
            json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        let hello = json!({"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": params});
        let token = token.map(ToOwned::to_owned);
        let request = Request { body: Some(hello), token: token.clone(), ..Request::default() };
        let seen = Exchange::send(&self.program.address, &self.written(&request)).wait(|seen| seen.over);
        let id = seen.headers.get("mcp-session-id").ok_or_else(|| format!("no session: {seen:?}"))?;
        self.kept.insert(name.to_owned(), id.clone());
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let request = Request { body: Some(ready), token, session: Some(name.to_owned()), ..Request::default() };
        let seen = Exchange::send(&self.program.address, &self.written(&request)).wait(|seen| seen.over);
        if seen.status == Some(202) { Ok(()) } else { Err(format!("not ready: {seen:?}")) }
    }

    /// The bytes of a request.
    fn written(&self, request: &Request) -> Vec<u8> {
        if let Some(raw) = &request.raw {
            return self.filled(raw).into_bytes();
        }
        let method = request.method.as_deref().unwrap_or("POST");
        let mut headers: BTreeMap<String, Option<String>> = BTreeMap::new();
        let mut set = |name: &str, value: &str| drop(headers.insert(name.to_owned(), Some(value.to_owned())));
        set("host", &self.program.address);
        set("connection", "close");
        set("accept", if method == "GET" { "text/event-stream" } else { "application/json, text/event-stream" });
        if method == "POST" {
            set("content-type", "application/json");
        }
        if let Some(token) = &request.token {
            set("authorization", &format!("Bearer {token}"));
        }
        if let Some(session) = &request.session {
            set("mcp-session-id", self.kept.get(session).map_or(session, |id| id));
            set("mcp-protocol-version", "2025-11-25");
        }
        let mut body = request.text.clone().unwrap_or_default();
        if let Some(message) = &request.body {
            let mut message = message.clone();
            if let Some(fields) = message.as_object_mut() {
                fields.entry("jsonrpc").or_insert_with(|| "2.0".into());
            }
            body = message.to_string();
        }
        if let Some(message) = &request.stateless {
            let message = stateless(message, &mut set);
            body = message.to_string();
        }
        body = self.filled(&body);
        body.insert_str(0, &" ".repeat(request.blanks.unwrap_or(0)));
        if method == "POST" || !body.is_empty() {
            set("content-length", &body.len().to_string());
        }
        headers.extend(request.headers.iter().map(|(name, value)| (name.clone(), value.clone())));
        let mut text = format!("{method} {} HTTP/1.1\r\n", request.path.as_deref().unwrap_or("/mcp"));
        for (name, value) in headers {
            if let Some(value) = value {
                text.push_str(&format!("{name}: {}\r\n", self.filled(&value)));
            }
        }
        format!("{text}\r\n{body}").into_bytes()
    }

    /// The text with `${NAME}` replaced by what was kept.
    fn filled(&self, text: &str) -> String {
        self.kept.iter().fold(text.to_owned(), |text, (name, value)| text.replace(&format!("${{{name}}}"), value))
    }
}

/// A message as the revision without sessions wants it, with its headers.
fn stateless(message: &Value, set: &mut dyn FnMut(&str, &str)) -> Value {
    let mut message = message.clone();
    message["jsonrpc"] = "2.0".into();
    if message.get("id").is_none() {
        message["id"] = 1.into();
    }
    if !message["params"].is_object() {
        message["params"] = json!({});
    }
    let mut meta = json!({format!("{META}/protocolVersion"): "2026-07-28", format!("{META}/clientCapabilities"): {}});
    if let (Some(meta), Some(given)) = (meta.as_object_mut(), message["params"]["_meta"].as_object()) {
        meta.extend(given.clone());
    }
    message["params"]["_meta"] = meta;
    set("mcp-protocol-version", "2026-07-28");
    set("mcp-method", message["method"].as_str().unwrap());
    let name = message["params"]["name"].as_str().or(message["params"]["uri"].as_str());
    if let Some(name) =
        name.filter(|_| matches!(message["method"].as_str(), Some("tools/call" | "prompts/get" | "resources/read")))
    {
        set("mcp-name", name);
    }
    message
}
