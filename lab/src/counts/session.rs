//! A short session of hooks that is kept as data, played by a program in a project of its own.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Map, Value};
use xtask::failure::{Failure, Result};
use xtask::process::{output, run as run_command};
use xtask::root::{read, root};

/// The field of a frame that is not sent: the name under which it is counted.
const COUNTED: &str = "count as";

/// How many variables the environment has besides those that matter: about as many as a client's.
const VARIABLES: usize = 40;

/// The session as it is kept.
#[derive(serde::Deserialize)]
struct Kept {
    /// The platform whose frames these are.
    platform: String,
    /// The arguments of `init` besides the platform.
    init: Vec<String>,
    /// The fields that every frame has.
    all: Map<String, Value>,
    /// The frames, without those fields.
    frames: Vec<Map<String, Value>>,
}

/// A session in a project that the program guards.
pub(crate) struct Session {
    guard: PathBuf,
    folder: PathBuf,
    platform: String,
    /// What the client sends.
    pub(crate) frames: Vec<Frame>,
}

/// What a hook is sent.
pub(crate) struct Frame {
    /// The name under which it is counted, if it is.
    pub(crate) name: Option<String>,
    text: String,
}

impl Session {
    /// Makes a project in this folder, and has the program guard it. The session is the file of this name in `lab/bench`.
    pub(crate) fn stage(name: &str, guard: &Path, folder: &Path) -> Result<Self> {
        let project = folder.join("project");
        std::fs::create_dir_all(&project).map_err(|error| Failure::file(&project, error))?;
        run_command(Command::new("git").args(["init", "--quiet"]).arg(&project))?;
        let path = root().join("lab/bench").join(name);
        let text = read(&path)?.replace("{project}", &project.to_string_lossy());
        let Kept { platform, init, all, frames } =
            serde_json::from_str(&text).map_err(|error| Failure::file(&path, error))?;
        let frame = |mut frame: Map<String, Value>| {
            let name = frame.remove(COUNTED).and_then(|name| name.as_str().map(str::to_owned));
            frame.extend(all.clone());
            Frame { name, text: Value::Object(frame).to_string() }
        };
        let frames = frames.into_iter().map(frame).collect();
        let session = Self { guard: guard.to_path_buf(), folder: folder.to_path_buf(), platform, frames };
        let mut command = Command::new(guard);
        command.arg("init").arg(&session.platform).args(init);
        output(&mut session.placed(command))?;
        Ok(session)
    }

    /// The program as a hook, started by another one, if there are words of it.
    pub(crate) fn hook(&self, before: &[&str]) -> Command {
        let guard = self.guard.to_string_lossy();
        let mut words = before.iter().copied().chain([guard.as_ref(), "hook", &self.platform]);
        let mut command = Command::new(words.next().unwrap_or_default());
        command.args(words);
        self.placed(command)
    }

    /// A command in the project, with a home of its own. A profiler takes long: its hook has more time.
    fn placed(&self, mut command: Command) -> Command {
        // `init` refuses a program that no client would find.
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", self.guard.with_file_name("").display());
        command.current_dir(self.folder.join("project")).env_clear().env("PATH", path);
        command.envs((0..VARIABLES).map(|at| (format!("VARIABLE_{at}"), "x".repeat(at))));
        command.env("HOME", self.folder.join("home")).env("PHASEGATE_DEADLINE_MS", "9000");
        command.env("PHASEGATE_STATE_DIR", self.folder.join("state"));
        command.env("PHASEGATE_MACHINE_DIR", self.folder.join("machine"));
        command
    }
}

impl Frame {
    /// Starts the command, gives it the frame and waits. Whatever it answers is no matter.
    pub(crate) fn feed(&self, mut command: Command) -> Result {
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let program = command.get_program().to_string_lossy().into_owned();
        let broken = |error: std::io::Error| Failure::new(format!("{program}: {error}"));
        let mut child = command.spawn().map_err(broken)?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(self.text.as_bytes()).map_err(broken)?;
        }
        child.wait().map(|_| ()).map_err(broken)
    }
}
