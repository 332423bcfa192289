//! Clients of the guard for tests: messages in, and whether the last one was denied. A hook is a process for each message;
//! a bridge and a relay are processes that stay.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use phasegate_core::Code;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::{Reply, World, reply};

/// How long an answer may take before the client takes it for lost.
const PATIENCE: Duration = Duration::from_secs(60);
/// A deadline for the guard that a machine does not pass that does much else at the same time.
const DEADLINE_MS: &str = "12000";
/// A server behind the relay: it answers everything that has a number, in the same way.
const SERVER: &str = r#"while read -r line; do
  id=$(printf %s "$line" | sed -n 's/.*"id":\([0-9]*\).*/\1/p')
  [ -n "$id" ] && echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25",
    "capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"},"content":[]}}' | tr -d '\n' && echo
done"#;

/// A client as data: its messages at each point of a session.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Spoken {
    pub(crate) name: String,
    by: By,
    /// The session's id; absent: the guard makes one.
    session: Option<String>,
    /// A session begins.
    begins: Vec<String>,
    /// The agent starts the skill `probe`.
    activates: Vec<String>,
    /// The session goes on in another process.
    goes_on: Vec<String>,
    /// The agent asks for a call that nothing forbids.
    honest: String,
}

/// How messages reach the guard.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum By {
    Hook,
    Bridge,
    Relay,
}

/// A client at work.
pub(crate) struct Client {
    spoken: Spoken,
    /// Variables that differ from those of the world; an empty one is taken out.
    pub(crate) env: Vec<(String, String)>,
    process: Option<Process>,
    /// What bridges said of the projects that they guard.
    guarded: Vec<Value>,
    pub(crate) session: String,
}

impl Client {
    pub(crate) fn new(spoken: &Spoken, env: Vec<(String, String)>) -> Self {
        let session = spoken.session.clone().unwrap_or_default();
        Self { spoken: spoken.clone(), env, process: None, guarded: Vec::new(), session }
    }

    pub(crate) fn begin(&mut self, world: &World) {
        self.process = None;
        self.say(world, &self.spoken.begins.clone());
    }

    pub(crate) fn activate(&mut self, world: &World) {
        assert!(self.say(world, &self.spoken.activates.clone()).is_none(), "the skill starts");
        if self.spoken.session.is_none() {
            let status: Value = serde_json::from_str(&world.run(&["--json", "status"], 0)).unwrap();
            self.session = status["session"].as_str().unwrap().to_string();
        }
    }

    /// The session goes on in another process of the client.
    pub(crate) fn go_on(&mut self, world: &World) {
        self.process = None;
        self.say(world, &self.spoken.goes_on.clone());
    }

    /// The text by which an honest call is denied; `None`: it passes.
    pub(crate) fn denial(&mut self, world: &World) -> Option<String> {
        let honest = vec![self.spoken.honest.clone()];
        self.say(world, &honest)
    }

    /// Sends messages; the text by which the last one is denied.
    fn say(&mut self, world: &World, messages: &[String]) -> Option<String> {
        let root = world.root().to_string_lossy().into_owned();
        let mut denied = None;
        for message in messages {
            let message: Value = serde_json::from_str(&message.replace("ROOT", &root)).unwrap();
            denied = match self.spoken.by {
                By::Hook => self.hook(world, &message),
                By::Bridge => self.bridge(world, &message),
                By::Relay => self.relay(world, message),
            };
        }
        denied
    }

    fn hook(&self, world: &World, frame: &Value) -> Option<String> {
        let mut hook = world.phasegate(&["hook", &self.spoken.name]);
        hook.env("PHASEGATE_DEADLINE_MS", DEADLINE_MS);
        for (name, value) in &self.env {
            match value.as_str() {
                "" => hook.env_remove(name),
                value => hook.env(name, value),
            };
        }
        match reply(&hook.timeout(PATIENCE).write_stdin(frame.to_string()).output().unwrap()) {
            Reply::Denied(text) => Some(text),
            Reply::Silent | Reply::Told(_) => None,
        }
    }

