//! Playing a recorded session: the real binary, a process for every frame, a state folder of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use phasegate_adapter::Frame;
use phasegate_runtime::{Locations, Project};
use serde_json::Value;

use crate::session::{Answer, Decided, Session};

/// A session set up in a folder: its project, a home and a state folder.
pub struct Stage<'a> {
    session: &'a Session,
    folder: PathBuf,
    seen: usize,
}

/// What came of one frame.
#[derive(Clone, Debug)]
pub struct Played {
    /// The platform's own word for what happened.
    pub event: String,
    /// The journal's records of it.
    pub records: Vec<Value>,
    /// What was answered.
    pub answer: Answer,
}

impl<'a> Stage<'a> {
    /// Sets a session up in an empty folder.
    ///
    /// # Errors
    ///
    /// A file cannot be written.
    pub fn new(session: &'a Session, folder: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        for name in ["project", "home", "state"] {
            std::fs::create_dir_all(folder.join(name)).map_err(failed)?;
        }
        let folder = folder.canonicalize().map_err(failed)?;
        let stage = Self { session, folder, seen: 0 };
        for (path, text) in &session.about.project {
            let path = stage.project().join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(failed)?;
            std::fs::write(path, stage.placed(text)).map_err(failed)?;
        }
        Ok(stage)
    }

    /// The project's folder.
    #[must_use]
    pub fn project(&self) -> PathBuf {
        self.folder.join("project")
    }

    /// A frame's text with the real folders in place of the recorded ones.
    #[must_use]
    pub fn placed(&self, text: &str) -> String {
        let home = self.session.about.home_path.as_deref();
        let text = home.map_or_else(|| text.to_string(), |home| text.replace(home, &self.shown("home")));
        text.replace(&self.session.about.project_path, &self.shown("project"))
    }

    /// The other way round: what the binary printed, with the recorded folders.
    fn recorded(&self, text: &[u8]) -> String {
        let text = String::from_utf8_lossy(text);
        let text = text.replace(&self.shown("project"), &self.session.about.project_path);
        match &self.session.about.home_path {
            Some(home) => text.replace(&self.shown("home"), home),
            None => text,
        }
    }

    fn shown(&self, name: &str) -> String {
        self.folder.join(name).to_string_lossy().into_owned()
    }

    /// Gives one frame to a process of its own.
    ///
    /// # Errors
    ///
    /// The binary cannot be run, or its journal cannot be read.
    pub fn play(&mut self, frame: &str) -> Result<Played, String> {
        let frame = self.placed(frame);
        let output = self.answer(&frame)?;
        let (event, records) = self.journal(&frame)?;
        let answer = Answer {
            decisions: records.iter().filter_map(decided).collect(),
            stdout: self.recorded(&output.stdout),
            stderr: self.recorded(&output.stderr),
            status: output.status.code().unwrap_or(-1),
        };
        Ok(Played { event, records, answer })
    }

    fn answer(&self, frame: &str) -> Result<std::process::Output, String> {
        let binary = binary()?;
        let failed = |error: std::io::Error| format!("{}: {error}", binary.display());
        let mut command = Command::new(&binary);
        command.args(["hook", &self.session.adapter]).current_dir(self.project()).env_clear();
        command.env("HOME", self.folder.join("home")).env("PHASEGATE_STATE_DIR", self.folder.join("state"));
        command
            .env("PHASEGATE_CONFIG_DIR", self.folder.join("user"))
            .env("PHASEGATE_MACHINE_DIR", self.folder.join("machine"));
        for (name, value) in &self.session.about.environment {
            command.env(name, value.replace("$PROJECT", &self.shown("project")));
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(frame.as_bytes()).map_err(failed)?;
        }
        child.wait_with_output().map_err(failed)
    }

    /// The journal's records since the last frame, and the platform's word for this one.
    fn journal(&mut self, frame: &str) -> Result<(String, Vec<Value>), String> {
        let adapter = phasegate_adapters::find(&self.session.adapter).ok_or("no such adapter")?;
        let address = adapter.address(&Frame::new(frame)).map_err(|problem| problem.to_string())?;
        let state = self.folder.join("state");
        let locations =
            Locations { state, user: PathBuf::new(), machine: PathBuf::new(), home: self.folder.join("home") };
        let journal = Project::find(&locations, &self.project()).session_journal(&address.session);
        let text = std::fs::read_to_string(journal).unwrap_or_default();
        let records = text.lines().filter_map(|line| serde_json::from_str::<Value>(line.split_once(' ')?.1).ok());
        let new: Vec<Value> = records.skip(self.seen).collect();
        self.seen += new.len();
        Ok((address.event, new))
    }
}

fn decided(record: &Value) -> Option<Decided> {
    let decision = record.get("decision")?;
    let text = |key: &str| decision.get(key).and_then(Value::as_str).map(str::to_string);
    Some(Decided {
        decision: text("effect")?,
        tool: text("tool").unwrap_or_default(),
        code: text("code"),
        phase: text("phase"),
    })
}

/// The binary beside this program. It is built first where cargo runs this program.
fn binary() -> Result<PathBuf, String> {
    static BUILT: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    BUILT.get_or_init(build).clone()
}

fn build() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = own.ancestors().skip(1).find(|folder| !folder.ends_with("deps")).unwrap_or(&own);
    let binary = folder.join(format!("phasegate{}", std::env::consts::EXE_SUFFIX));
    if let Some(cargo) = std::env::var_os("CARGO") {
        let mut command = Command::new(cargo);
        command.args(["build", "--quiet", "--package", "phasegate", "--bin", "phasegate"]);
        command.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
        let output = command.output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
    }
    if binary.exists() { Ok(binary) } else { Err(format!("{} is not built", binary.display())) }
}
