//! Running other programs: cargo, mostly.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

use crate::failure::{Failure, Result};
use crate::root::{root, target};

/// The cargo that runs this task, in the workspace's root, with nothing on its standard input.
pub fn cargo(args: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(&program);
    command.args(args).current_dir(root()).stdin(Stdio::null());
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
    let mut command = Command::new(target().join("debug").join(name).with_extension(std::env::consts::EXE_EXTENSION));
    command.current_dir(root()).stdin(Stdio::null());
    command
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
    let program = std::path::Path::new(command.get_program()).file_name().unwrap_or_default().to_string_lossy();
    let args = command.get_args().map(std::ffi::OsStr::to_string_lossy);
    std::iter::once(program).chain(args).collect::<Vec<_>>().join(" ")
}
