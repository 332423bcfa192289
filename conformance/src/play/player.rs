//! Playing a recorded session with a state folder of its own, by what ships: the relay for a client of servers, one bridge
//! for all frames of a platform with a plugin, else a process of the real binary for every frame.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, OnceLock};

use phasegate_adapter::{Adapter, Frame, Message};
use phasegate_runtime::operate::audit::again::Outcome;
use phasegate_runtime::operate::audit::history::Past;
use phasegate_runtime::operate::verify::verify;
use phasegate_runtime::{Locations, Project, Runtime};
use phasegate_service::ProjectGuard;
use serde_json::Value;

use crate::play::bridge::Bridge;
use crate::play::relay;
use crate::play::relay::Player;
use crate::play::session::{Answer, BASE, Recorded, Session};

/// A session set up in a folder: its project, a home and a state folder.
pub struct Stage {
    adapter: &'static dyn Adapter,
    folder: PathBuf,
    seen: usize,
    client_version: String,
    /// The relay, for a client of servers.
    relay: Option<Player>,
    /// The bridge, for a platform with a plugin; the first frame starts it.
    bridge: Option<Bridge>,
}

/// What came of one frame.
#[derive(Clone, Debug)]
pub struct Played {
    /// The platform's own word for what happened.
    pub event: String,
    /// The journal's records of it, with the folders as they were recorded.
    pub records: Vec<Value>,
    /// What was answered, with the folders as they were recorded.
    pub answer: Answer,
}

impl Stage {
    /// Sets a session up in a folder.
    ///
    /// # Errors
    ///
    /// The build has no such adapter, or a file cannot be written.
    pub fn new(session: &Session, folder: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        let client = &session.about.client;
        let adapter = phasegate_adapters::find(client).ok_or_else(|| format!("no adapter `{client}`"))?;
        for name in ["project", "home", "tmp", "state", "machine"] {
            std::fs::create_dir_all(folder.join(name)).map_err(failed)?;
        }
        let folder = folder.canonicalize().map_err(failed)?;
        let client_version = session.about.client_version.clone();
        let mut stage = Self { adapter, folder, seen: 0, client_version, relay: None, bridge: None };
        if relay::plays(adapter) {
            let runtime = Runtime::new(stage.locations(), phasegate_adapters::all());
            let project = Project::find(&runtime.locations, &stage.folder.join("project"));
            stage.relay = Some(Player::new(Arc::new(ProjectGuard::new(runtime, project)))?);
        }
        for (path, text) in &session.about.files {
            let path = stage.folder.join("project").join(path);
            std::fs::create_dir_all(path.parent().unwrap_or(&path)).map_err(failed)?;
            std::fs::write(path, stage.placed(text)).map_err(failed)?;
        }
        Ok(stage)
    }

    /// A recorded text with this stage's folder in place of the recorded one.
    #[must_use]
    pub fn placed(&self, text: &str) -> String {
        text.replace(BASE, &self.folder.to_string_lossy())
    }

    /// The other way round.
    fn recorded(&self, text: &[u8]) -> String {
        String::from_utf8_lossy(text).replace(&*self.folder.to_string_lossy(), BASE)
    }

    /// Plays one frame.
    ///
    /// # Errors
    ///
    /// The binary cannot be run, or the frame has no address.
    pub fn play(&mut self, line: &Recorded) -> Result<Played, String> {
        self.change_files(&line.files)?;
        let frame = self.placed(line.frame.get());
        if let Some(relay) = &mut self.relay {
            let relayed = relay.play(&frame)?;
            let [stdout, stderr] = [&relayed.to_client, &relayed.log].map(|text| self.recorded(text.as_bytes()));
            let answer = Answer { stdout, stderr, status: Some(0) };
            return Ok(Played { event: relayed.event, records: self.journal(&relayed.session), answer });
        }
        let message = self.adapter.codec().open(&Frame::new(frame.as_str())).map_err(|problem| problem.to_string())?;
        self.record(&message, &line.record)?;
        let answer = if self.adapter.bridged() { self.ask(&frame)? } else { self.run(&frame, &line.environment)? };
        Ok(Played { records: self.journal(&message.session), event: message.event, answer })
    }

    /// Changes files of the project as they had changed when the frame was sent.
    fn change_files(&self, files: &BTreeMap<String, Option<String>>) -> Result<(), String> {
        for (path, text) in files {
            let path = self.folder.join("project").join(path);
            let done = match text {
                Some(text) => {
                    let folder = std::fs::create_dir_all(path.parent().unwrap_or(&path));
                    folder.and_then(|()| std::fs::write(&path, self.placed(text)))
                }
                None => std::fs::remove_file(&path),
            };
            done.map_err(|error| format!("{}: {error}", path.display()))?;
        }
        Ok(())
    }

    /// Adds to the client's own file what it had written before it sent the frame.
    fn record(&self, message: &Message, lines: &[String]) -> Result<(), String> {
        let Some(file) = self.adapter.client_record().and_then(|record| record.ends(message)) else { return Ok(()) };
        if lines.is_empty() || !file.starts_with(&self.folder) {
            return Ok(());
        }
        let failed = |error: std::io::Error| format!("{}: {error}", file.display());
        std::fs::create_dir_all(file.parent().unwrap_or(&file)).map_err(failed)?;
        let mut open = std::fs::OpenOptions::new().create(true).append(true).open(&file).map_err(failed)?;
        lines.iter().try_for_each(|line| writeln!(open, "{}", self.placed(line))).map_err(failed)
    }

    /// Keeps the state that the frames led to.
    ///
    /// # Errors
    ///
    /// A file cannot be copied.
    pub(crate) fn keep(&mut self) -> Result<(), String> {
        // The bridge writes its last state when it ends.
        self.bridge = None;
        copy(&self.folder.join("state"), &self.folder.join("kept"))
    }

