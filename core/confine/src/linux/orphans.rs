//! What a command leaves running where no PID namespace ends with it.

use std::fs;
use std::time::{Duration, Instant};

use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::Pid;

use crate::error::{Result, Step as _};

/// The longest that processes are looked for. One that starts others faster than they can be ended is left.
const LONGEST: Duration = Duration::from_secs(2);

/// Makes this process the parent of every descendant that loses its own.
pub(super) fn adopt() -> Result<()> {
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).step("adopt orphans")
}

/// Ends every process that descends from this one.
pub(super) fn end() {
    let begun = Instant::now();
    while begun.elapsed() < LONGEST && has_children() {
        for child in children() {
            let _ = kill(child, Signal::SIGKILL);
        }
        // Children of the children become children when their parents are collected.
        match waitpid(Pid::from_raw(-1), Some(WaitPidFlag::empty())) {
            Err(nix::errno::Errno::EINTR) | Ok(_) => {}
            Err(_) => return,
        }
    }
}

fn has_children() -> bool {
    waitpid(Pid::from_raw(-1), Some(WaitPidFlag::WNOHANG)) != Err(nix::errno::Errno::ECHILD)
}

fn children() -> Vec<Pid> {
    let own = std::process::id().to_string();
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let child = |name: &str| {
        let pid: i32 = name.parse().ok()?;
        let stat = fs::read_to_string(format!("/proc/{name}/stat")).ok()?;
        // The name of the program is in parentheses and may hold anything; state and parent follow.
        let (_, rest) = stat.rsplit_once(')')?;
        (rest.split_whitespace().nth(1)? == own).then(|| Pid::from_raw(pid))
    };
    processes.flatten().filter_map(|process| child(process.file_name().to_str()?)).collect()
}
