//! Waiting for the command, with every signal passed on to it.

use std::collections::BTreeMap;
use std::ffi::{CString, OsStr, OsString};
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::process::Command;

use nix::errno::Errno;
use nix::spawn::{PosixSpawnAttr, PosixSpawnFileActions, PosixSpawnFlags, posix_spawnp};
use nix::sys::signal::{SigSet, Signal, kill};
use nix::sys::signalfd::{SfdFlags, SignalFd};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use crate::error::Step as _;

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
///
/// The programs that this process starts inherit that, so that none is lost on the way to the command.
pub(super) struct Signals(SignalFd);

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
    pub(super) fn hold() -> crate::error::Result<Self> {
        let mut set = SigSet::empty();
        PASSED.iter().chain(&[Signal::SIGCHLD, Signal::SIGTTOU]).for_each(|signal| set.add(*signal));
        set.thread_block().step("hold signals back")?;
        Ok(Self(SignalFd::with_flags(&set, SfdFlags::SFD_CLOEXEC).step("read signals")?))
    }

    /// Starts a program from which no signal is held back, while this process goes on to hold them.
    pub(super) fn start(command: &Command) -> io::Result<u32> {
        let text = |part: &OsStr| CString::new(part.as_bytes());
        let program = text(command.get_program())?;
        let args = [command.get_program()].into_iter().chain(command.get_args());
        let args = args.map(text).collect::<Result<Vec<_>, _>>()?;
        let mut variables: BTreeMap<OsString, Option<OsString>> =
            std::env::vars_os().map(|(name, value)| (name, Some(value))).collect();
        variables.extend(command.get_envs().map(|(name, value)| (name.into(), value.map(Into::into))));
        let variables = variables.into_iter().filter_map(|(name, value)| Some([name, value?].join("=".as_ref())));
        let variables = variables.map(|variable| text(&variable)).collect::<Result<Vec<_>, _>>()?;
        let mut attributes = PosixSpawnAttr::init()?;
        attributes.set_flags(PosixSpawnFlags::POSIX_SPAWN_SETSIGMASK | PosixSpawnFlags::POSIX_SPAWN_SETSIGDEF)?;
        attributes.set_sigmask(&SigSet::empty())?;
        attributes.set_sigdefault(&SigSet::from_iter([Signal::SIGPIPE]))?;
        let pid = posix_spawnp(&program, &PosixSpawnFileActions::init()?, &attributes, &args, &variables)?;
        Ok(pid.as_raw().unsigned_abs())
    }

    /// Holds no signal back any more: this process is about to become another program.
    pub(super) fn release() {
        let _ = SigSet::empty().thread_set_mask();
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
            let Ok(Some(info)) = self.0.read_signal() else { continue };
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
fn ended(child: Pid) -> Result<Option<u8>, Errno> {
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
