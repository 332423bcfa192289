//! A scratch project, a home and a state folder, and the program run in them.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A skill that can be played without any server: look before writing, then write.
pub(crate) const SKILL: &str = "
skill: careful
description: look, then write
phases:
  look:
    description: read first
    allowed: [Read]
    forbidden: [Edit, Write]
    done_when: { ok: Read }
  write:
    description: write
    allowed: [Edit, Write]
";

/// A scratch world.
pub(crate) struct World {
    folder: TempDir,
    /// Whether messages are sent as a client sends them, so that this test is the client.
    is_client: bool,
}

impl World {
    /// A world whose project nothing guards.
    pub(crate) fn unguarded() -> Self {
        let folder = tempfile::tempdir().unwrap();
        for part in ["project", "home", "machine"] {
            fs::create_dir(folder.path().join(part)).unwrap();
        }
        Self { folder, is_client: false }
    }

    /// The same world, with this test as the client of each session.
    pub(crate) fn with_client(self) -> Self {
        Self { is_client: true, ..self }
    }

    /// A world whose project has the skill `careful` and asks for this mode.
    pub(crate) fn guarded(mode: &str) -> Self {
        let world = Self::unguarded();
        world.write(".phasegate/config.yaml", &format!("mode: {mode}\n"));
        world.write(".phasegate/skills/careful.yaml", SKILL);
        world
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("home")
    }

    pub(crate) fn state(&self) -> PathBuf {
        self.folder.path().join("state")
    }

    /// Where a copy of the program may be put that an attack can spoil.
    pub(crate) fn program(&self) -> PathBuf {
        self.folder.path().join("bin/phasegate")
    }

    /// The link to the program that `init` makes, and hooks start.
    pub(crate) fn link(&self) -> PathBuf {
        self.home().join(".local/share/phasegate/bin/phasegate")
    }

    /// Writes a file of the project.
    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// The folders of `PATH`: that of the program comes first.
    pub(crate) fn search_path(&self) -> PathBuf {
        let (own, built) = (self.program(), Path::new(env!("CARGO_BIN_EXE_phasegate")).to_path_buf());
        let program = if own.exists() { own } else { built };
        PathBuf::from(format!("{}:/usr/bin:/bin", program.parent().unwrap().display()))
    }

