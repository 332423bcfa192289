//! A client over standard input and output that does as little as it can.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::sync_channel;
use std::time::Instant;

use crate::bench::failed::failed;
use xtask::failure::Result;

/// How many calls are on their way at once.
const WINDOW: usize = 256;

/// The server, or the proxy before it.
pub(super) struct Peer {
    child: Listener,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: String,
    last: u64,
}

impl Peer {
    /// Starts it and shakes hands.
    pub(super) fn start(command: &mut Command) -> Result<Self> {
        let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = piped.spawn().map_err(|error| failed(format!("{command:?}: {error}")))?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(failed("no pipes"));
        };
        let child = Listener(child);
        let mut peer = Self { child, input, output: BufReader::new(output), line: String::new(), last: 0 };
        let hello = r#""method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}"#;
        peer.ask(hello)?;
        peer.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n")?;
        peer.ask("\"method\":\"tools/list\"")?;
        Ok(peer)
    }

    /// Calls a tool and waits for the answer.
    pub(super) fn call(&mut self, tool: &str, arguments: &str) -> Result<&str> {
        self.ask(&format!(r#""method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}"#))
    }

    /// Calls a tool so often, a window full at once; answers how many calls a second that were.
    pub(super) fn stream(mut self, tool: &str, arguments: &str, calls: u32) -> Result<f64> {
        let (first, calls) = (self.last + 1, u64::from(calls));
        let (more, room) = sync_channel::<()>(WINDOW);
        let (tool, arguments) = (tool.to_string(), arguments.to_string());
        let mut input = self.input;
        let begin = Instant::now();
        let writer = std::thread::spawn(move || -> std::io::Result<ChildStdin> {
            for id in first..first + calls {
                if more.send(()).is_err() {
                    break;
                }
                writeln!(
                    input,
                    r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}}}}}"#
                )?;
            }
            Ok(input)
        });
        let mut answered = 0;
        while answered < calls {
            self.line.clear();
            if self.output.read_line(&mut self.line).map_err(failed)? == 0 {
                return Err(failed("the peer is gone"));
            }
            if self.line.contains("\"result\"") {
                if self.line.contains("\"isError\":true") {
                    return Err(failed(format!("a call did not run: {}", self.line)));
                }
                answered += 1;
                let _ = room.recv();
            }
        }
        let took = begin.elapsed().as_secs_f64();
        drop(writer.join());
        Ok(f64::from(u32::try_from(calls).unwrap_or(u32::MAX)) / took)
    }

    /// The most memory that the process had, in bytes.
    pub(super) fn peak(&self) -> Result<u64> {
        status(self.child.0.id(), "VmHWM:")
    }

    fn ask(&mut self, method: &str) -> Result<&str> {
        self.last += 1;
        let id = self.last;
        self.send(&format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},{method}}}\n"))?;
        loop {
            self.line.clear();
            if self.output.read_line(&mut self.line).map_err(failed)? == 0 {
                return Err(failed("the peer is gone"));
            }
            if self.line.contains("\"result\"") || self.line.contains("\"error\"") {
                return Ok(&self.line);
            }
        }
    }

    fn send(&mut self, text: &str) -> Result {
        self.input.write_all(text.as_bytes()).map_err(failed)
    }
}

/// A process that is ended with its owner.
pub(super) struct Listener(pub(super) Child);

impl Drop for Listener {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// A size that the system reports for a process, in bytes.
pub(super) fn status(process: u32, name: &str) -> Result<u64> {
    let text = std::fs::read_to_string(format!("/proc/{process}/status")).map_err(failed)?;
    let size = text.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse::<u64>().ok());
    size.map(|kibibytes| kibibytes * 1024).ok_or_else(|| failed("the system does not tell a process's memory"))
}