    /// As the plugins do: a bridge that gives no answer is a denial, and the next message starts another one.
    fn bridge(&mut self, world: &World, frame: &Value) -> Option<String> {
        let mut asked = Ok(Value::Null);
        let text = |answer: &Value| answer["error"]["text"].as_str().map(str::to_string);
        if self.process.is_none() {
            let process = Process::start(self.command(world, &["serve", "--platform", &self.spoken.name]));
            let hello = json!({"protocol": 1, "platform": self.spoken.name, "client": "9.9.9",
                "directory": world.root(), "guarded": self.guarded});
            asked = self.process.insert(process).ask(&json!({"hello": hello}), |line| line.get("hello").is_some());
        }
        if let Some(refused) = asked.as_ref().ok().and_then(text) {
            self.process = None;
            return Some(refused);
        }
        let process = self.process.as_mut().unwrap();
        asked = asked.and_then(|_| process.ask(&json!({"id": 1, "event": frame}), |line| line["id"] == 1));
        let answer = match asked {
            Ok(answer) => answer,
            Err(trouble) => {
                self.process = None;
                return Some(format!("phasegate [bridge-lost]: {trouble}. {}", Code::BridgeLost.remedy()));
            }
        };
        self.guarded.extend(answer.get("guarded").filter(|guarded| guarded.is_object()).cloned());
        text(&answer).or_else(|| answer["reply"]["deny"].as_str().map(str::to_string))
    }

    fn relay(&mut self, world: &World, mut message: Value) -> Option<String> {
        if self.process.is_none() {
            let mut words = vec!["mcp", "proxy", "--server", "fs", "--", "sh", "-c"];
            words.push(SERVER);
            self.process = Some(Process::start(self.command(world, &words)));
        }
        message["jsonrpc"] = "2.0".into();
        message["id"] = 7.into();
        match self.process.as_mut().unwrap().ask(&message, |line| line["id"] == 7) {
            Ok(answer) if answer["result"]["isError"] == true => {
                Some(answer["result"]["content"][0]["text"].to_string())
            }
            Ok(answer) => answer["error"]["message"].as_str().map(str::to_string),
            Err(trouble) => {
                self.process = None;
                Some(trouble)
            }
        }
    }

    /// The program, started by a process that stands for the client, so that this test is none of its ancestors' sessions.
    fn command(&self, world: &World, words: &[&str]) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "\"$@\"; exit $?", "client"]).arg(world.phasegate(&[]).get_program()).args(words);
        command.current_dir(world.root()).env_clear().envs(world.variables()).env_remove("CLAUDE_PROJECT_DIR");
        command.env("PHASEGATE_DEADLINE_MS", DEADLINE_MS);
        for (name, value) in &self.env {
            match value.as_str() {
                "" => command.env_remove(name),
                value => command.env(name, value),
            };
        }
        command
    }
}

/// A process that takes and answers lines. It is killed when it is dropped, with what it started.
struct Process {
    child: Child,
    input: ChildStdin,
    lines: Receiver<Value>,
    errors: Option<JoinHandle<String>>,
}

impl Process {
    fn start(mut command: Command) -> Self {
        command.process_group(0);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let (input, output) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()));
        let mut said = child.stderr.take().unwrap();
        let (sender, lines) = channel();
        std::thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).unwrap_or_default());
            }
        });
        let errors = std::thread::spawn(move || {
            let mut text = String::new();
            let _ = said.read_to_string(&mut text);
            text
        });
        Self { child, input, lines, errors: Some(errors) }
    }

    /// Sends a line, and waits for one that fits. What the process said before its end is the trouble where none comes.
    fn ask(&mut self, line: &Value, fits: impl Fn(&Value) -> bool) -> Result<Value, String> {
        let sent = self.input.write_all(format!("{line}\n").as_bytes()).and_then(|()| self.input.flush());
        while sent.is_ok()
            && let Ok(line) = self.lines.recv_timeout(PATIENCE)
        {
            if fits(&line) || line.get("error").is_some() {
                return Ok(line);
            }
        }
        self.kill();
        let said = self.errors.take().map(|errors| errors.join().unwrap_or_default()).unwrap_or_default();
        Err(format!("`phasegate` gives no answer: {}", said.trim()))
    }

    fn kill(&mut self) {
        let group = format!("kill -KILL -{}", self.child.id());
        let _ = Command::new("/bin/sh").args(["-c", &group]).stderr(Stdio::null()).status();
        let _ = self.child.wait();
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
    }
}
