//! Which process is at the other end of a connection on this machine. Read from `/proc`, so on Linux only.

use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;

use crate::ancestors::Process;

/// The process that holds the end `theirs` of the TCP connection whose other end is `ours`; of several, the one that was
/// started first. `None` where none is seen: it runs elsewhere, as another user, or the system does not show it.
#[must_use]
pub fn process_behind(theirs: SocketAddr, ours: SocketAddr) -> Option<Process> {
    let socket = format!("socket:[{}]", inode(theirs, ours)?);
    let processes = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let holds = |pid: &u32| {
        let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
        open.into_iter().any(|fd| fs::read_link(fd.path()).is_ok_and(|link| link == Path::new(&socket)))
    };
    processes.filter(holds).filter_map(Process::of).min_by_key(|process| process.1)
}

/// The number of the socket with these ends.
fn inode(theirs: SocketAddr, ours: SocketAddr) -> Option<String> {
    [("/proc/net/tcp", false), ("/proc/net/tcp6", true)].into_iter().find_map(|(table, long)| {
        let (local, remote) = (written(theirs, long)?, written(ours, long)?);
        let text = fs::read_to_string(table).ok()?;
        text.lines().skip(1).find_map(|line| {
            let fields: Vec<&str> = line.split_ascii_whitespace().collect();
            let is_it = fields.get(1) == Some(&local.as_str()) && fields.get(2) == Some(&remote.as_str());
            fields.get(9).filter(|inode| is_it && **inode != "0").map(|inode| (*inode).to_owned())
        })
    })
}

/// An address as the tables have it: words of 32 bits in the order of the machine. `long`: as one of version 6.
fn written(address: SocketAddr, long: bool) -> Option<String> {
    let bytes = match address.ip().to_canonical() {
        IpAddr::V4(ip) if long => ip.to_ipv6_mapped().octets().to_vec(),
        IpAddr::V4(ip) => ip.octets().to_vec(),
        IpAddr::V6(ip) if long => ip.octets().to_vec(),
        IpAddr::V6(_) => return None,
    };
    let words = bytes.chunks_exact(4).filter_map(|word| Some(u32::from_ne_bytes(word.try_into().ok()?)));
    let ip: String = words.map(|word| format!("{word:08X}")).collect();
    Some(format!("{ip}:{:04X}", address.port()))
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;
    use crate::ancestors::own_process;

    #[test]
    fn the_process_at_the_other_end_is_found() {
        for address in ["127.0.0.1:0", "[::1]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (held, _) = listener.accept().unwrap();
            let (theirs, ours) = (held.peer_addr().unwrap(), held.local_addr().unwrap());
            assert_eq!(process_behind(theirs, ours), own_process(), "{address}");
            assert_eq!(process_behind(theirs, SocketAddr::new(ours.ip(), 1)), None);
            drop(client);
        }
    }
}
