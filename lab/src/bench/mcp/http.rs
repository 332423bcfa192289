//! Sessions over streamable HTTP, as small as they can be.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};

use super::pipe::{Listener, status};
use crate::bench::failed::failed;
use xtask::failure::Result;

/// A server that listens.
pub(super) struct Listening {
    process: Listener,
    /// Where, with the path.
    pub(super) url: String,
}

/// An open session: the connection of its requests, and that of its stream of messages.
pub(super) struct Session {
    #[expect(dead_code, reason = "it is held open")]
    streams: [TcpStream; 2],
}

impl Listening {
    /// Starts it; it prints its address first.
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let piped = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().map_err(|error| failed(format!("{command:?}: {error}")))?;
        let output = child.stdout.take();
        let process = Listener(child);
        let mut url = String::new();
        let output = output.ok_or_else(|| failed("no pipe"))?;
        BufReader::new(output).read_line(&mut url).map_err(failed)?;
        let url = url.trim().to_string();
        if url.starts_with("http://") { Ok(Self { process, url }) } else { Err(failed("no address was printed")) }
    }

    /// What the process has in memory now, in bytes.
    pub(super) fn memory(&self) -> Result<u64> {
        status(self.process.0.id(), "VmRSS:")
    }

    /// Opens a session, lists the tools in it, and opens its stream.
    pub(super) fn session(&self) -> Result<Session> {
        let address = self.url.trim_start_matches("http://").trim_end_matches("/mcp");
        let connect = || TcpStream::connect(address).map_err(failed);
        let mut requests = connect()?;
        let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
        let head = post(&mut requests, address, "", hello)?;
        let id = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_string())
        });
        let id = id.ok_or_else(|| failed(format!("no session was opened: {head}")))?;
        let own = format!("Mcp-Session-Id: {id}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
        let mut requests = connect()?;
        let done = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        post(&mut requests, address, &own, done)?;
        let mut requests = connect()?;
        let listed = post(&mut requests, address, &own, r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#)?;
        if !listed.starts_with("HTTP/1.1 200") {
            return Err(failed(format!("the tools are not listed: {listed}")));
        }
        let mut stream = connect()?;
        let get = format!("GET /mcp HTTP/1.1\r\nHost: {address}\r\nAccept: text/event-stream\r\n{own}\r\n");
        stream.write_all(get.as_bytes()).map_err(failed)?;
        let opened = head_of(&mut stream)?;
        if !opened.starts_with("HTTP/1.1 200") {
            return Err(failed(format!("the stream is not opened: {opened}")));
        }
        Ok(Session { streams: [requests, stream] })
    }
}

/// Posts a message; answers the head of what comes.
fn post(stream: &mut TcpStream, address: &str, own: &str, body: &str) -> Result<String> {
    let text = format!(
        "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\n{own}Content-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(text.as_bytes()).map_err(failed)?;
    head_of(stream)
}

/// Reads up to the end of the head.
fn head_of(stream: &mut TcpStream) -> Result<String> {
    let (mut head, mut byte) = (Vec::new(), [0_u8]);
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).map_err(failed)? == 0 {
            return Err(failed("the connection was closed"));
        }
        head.extend_from_slice(&byte);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}
