//! The session that is played under a profiler: what hooks usually get.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::{Map, Value};
use xtask::failure::{Failure, Result};
use xtask::process::{output, run as run_command};
use xtask::root::{read, root};

/// The session as it is kept.
#[derive(serde::Deserialize)]
struct Session {
    /// The platform whose frames these are.
    platform: String,
    /// The arguments of `init` besides the platform.
    init: Vec<String>,
    /// The fields that every frame has.
    all: Map<String, Value>,
    /// The frames, without those fields.
    frames: Vec<Map<String, Value>>,
}

impl Session {
    fn read(project: &Path) -> Result<Self> {
        let path = root().join("lab/bench/session.json");
        let text = read(&path)?.replace("{project}", &project.to_string_lossy());
        serde_json::from_str(&text).map_err(|error| Failure::file(&path, error))
    }
}

/// Plays the session in a project in this folder. Returns the profile of each hook.
pub(super) fn play(guard: &Path, folder: &Path) -> Result<Vec<PathBuf>> {
    let project = folder.join("project");
    std::fs::create_dir_all(&project).map_err(|error| Failure::file(&project, error))?;
    run_command(Command::new("git").args(["init", "--quiet"]).arg(&project))?;
    let session = Session::read(&project)?;
    let mut init = Command::new(guard);
    init.arg("init").arg(&session.platform).args(&session.init);
    // `init` refuses a program that no client would find.
    let folders = guard.parent().map(Path::to_path_buf).into_iter();
    let known = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&known)))
        .map_err(|error| Failure::new(error.to_string()))?;
    output(started(&mut init, folder).env("PATH", path))?;
    let mut profiles = Vec::new();
    for (at, mut frame) in session.frames.into_iter().enumerate() {
        frame.extend(session.all.clone());
        let profile = folder.join(format!("profile-{at:02}"));
        let mut profiler = Command::new("valgrind");
        profiler.args(["--tool=callgrind", "--demangle=no"]);
        profiler.arg(format!("--callgrind-out-file={}", profile.display()));
        profiler.arg(guard).arg("hook").arg(&session.platform);
        feed(started(&mut profiler, folder), &Value::Object(frame))?;
        profiles.push(profile);
    }
    // A session starts once: what only its start calls comes last.
    let starts = profiles.len().min(2);
    profiles.rotate_left(starts);
    Ok(profiles)
}

/// The program, in the project and with its own home.
fn started<'a>(command: &'a mut Command, folder: &Path) -> &'a mut Command {
    command.current_dir(folder.join("project")).env("HOME", folder.join("home"));
    command.env("PHASEGATE_STATE_DIR", folder.join("state")).env("PHASEGATE_MACHINE_DIR", folder.join("machine"))
}

fn feed(command: &mut Command, frame: &Value) -> Result {
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let broken = |error: std::io::Error| Failure::new(format!("hook-order: valgrind: {error}"));
    let mut child = command.spawn().map_err(broken)?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(frame.to_string().as_bytes()).map_err(broken)?;
    }
    child.wait().map(|_| ()).map_err(broken)
}
