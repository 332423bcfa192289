//! Standard input and output: those of this process, and those of a server that runs as its child.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::fs::FileType;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::unix::pipe;

use crate::wire::lines::{self, Carried};
use crate::wire::link::{Link, link};

/// A server that runs as a child process and communicates through stdio.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Command {
    /// The program: a path, or a name found through `PATH`.
    pub program: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables of its environment besides those of this process.
    pub env: BTreeMap<String, String>,
    /// Its working folder, where it is not that of this process.
    pub cwd: Option<PathBuf>,
}

/// A server that runs. It ends with this value, with every process of its group.
#[derive(Debug)]
pub struct Child {
    process: tokio::process::Child,
    group: Option<Pid>,
}

/// The groups of the servers that run, so that a signal reaches them at once.
static GROUPS: Mutex<Vec<Pid>> = Mutex::new(Vec::new());

fn groups() -> MutexGuard<'static, Vec<Pid>> {
    GROUPS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Whether this process was told to end.
static ENDING: AtomicBool = AtomicBool::new(false);

/// Whether this process was told to end.
pub(crate) fn ending() -> bool {
    ENDING.load(Ordering::Relaxed)
}

/// Tells every server that this process started to end.
pub fn tell_all_to_end() {
    ENDING.store(true, Ordering::Relaxed);
    for group in groups().iter() {
        // A group that is empty needs no signal.
        let _ = kill_process_group(*group, Signal::TERM);
    }
}

/// How long a server may take to end once its input has; then it is told to, and then made to.
const END_TIMEOUT: Duration = Duration::from_millis(500);

impl Command {
    /// Starts the server as a group of processes of its own. What it writes to standard error goes where ours goes.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub fn start(&self) -> io::Result<(Link, Child)> {
        let mut command = tokio::process::Command::new(&self.program);
        command.args(&self.args).envs(&self.env).stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        if let Some(folder) = &self.cwd {
            command.current_dir(folder);
        }
        let mut process = command.spawn()?;
        let group = process.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let (Some(input), Some(output)) = (process.stdin.take(), process.stdout.take()) else {
            return Err(io::Error::other("the server has no standard input or output"));
        };
        let (link, wire) = link();
        lines::carry(wire, output, input, None);
        groups().extend(group);
        Ok((link, Child { process, group }))
    }
}

impl Child {
    /// Ends the server: its input has ended already; it gets a moment, then a signal, and another moment.
    pub async fn end(mut self) {
        if !self.over_soon().await {
            self.signal(Signal::TERM);
            self.over_soon().await;
        }
        self.signal(Signal::KILL);
        self.forget();
        let _ = self.process.wait().await;
        self.group = None;
    }

    /// Whether the server ends by itself within [`END_TIMEOUT`]. It is not reaped by that, so that its number stays its own.
    async fn over_soon(&self) -> bool {
        let Some(group) = self.group else { return true };
        let over = || {
            let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
            !matches!(waitid(WaitId::Pid(group), options), Ok(None))
        };
        let step = Duration::from_millis(5);
        for _ in 0..END_TIMEOUT.as_millis() / step.as_millis() {
            if over() {
                return true;
            }
            tokio::time::sleep(step).await;
        }
        over()
    }

    fn forget(&self) {
        groups().retain(|group| Some(*group) != self.group);
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // A group that is empty needs no signal.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.forget();
        self.signal(Signal::KILL);
    }
}

/// The client that started this process, at its standard input and output.
///
/// # Errors
///
/// Standard input or output cannot be used.
pub(crate) fn client() -> io::Result<(Link, Carried)> {
    let (link, wire) = link();
    let input = io::stdin().as_fd().try_clone_to_owned()?;
    let output = io::stdout().as_fd().try_clone_to_owned()?;
    Ok((link, lines::carry(wire, reader(input)?, writer(output)?, Some(Arc::default()))))
}

/// A pipe or socket is waited for together with everything else; any other file is read by a thread.
fn reader(fd: OwnedFd) -> io::Result<Box<dyn AsyncRead + Unpin + Send>> {
    Ok(match kind(&fd)? {
        FileType::Fifo => Box::new(pipe::Receiver::from_owned_fd(fd)?),
        FileType::Socket => Box::new(socket(fd)?),
        _ => Box::new(tokio::fs::File::from_std(fd.into())),
    })
}

fn writer(fd: OwnedFd) -> io::Result<Box<dyn AsyncWrite + Unpin + Send>> {
    Ok(match kind(&fd)? {
        FileType::Fifo => Box::new(pipe::Sender::from_owned_fd(fd)?),
        FileType::Socket => Box::new(socket(fd)?),
        _ => Box::new(tokio::fs::File::from_std(fd.into())),
    })
}

fn kind(fd: &OwnedFd) -> io::Result<FileType> {
    Ok(FileType::from_raw_mode(rustix::fs::fstat(fd)?.st_mode))
}

fn socket(fd: OwnedFd) -> io::Result<tokio::net::UnixStream> {
    let stream = std::os::unix::net::UnixStream::from(fd);
    stream.set_nonblocking(true)?;
    tokio::net::UnixStream::from_std(stream)
}
