//! Running other programs: cargo, mostly.

use std::ffi::OsStr;
use std::fs::{create_dir, remove_dir_all};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::failure::{Failure, Result};
use crate::root::{root, target};

/// The cargo that runs this task, in the workspace's root, with nothing on its standard input.
pub fn cargo(args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = quiet(&program);
    command.args(args);
    if LINTED.load(Relaxed) {
        // As `cargo clippy` does it, which would compile every dependency a second time.
        let driver = PathBuf::from(program).with_file_name("clippy-driver");
        command.env("RUSTC_WORKSPACE_WRAPPER", driver);
        command.env("CLIPPY_ARGS", "--deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    }
    command
}

/// Whether every build lints what it compiles.
static LINTED: AtomicBool = AtomicBool::new(false);

/// From now on every build lints the crates of the workspace, each warning an error, or none does.
pub fn lint_builds(lints: bool) {
    LINTED.store(lints, Relaxed);
}

/// Builds every program of the workspace, and one small test. Cargo chooses the features of a dependency by the packages
/// that are named, and by whether a test is among the targets: else almost everything would be built again for tests.
pub fn build_programs() -> Result {
    run(&mut cargo(&["build", "--quiet", "--workspace", "--lib", "--bins", "--test", "agree"]))
}

/// A program of the workspace as [`build_programs`] built it, in the workspace's root, with nothing on its standard input.
pub fn program(name: &str) -> Command {
    let mut command = quiet(target().join("debug").join(name).with_extension(std::env::consts::EXE_EXTENSION));
    // By this variable the suite builds anew what it plays: without lints, every crate a second time.
    command.env_remove("CARGO");
    command
}

fn quiet(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root()).stdin(Stdio::null());
    // Cargo tells this task its own package; a build script that looks at that would run again, and all that is built on it.
    for (name, _) in std::env::vars_os() {
        if ["CARGO_PKG_", "CARGO_MANIFEST_"].iter().any(|told| name.to_string_lossy().starts_with(told)) {
            command.env_remove(name);
        }
    }
    command.env("TMPDIR", scratch());
    command
}

/// The folder for what is needed for a while.
pub fn scratch() -> PathBuf {
    SCRATCH.lock().ok().and_then(|folder| folder.clone()).unwrap_or_else(std::env::temp_dir)
}

/// The folder in which programs keep what they need for a while, where that is not the system's.
static SCRATCH: Mutex<Option<PathBuf>> = Mutex::new(None);

/// A scratch folder in memory for the programs that are started while this lives: most tests write journals, and each record
/// waits for the disk.
pub struct InMemory(Option<PathBuf>);

impl InMemory {
    /// Where the system has such a folder with enough room, and nobody has named another.
    #[must_use]
    pub fn start() -> Self {
        let memory = Path::new("/dev/shm");
        let folder = memory.join(format!("phasegate-{}", std::process::id()));
        if std::env::var_os("TMPDIR").is_some() || free_kilobytes(memory) < ENOUGH || create_dir(&folder).is_err() {
            return Self(None);
        }
        keep_scratch(Some(folder.clone()));
        Self(Some(folder))
    }
}

impl Drop for InMemory {
    fn drop(&mut self) {
        keep_scratch(None);
        // What is left there, a restart of the machine takes.
        let _ = self.0.as_ref().map(remove_dir_all);
    }
}

fn keep_scratch(folder: Option<PathBuf>) {
    if let Ok(mut kept) = SCRATCH.lock() {
        *kept = folder;
    }
}

/// Room for what tests keep: in KiB. Copies of the program are the largest of it.
const ENOUGH: u64 = 4 * 1024 * 1024;

/// How much room a folder has, in KiB; none if that cannot be known.
fn free_kilobytes(folder: &Path) -> u64 {
    let told = output(Command::new("df").arg("-Pk").arg(folder)).unwrap_or_default();
    let number = told.lines().nth(1).and_then(|line| line.split_whitespace().nth(3)?.parse().ok());
    number.unwrap_or(0)
}

/// Runs a program whose output is shown as it comes.
pub fn run(command: &mut Command) -> Result {
    let status = command.status().map_err(|error| Failure::new(format!("{command:?}: {error}")))?;
    if status.success() { Ok(()) } else { Err(Failure::new(format!("`{}` failed", shown(command)))) }
}

/// Runs a program and returns what it printed to standard output.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output().map_err(|error| Failure::new(format!("{command:?}: {error}")))?;
    if !output.status.success() {
        let errors = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::new(format!("`{}` failed\n{errors}", shown(command))));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// A command as a person would type it.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy();
    let args = command.get_args().map(OsStr::to_string_lossy);
    std::iter::once(program).chain(args).collect::<Vec<_>>().join(" ")
}
