//! The test's server at an address: each way to behave is one that a real server has shown, or might.

use std::collections::BTreeMap;
use std::io::{BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};

use super::http::headers;
use super::server::{answers, record};

/// A server at an address.
pub(crate) struct Address {
    way: String,
    log: PathBuf,
    sessions: AtomicUsize,
}

/// Starts a server; its address.
pub(crate) fn start(way: &str, log: &Path) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let server = Arc::new(Address { way: way.to_owned(), log: log.to_owned(), sessions: AtomicUsize::new(0) });
    if way == "gone" {
        return url;
    }
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let server = Arc::clone(&server);
            std::thread::spawn(move || while server.serve(stream.as_ref().unwrap()).is_some() {});
        }
    });
    url
}

impl Address {
    /// Serves one request; `None` at the end of the connection.
    fn serve(&self, stream: &TcpStream) -> Option<()> {
        let mut from = BufReader::new(stream);
        let mut line = String::new();
        std::io::BufRead::read_line(&mut from, &mut line).ok().filter(|read| *read > 0)?;
        let headers = headers(&mut from).ok()?;
        let length = headers.get("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        from.read_exact(&mut body).ok()?;
        let message: Value = serde_json::from_slice(&body).unwrap_or_default();
        let verb = line.split(' ').next().unwrap_or_default();
        let noted: BTreeMap<&String, &String> = headers
            .iter()
            .filter(|(name, _)| name.starts_with("mcp-") || *name == "authorization" || *name == "last-event-id")
            .collect();
        record(&self.log, &json!({"verb": verb, "headers": noted, "message": message}).to_string());
        self.answer(verb, &headers, &message, stream)
    }

    fn answer(&self, verb: &str, headers: &BTreeMap<String, String>, message: &Value, to: &TcpStream) -> Option<()> {
        let say = |text: &str| {
            let mut to = to;
            to.write_all(text.as_bytes()).ok()
        };
        match self.odd(verb, headers, message) {
            Some(Odd::Says(text)) => return say(&text),
            Some(Odd::Breaks(text)) => {
                let _ = say(&text);
                let _ = to.shutdown(std::net::Shutdown::Both);
                return None;
            }
            Some(Odd::Stays(text)) => {
                say(&text)?;
                std::thread::sleep(super::http::PATIENCE);
                return None;
            }
            None => {}
        }
        if message["id"].is_null() || message.get("method").is_none() {
            return say(&whole("202 Accepted", "", ""));
        }
        let answers = answers(message);
        if answers.is_empty() {
            std::thread::sleep(super::http::PATIENCE);
            return None;
        }
        let mut more = String::new();
        if message["method"] == "initialize" {
            more = format!("mcp-session-id: session-{}\r\n", self.sessions.fetch_add(1, Ordering::SeqCst) + 1);
        }
        if self.way == "events" || answers.len() > 1 {
            let events: String = answers.iter().map(|answer| format!("event: message\ndata: {answer}\n\n")).collect();
            return say(&whole(
                "200 OK",
                &format!("{more}content-type: text/event-stream; charset=utf-8\r\n"),
                &events,
            ));
        }
        say(&whole("200 OK", &format!("{more}{JSON}"), &answers[0].to_string()))
    }

    /// What is not as a plain server would answer.
    fn odd(&self, verb: &str, headers: &BTreeMap<String, String>, message: &Value) -> Option<Odd> {
        let has = |name: &str, value: &str| headers.get(name).map(String::as_str) == Some(value);
        match (verb, self.way.as_str()) {
            ("GET", "resumes") if headers.contains_key("last-event-id") => {
                let answer =
                    json!({"jsonrpc": "2.0", "id": 5, "result": {"content": [{"type": "text", "text": "taken up"}]}});
                Some(Odd::Says(whole("200 OK", EVENTS, &format!("id: 2\ndata: {answer}\n\n"))))
            }
            ("GET", "tells") => {
                let told =
                    json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"data": "by itself"}});
                Some(Odd::Stays(format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\ndata: {told}\n\n")))
            }
            ("GET", _) => Some(Odd::Says(whole("405 Method Not Allowed", "", ""))),
            ("DELETE", _) => Some(Odd::Says(whole("200 OK", "", ""))),
            (_, "wants-token") if !has("authorization", "Bearer let me in") => {
                Some(Odd::Says(whole("401 Unauthorized", "", "")))
            }
            (_, "redirects") => {
                Some(Odd::Says(whole("307 Temporary Redirect", "location: http://localhost:1/mcp\r\n", "")))
            }
            (_, "stateless") => {
                let error = json!({"code": -32020, "message": format!("header `{}`", mismatch(headers, message)?)});
                let body = json!({"jsonrpc": "2.0", "id": message["id"], "error": error}).to_string();
                Some(Odd::Says(whole("400 Bad Request", JSON, &body)))
            }
            (_, "forgets") if !has("mcp-session-id", "session-1") => None,
            (_, way) if message["method"] == "tools/call" => odd_call(way),
            _ => None,
        }
    }
}

/// What is not as a plain server would answer, and how the connection goes on.
enum Odd {
    /// As ever.
    Says(String),
    /// It is broken off.
    Breaks(String),
    /// It stays open, and nothing more comes.
    Stays(String),
}

const JSON: &str = "content-type: application/json\r\n";
const EVENTS: &str = "content-type: text/event-stream\r\n";

fn odd_call(way: &str) -> Option<Odd> {
    let stream = |body: &str| format!("HTTP/1.1 200 OK\r\n{EVENTS}\r\n{body}");
    Some(match way {
        "forgets" => Odd::Says(whole("404 Not Found", "", "")),
        "garbage" => Odd::Says(whole("200 OK", JSON, "{\"jsonrpc\":")),
        "page" => Odd::Says(whole("200 OK", "content-type: text/html\r\n", "<p>hello</p>")),
        "fails" => Odd::Says(whole("500 Internal Server Error", "", "oops")),
        "stranger" => {
            let body = json!({"jsonrpc": "2.0", "id": "nobody", "result": {"content": []}}).to_string();
            Odd::Says(whole("200 OK", JSON, &body))
        }
        "breaks" => Odd::Breaks(stream("data: {\"json")),
        "resumes" => Odd::Breaks(stream("id: 1\nretry: 10\ndata: \n\n")),
        "dies" => Odd::Breaks(String::new()),
        _ => return None,
    })
}

fn whole(status: &str, more: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n{more}\r\n{body}", body.len())
}

/// The header that does not say what the body says.
fn mismatch(headers: &BTreeMap<String, String>, message: &Value) -> Option<&'static str> {
    let says = |header: &str, value: &Value| headers.get(header).map(String::as_str) == value.as_str();
    let params = &message["params"];
    if !says("mcp-protocol-version", &params["_meta"]["io.modelcontextprotocol/protocolVersion"]) {
        return Some("mcp-protocol-version");
    }
    if !says("mcp-method", &message["method"]) {
        return Some("mcp-method");
    }
    if message["method"] == "tools/call" && !says("mcp-name", &params["name"]) {
        return Some("mcp-name");
    }
    let region = &params["arguments"]["region"];
    (params["name"] == "sql" && !says("mcp-param-region", region)).then_some("mcp-param-region")
}
