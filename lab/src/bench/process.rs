//! One process, timed from its start to its end, with the memory it took at most.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use wait4::Wait4 as _;

use super::failed::failed;
use xtask::failure::Result;

/// How a program is started.
#[derive(Clone, Debug)]
pub(super) struct Program {
    /// The program and its arguments.
    pub(super) words: Vec<OsString>,
    /// The folder it starts in.
    pub(super) folder: PathBuf,
    /// Its whole environment.
    pub(super) environment: BTreeMap<String, OsString>,
    /// Whether it must end with status 0; a program that does nothing confirms nothing to a shell that asks.
    pub(super) succeeds: bool,
}

/// What a run of a program took.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cost {
    /// From start to end, in microseconds.
    pub(super) micros: u64,
    /// The memory at most, in bytes. The system counts what this program held when it started the other one, so no
    /// figure is below that.
    pub(super) peak: u64,
}

impl Program {
    /// The same program started by a shell, with this command.
    pub(super) fn in_shell(&self, command: &str) -> Self {
        Self { words: ["/bin/sh", "-c", command].map(OsString::from).to_vec(), ..self.clone() }
    }

    /// Runs the program, and writes this input once it runs.
    pub(super) fn run(&self, input: &str) -> Result<Cost> {
        self.timed(input, &mut self.command()?)
    }

    /// Runs the program on a pipe that already holds this input, so that little but the program is timed.
    pub(super) fn run_on_full_pipe(&self, input: &str) -> Result<Cost> {
        let broken = |error: std::io::Error| failed(format!("a pipe: {error}"));
        let (reader, mut writer) = std::io::pipe().map_err(broken)?;
        writer.write_all(input.as_bytes()).map_err(broken)?;
        drop(writer);
        let mut command = self.command()?;
        self.timed("", command.stdin(reader))
    }

    fn command(&self) -> Result<Command> {
        let [program, args @ ..] = self.words.as_slice() else { return Err(failed("no program")) };
        let mut command = Command::new(program);
        command.args(args).current_dir(&self.folder).env_clear().envs(&self.environment);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        Ok(command)
    }

    fn timed(&self, input: &str, command: &mut Command) -> Result<Cost> {
        let shown = command.get_program().to_owned();
        let shown = Path::new(&shown).display();
        let broken = |error: std::io::Error| failed(format!("{shown}: {error}"));
        let begin = Instant::now();
        let mut child = command.spawn().map_err(broken)?;
        if let Some(mut stdin) = child.stdin.take() {
            stdin.write_all(input.as_bytes()).map_err(broken)?;
        }
        let ended = child.wait4().map_err(broken)?;
        let micros = u64::try_from(begin.elapsed().as_micros()).unwrap_or(u64::MAX);
        if self.succeeds && !ended.status.success() {
            return Err(failed(format!("{shown}: {}", ended.status)));
        }
        Ok(Cost { micros, peak: ended.rusage.maxrss })
    }
}
