//! The client's end of the program under test.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::matching::fits;

/// How long anything may take before a test is given up; nothing is measured by it.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Client {
    process: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    errors: std::thread::JoinHandle<String>,
    /// Messages that came and that no step has asked for.
    pub(crate) waiting: Vec<Value>,
}

impl Client {
    pub(crate) fn start(mut command: Command) -> Self {
        let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (output, mut errors) = (process.stdout.take().unwrap(), process.stderr.take().unwrap());
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let errors = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            let _ = errors.read_to_end(&mut bytes);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        Self { input: process.stdin.take(), process, lines, errors, waiting: Vec::new() }
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        // A program that has ended reads nothing; the steps that follow say whether it should have.
        let _ = self.input.as_mut().unwrap().write_all(bytes);
    }

    pub(crate) fn close(&mut self) {
        self.input = None;
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.process.id().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().unwrap().success());
    }

    /// Takes the first message that fits.
    pub(crate) fn expect(&mut self, expected: &Value) -> Result<Value, String> {
        let until = Instant::now() + PATIENCE;
        let mut next = 0;
        loop {
            if let Some(at) = (next..self.waiting.len()).find(|at| fits(expected, Some(&self.waiting[*at]))) {
                return Ok(self.waiting.remove(at));
            }
            next = self.waiting.len();
            match self.lines.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(line) => {
                    let read = serde_json::from_str(&line);
                    self.waiting.push(read.map_err(|error| format!("no JSON: {error}: {}", shortened(&line)))?);
                }
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    let seen: Vec<_> = self.waiting.iter().map(|value| shortened(&value.to_string())).collect();
                    return Err(format!("expected {expected}\nbut there is {}", seen.join("\n  and ")));
                }
            }
        }
    }

    /// Waits for the end. Returns the status, the text on standard error, and unsolicited messages.
    pub(crate) fn end(mut self) -> (ExitStatus, String, Vec<Value>) {
        let until = Instant::now() + PATIENCE;
        let status = loop {
            match self.process.try_wait().unwrap() {
                Some(status) => break status,
                None if Instant::now() > until => {
                    let _ = self.process.kill();
                    panic!("the program does not end");
                }
                None => std::thread::sleep(Duration::from_millis(5)),
            }
        };
        while let Ok(line) = self.lines.recv() {
            self.waiting.push(serde_json::from_str(&line).unwrap());
        }
        (status, self.errors.join().unwrap(), self.waiting)
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(600).collect()
}
