//! One `phasegate serve` process, as a plugin uses it: a greeting, then a line for every frame and a line back.

use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::play::session::Answer;

/// The version of the protocol that recorded plugins speak.
const PROTOCOL: u32 = 1;

/// A bridge that has greeted.
pub(crate) struct Bridge {
    child: Child,
    /// `None` once the bridge shall end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    asked: u64,
}

/// What of a line back matters here.
#[derive(Deserialize)]
struct Line<'a> {
    id: Option<u64>,
    /// `None` for `null`, which allows without a word.
    #[serde(borrow, default)]
    reply: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl Bridge {
    /// Starts the bridge of a platform and greets it.
    ///
    /// # Errors
    ///
    /// The process cannot be started, or refuses the greeting.
    pub(crate) fn start(mut command: Command, platform: &str, client: &str, directory: &Path) -> Result<Self, String> {
        command.args(["serve", "--platform", platform]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| format!("the bridge: {error}"))?;
        let output = child.stdout.take().ok_or("the bridge has no output")?;
        let mut bridge = Self { input: child.stdin.take(), child, output: BufReader::new(output), asked: 0 };
        let hello = json!({"protocol": PROTOCOL, "platform": platform, "client": client, "directory": directory});
        bridge.send(&json!({"hello": hello}).to_string())?;
        let welcome = bridge.line()?;
        if welcome.starts_with("{\"hello\"") { Ok(bridge) } else { Err(format!("the bridge says {welcome}")) }
    }

    /// Sends a frame and waits for its reply, in the form in which a hook prints it.
    ///
    /// # Errors
    ///
    /// The bridge ends, or answers something else.
    pub(crate) fn ask(&mut self, frame: &str) -> Result<Answer, String> {
        self.asked += 1;
        self.send(&format!("{{\"id\":{},\"event\":{frame}}}", self.asked))?;
        let text = self.line()?;
        let line: Line<'_> = serde_json::from_str(&text).map_err(|error| format!("the bridge says {text}: {error}"))?;
        if line.id != Some(self.asked) || line.error.is_some() {
            return Err(format!("the bridge says {text}"));
        }
        Ok(as_hook(line.reply.map_or("null", RawValue::get)))
    }

    fn send(&mut self, line: &str) -> Result<(), String> {
        let input = self.input.as_mut().ok_or("the bridge has ended")?;
        let sent = input.write_all(format!("{line}\n").as_bytes()).and_then(|()| input.flush());
        sent.map_err(|error| format!("the bridge: {error}"))
    }

    fn line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        match self.output.read_line(&mut line) {
            Ok(0) => Err("the bridge ended".into()),
            Ok(_) => Ok(line.trim_end().to_string()),
            Err(error) => Err(format!("the bridge: {error}")),
        }
    }
}

impl Drop for Bridge {
    /// Closes the bridge's input and waits until it has written its journals.
    fn drop(&mut self) {
        drop(self.input.take());
        drop(self.child.wait());
    }
}

/// A reply of the bridge in the form in which recorded sessions keep it.
fn as_hook(reply: &str) -> Answer {
    if reply == "null" {
        return Answer { status: Some(0), ..Answer::default() };
    }
    let denied = serde_json::from_str::<serde_json::Value>(reply).is_ok_and(|reply| reply.get("deny").is_some());
    Answer { stdout: format!("{reply}\n"), stderr: String::new(), status: Some(if denied { 2 } else { 0 }) }
}
