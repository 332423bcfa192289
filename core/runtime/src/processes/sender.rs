//! Who sent a frame: the process that made the socket that this process reads it from.
//!
//! A client starts its hook line, or a bridge, with one end of a pair of sockets as standard input. The system notes who
//! made a pair, so no other process can make one in the client's name, and what comes through it the client wrote. A
//! program that the client runs for its agent has another standard input. Seen on Linux only.

use std::path::PathBuf;
use std::sync::OnceLock;

use phasegate_adapter::Problem;
use phasegate_core::Code;

use crate::processes::ancestors::Process;

/// The most senders that one session is remembered to have had.
const SENDERS: usize = 16;

/// The process that made the socket which is the standard input of this one; `None` where it is something else, or the
/// system does not say who made it.
pub(crate) fn sender() -> Option<Process> {
    static SENDER: OnceLock<Option<Process>> = OnceLock::new();
    *SENDER.get_or_init(maker)
}

#[cfg(target_os = "linux")]
fn maker() -> Option<Process> {
    use rustix::net::{AddressFamily, getpeername, sockopt};
    let input = std::io::stdin();
    if sockopt::socket_domain(&input).ok()? != AddressFamily::UNIX {
        return None;
    }
    // The other end of a pair has no name, only a family; that of a connection has the name of the socket that listens.
    let unnamed = getpeername(&input).ok()?.is_none_or(|theirs| theirs.addr_len() as usize == size_of::<u16>());
    let pid = sockopt::socket_peercred(&input).ok().filter(|_| unnamed)?.pid;
    Process::of(u32::try_from(pid.as_raw_pid()).ok()?)
}

#[cfg(not(target_os = "linux"))]
fn maker() -> Option<Process> {
    None
}

/// Checks that a frame of a session that had these senders may be the client's. Where none was ever seen, each frame is
/// taken. A session may go on in another client: one that runs the same program, or after the ones before have ended.
///
/// # Errors
///
/// `not-from-client`: another process sent it.
pub(crate) fn check(senders: &[Process], sender: Option<Process>) -> Result<(), Problem> {
    let by = |sender: Process| senders.contains(&sender) || is_another_client(senders, sender);
    if senders.is_empty() || sender.is_some_and(by) {
        return Ok(());
    }
    let text = match sender {
        None => "the message did not come from the client itself".to_owned(),
        Some(Process(pid, ..)) => format!("process {pid} sent the message, which is no client of this session"),
    };
    Err(Problem::new(Code::NotFromClient, text))
}

fn is_another_client(senders: &[Process], sender: Process) -> bool {
    if sender.ancestors().iter().any(|above| senders.contains(above)) {
        return false;
    }
    let program = |process: &Process| std::fs::read_link(format!("/proc/{}/exe", process.0)).ok();
    let own: Option<PathBuf> = program(&sender);
    let mut live = senders.iter().filter(|known| !known.gone()).peekable();
    live.peek().is_none() || own.is_some() && live.any(|known| program(known) == own)
}

/// Adds the sender of a frame that was taken, where it is known to be a client of the session.
pub(crate) fn note(senders: &mut Vec<Process>, clients: &[Process], sender: Option<Process>) {
    let Some(sender) = sender.filter(|sender| clients.contains(sender) && !senders.contains(sender)) else { return };
    senders.push(sender);
    let surplus = senders.len().saturating_sub(SENDERS);
    senders.drain(..surplus);
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use crate::processes::ancestors::{own_ancestors, own_process};

    #[test]
    fn only_a_client_of_the_session_sends_its_frames() {
        let (own, parent) = (own_process().unwrap(), own_ancestors()[0]);
        let ended = Process(own.0, own.1 + 1, own.2);
        assert!(check(&[], None).is_ok() && check(&[], Some(own)).is_ok(), "nothing was ever seen");
        assert!(check(&[own], Some(own)).is_ok());
        assert_eq!(check(&[own], None).unwrap_err().code, Code::NotFromClient);
        assert!(check(&[parent], Some(own)).is_err(), "a program of the client is no client of its session");
        assert!(check(&[own], Some(parent)).is_err(), "nor is another program while the client runs");
        assert!(check(&[ended], Some(parent)).is_ok(), "the session goes on in another client");
        assert!(check(&[ended], None).is_err(), "and no client is no client of it");
    }

    #[test]
    fn a_sender_is_noted_where_it_is_known_as_a_client() {
        let (own, parent) = (own_process().unwrap(), own_ancestors()[0]);
        let mut senders = Vec::new();
        for sender in [None, Some(parent), Some(own), Some(own)] {
            note(&mut senders, &[own], sender);
        }
        assert_eq!(senders, [own]);
    }
}