    /// Goes back to the state that was kept.
    ///
    /// # Errors
    ///
    /// A file cannot be copied.
    pub(crate) fn restore(&mut self) -> Result<(), String> {
        self.bridge = None;
        let state = self.folder.join("state");
        std::fs::remove_dir_all(&state).map_err(|error| format!("{}: {error}", state.display()))?;
        copy(&self.folder.join("kept"), &state)
    }

    /// Sends a frame to the bridge; the first one starts it.
    fn ask(&mut self, frame: &str) -> Result<Answer, String> {
        let mut bridge = match self.bridge.take() {
            Some(bridge) => bridge,
            None => {
                let project = self.folder.join("project");
                Bridge::start(self.command()?, self.adapter.id(), &self.client_version, &project)?
            }
        };
        let answer = bridge.ask(frame)?;
        self.bridge = Some(bridge);
        Ok(Answer { stdout: self.recorded(answer.stdout.as_bytes()), ..answer })
    }

    /// Gives a frame to a hook, which is a process of its own.
    fn run(&self, frame: &str, environment: &BTreeMap<String, String>) -> Result<Answer, String> {
        let mut command = self.command()?;
        command.args(["hook", self.adapter.id()]).envs(environment);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let failed = |error: std::io::Error| format!("the hook: {error}");
        let mut child = command.spawn().map_err(failed)?;
        if let Some(mut stdin) = child.stdin.take() {
            // A hook that does not read all of its input closes the pipe; its answer still counts.
            drop(stdin.write_all(frame.as_bytes()));
        }
        let output = child.wait_with_output().map_err(failed)?;
        let (stdout, stderr) = (self.recorded(&output.stdout), self.recorded(&output.stderr));
        Ok(Answer { stdout, stderr, status: output.status.code() })
    }

    /// The real binary in the project, with no environment but this stage's.
    fn command(&self) -> Result<Command, String> {
        let mut command = Command::new(binary()?);
        let project = self.folder.join("project");
        command.current_dir(&project).env_clear();
        command.env("HOME", self.folder.join("home")).env("PHASEGATE_STATE_DIR", self.folder.join("state"));
        command.env("PHASEGATE_MACHINE_DIR", self.folder.join("machine"));
        for variable in self.adapter.installer().places().project_variables {
            command.env(variable, &project);
        }
        Ok(command)
    }

    /// Whether the journals that the frames led to fit together, and every event in them is decided again to the same
    /// bytes.
    ///
    /// # Errors
    ///
    /// What does not fit, or which record comes out otherwise.
    pub fn believed(&mut self) -> Result<(), String> {
        // The bridge writes its last state when it ends.
        self.bridge = None;
        let runtime = Runtime::new(self.locations(), phasegate_adapters::all());
        let project = Project::find(&runtime.locations, &self.folder.join("project"));
        let report = verify(&runtime.locations, &project, &mut |_, _| {});
        if let Some(finding) = report.findings.first() {
            return Err(format!("{}: {} [{}]", finding.path.display(), finding.message, finding.code));
        }
        if report.journals.iter().all(|journal| journal.session.is_none()) {
            return Err("the frames led to no journal of a session".into());
        }
        for journal in report.journals {
            let Some(session) = journal.session else { continue };
            let mut differs = None;
            let visit = &mut |past: &Past, outcome: Result<Outcome, String>| {
                let decides = past.problem.is_none() && past.event.get("event").is_some();
                let what = match outcome {
                    Ok(outcome) if outcome.differs.is_empty() => return ControlFlow::Continue(()),
                    Ok(outcome) => outcome.differs.join(", "),
                    Err(why) if decides => why,
                    Err(_) => return ControlFlow::Continue(()),
                };
                let seq = past.seq;
                differs = Some(format!("record {seq} of session `{session}`, decided again, differs: {what}"));
                ControlFlow::Break(())
            };
            runtime.again_each(&project, &session, visit).map_err(|problem| problem.to_string())?;
            if let Some(differs) = differs {
                return Err(differs);
            }
        }
        Ok(())
    }

    fn locations(&self) -> Locations {
        let [state, machine, home] = ["state", "machine", "home"].map(|name| self.folder.join(name));
        Locations { state, user: home.join(".config/phasegate"), machine, home }
    }

    /// The records that the session's journal has got since the last frame.
    fn journal(&mut self, session: &str) -> Vec<Value> {
        let journal = Project::find(&self.locations(), &self.folder.join("project")).session_journal(session);
        let text = std::fs::read(journal).unwrap_or_default();
        let lines = text.split(|byte| *byte == b'\n').filter(|line| line.ends_with(b"}")).skip(self.seen);
        let new: Vec<String> = lines.map(|line| self.recorded(line)).collect();
        self.seen += new.len();
        new.iter().filter_map(|line| serde_json::from_str(line.split_once(' ')?.1).ok()).collect()
    }
}

/// Copies a folder with all that is in it.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.map_err(|error| error.to_string())?;
        let target = to.join(entry.path().strip_prefix(from).unwrap_or(entry.path()));
        let made = if entry.file_type().is_dir() {
            std::fs::create_dir_all(&target)
        } else {
            std::fs::copy(entry.path(), &target).map(|_| ())
        };
        made.map_err(|error| format!("{}: {error}", target.display()))?;
    }
    Ok(())
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
        command.args(["build", "--quiet", "--workspace", "--bins"]);
        command.current_dir(env!("CARGO_MANIFEST_DIR")).stdin(Stdio::null());
        let output = command.output().map_err(|error| error.to_string())?;
        if !output.status.success() {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
    }
    if binary.exists() { Ok(binary) } else { Err(format!("{} is not built", binary.display())) }
}
