//! Waiting for the command, with every signal passed on to it.

use std::io;
use std::process::{Child, Command};

use nix::errno::Errno;
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::SignalFd;
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::error::{Result, Step as _};

/// What is passed on. The kernel itself sends the others to the whole group, or they cannot be held back.
const PASSED: [Signal; 7] = [
    Signal::SIGHUP,
    Signal::SIGINT,
    Signal::SIGQUIT,
    Signal::SIGTERM,
    Signal::SIGUSR1,
    Signal::SIGUSR2,
    Signal::SIGALRM,
];

/// Signals, read instead of obeyed.
pub(super) struct Signals {
    set: SigSet,
    descriptor: SignalFd,
}

/// Whose signals are passed on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Senders {
    /// Those of every process.
    All,
    /// Those that come from outside of the PID namespace.
    Outside,
}

impl Signals {
    /// Begins to read signals.
    pub(super) fn hold() -> Result<Self> {
        let mut set = SigSet::empty();
        PASSED.iter().chain(&[Signal::SIGCHLD, Signal::SIGTTOU]).for_each(|signal| set.add(*signal));
        set.thread_block().step("hold signals back")?;
        Ok(Self { set, descriptor: SignalFd::new(&set).step("read signals")? })
    }

    /// Starts a program, which would inherit what is held back. One that ends meanwhile is found by [`Signals::wait`].
    pub(super) fn start(&self, command: &mut Command) -> io::Result<Child> {
        self.set.thread_unblock()?;
        let child = command.spawn();
        self.set.thread_block()?;
        child
    }

    /// Waits until this child ends, and for every other that ends before. Gives its exit status as a shell would.
    pub(super) fn wait(&self, child: u32, senders: Senders) -> u8 {
        let child = Pid::from_raw(i32::try_from(child).unwrap_or(0));
        loop {
            match ended(child) {
                Ok(Some(status)) => return status,
                Ok(None) => {}
                // Somebody else has waited for it; how it ended is not known.
                Err(_) => return 125,
            }
            let Ok(Some(info)) = self.descriptor.read_signal() else { continue };
            let Some(signal) = i32::try_from(info.ssi_signo).ok().and_then(|number| Signal::try_from(number).ok())
            else {
                continue;
            };
            // What the kernel sends because of a key goes to the whole group: the command has it already.
            let by_process = info.ssi_code <= 0;
            let outside = info.ssi_pid == 0 || senders == Senders::All;
            if by_process && outside && PASSED.contains(&signal) {
                let _ = kill(child, signal);
            }
        }
    }
}

/// Collects every child that has ended; the status of this one, if it is among them.
fn ended(child: Pid) -> std::result::Result<Option<u8>, Errno> {
    loop {
        let status = match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::WNOHANG)) {
            Err(Errno::EINTR) => continue,
            status => status?,
        };
        match status {
            WaitStatus::Exited(pid, code) if pid == child => return Ok(Some(u8::try_from(code & 0xff).unwrap_or(125))),
            WaitStatus::Signaled(pid, signal, _) if pid == child => {
                return Ok(Some(128_u8.saturating_add(u8::try_from(signal as i32).unwrap_or(0))));
            }
            WaitStatus::StillAlive => return Ok(None),
            _ => {}
        }
    }
}