    /// The variables that the program runs with.
    pub(crate) fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        let shell = self.shell();
        let named = shell.exists().then_some(("CLAUDE_CODE_SHELL", shell));
        let always = [
            ("PATH", self.search_path()),
            ("HOME", self.home()),
            ("PHASEGATE_STATE_DIR", self.state()),
            ("PHASEGATE_MACHINE_DIR", self.folder.path().join("machine")),
            ("CLAUDE_PROJECT_DIR", self.root()),
        ];
        always.into_iter().chain(named).collect()
    }

    /// The program as the shell of the client, once a test has linked it there.
    pub(crate) fn shell(&self) -> PathBuf {
        self.folder.path().join("shell/bash")
    }

    /// Copies the program to where the project's search path finds it. `cp` does it: a program that this process holds
    /// open for writing while another test starts a process cannot be run ("Text file busy").
    pub(crate) fn install_program(&self) {
        let program = self.program();
        fs::create_dir(program.parent().unwrap()).unwrap();
        let copied =
            std::process::Command::new("cp").arg(env!("CARGO_BIN_EXE_phasegate")).arg(&program).status().unwrap();
        assert!(copied.success(), "{copied}");
    }

    /// The program, in the project's folder.
    pub(crate) fn phasegate(&self, args: &[&str]) -> Command {
        let own = self.program();
        let built = PathBuf::from(env!("CARGO_BIN_EXE_phasegate"));
        let mut command = Command::new(if own.exists() { own } else { built });
        command.args(args).current_dir(self.root()).env_clear().envs(self.variables());
        command
    }

    /// Runs the program and gives back its standard output.
    pub(crate) fn run(&self, args: &[&str], status: i32) -> String {
        let output = self.phasegate(args).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    /// Runs the program with a terminal, as a person does. What it says on both outputs is in both.
    pub(crate) fn in_terminal(&self, args: &[&str]) -> Output {
        let program = self.phasegate(args).get_program().to_string_lossy().into_owned();
        let line: Vec<String> = std::iter::once(program.as_str()).chain(args.iter().copied()).map(quoted).collect();
        let mut terminal = std::process::Command::new("script");
        terminal.args(["-qec", &line.join(" "), "/dev/null"]).current_dir(self.root()).env_clear();
        let terminal = terminal.envs(self.variables()).env("SHELL", "/bin/sh").stdin(std::process::Stdio::null());
        let output = terminal.output().unwrap();
        Output { stderr: output.stdout.clone(), ..output }
    }

    /// Sends bytes to the hook.
    pub(crate) fn hook(&self, bytes: impl Into<Vec<u8>>) -> Output {
        let bytes = bytes.into();
        if self.is_client {
            return self.sent(&bytes);
        }
        self.phasegate(&["hook", "claude-code"]).write_stdin(bytes).output().unwrap()
    }

    /// Sends bytes as a client does: through a socket of its own, to a program that knows the session.
    fn sent(&self, bytes: &[u8]) -> Output {
        self.started(bytes).wait_with_output().unwrap()
    }

    /// Sends a message as a client does, and kills the hook process after this time, whatever it has done by then.
    pub(crate) fn killed(&self, message: &Value, after: std::time::Duration) {
        let mut hook = self.started(message.to_string().as_bytes());
        std::thread::sleep(after);
        let _ = hook.kill();
        hook.wait_with_output().unwrap();
    }

    /// A hook process that was sent these bytes.
    fn started(&self, bytes: &[u8]) -> std::process::Child {
        let (mut own, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
        let frame: Value = serde_json::from_slice(bytes).unwrap_or_default();
        let session = frame["session_id"].as_str().unwrap_or_default();
        let mut hook = std::process::Command::new(self.phasegate(&[]).get_program());
        hook.args(["hook", "claude-code"]).current_dir(self.root()).env_clear().envs(self.variables());
        hook.env("CLAUDE_CODE_SESSION_ID", session).stdin(std::os::fd::OwnedFd::from(theirs));
        hook.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let child = hook.spawn().unwrap();
        drop(hook);
        own.write_all(bytes).unwrap();
        child
    }

    /// Sends a frame of this session to the hook; its fields are added to those every frame has.
    pub(crate) fn frame(&self, session: &str, event: &str, fields: Value) -> Output {
        let mut frame = json!({
            "session_id": session,
            "transcript_path": "/transcript.jsonl",
            "cwd": self.root(),
            "permission_mode": "default",
            "hook_event_name": event,
        });
        frame.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.hook(frame.to_string())
    }

    /// Tells that a session starts.
    pub(crate) fn start(&self, session: &str) -> Output {
        self.frame(session, "SessionStart", json!({"source": "startup"}))
    }

    /// Asks whether a call may run.
    pub(crate) fn call(&self, session: &str, id: &str, tool: &str, input: Value) -> Output {
        self.frame(session, "PreToolUse", json!({"tool_name": tool, "tool_input": input, "tool_use_id": id}))
    }

    /// Tells that a call succeeded.
    pub(crate) fn ok(&self, session: &str, id: &str, tool: &str, input: Value) -> Output {
        let fields =
            json!({"tool_name": tool, "tool_input": input, "tool_use_id": id, "tool_response": {"type": "text"}});
        self.frame(session, "PostToolUse", fields)
    }

    /// The only file in the state folder whose name ends so.
    pub(crate) fn state_file(&self, end: &str) -> PathBuf {
        let mut found = Vec::new();
        collect(&self.state(), end, &mut found);
        assert_eq!(found.len(), 1, "{found:?}");
        found.remove(0)
    }
}

fn collect(folder: &Path, end: &str, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, end, found);
        } else if path.to_str().unwrap().ends_with(end) {
            found.push(path);
        }
    }
}

/// A word of a shell line.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

/// What the client does with a reply to PreToolUse.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    Silent,
    Told(String),
    Denied(String),
}

/// Reads a reply as the client does: exit status 2 or a decision blocks, anything else lets the call run.
pub(crate) fn reply(output: &Output) -> Reply {
    let stdout = String::from_utf8(output.stdout.clone()).unwrap();
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    let parsed: Value = serde_json::from_str(&stdout).unwrap_or_default();
    let specific = &parsed["hookSpecificOutput"];
    let denied = specific["permissionDecision"] == "deny" || parsed["decision"] == "block";
    match output.status.code() {
        Some(2) => {
            assert!(stdout.is_empty() || denied, "a blocking reply says so in both forms: {stdout}");
            Reply::Denied(stderr)
        }
        Some(0) if denied => Reply::Denied(stdout),
        Some(0) if stdout.is_empty() && stderr.is_empty() => Reply::Silent,
        Some(0) => Reply::Told(stdout),
        other => panic!("exit status {other:?}: {stdout} {stderr}"),
    }
}

/// The text of a denial, which must name this code.
pub(crate) fn denied(output: &Output, code: &str) -> String {
    match reply(output) {
        Reply::Denied(text) if text.contains(code) => text,
        other => panic!("no denial with `{code}`: {other:?}"),
    }
}
