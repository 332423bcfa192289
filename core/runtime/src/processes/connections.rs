//! Sockets on this machine: which process is at the other end of a connection, and which names the programs above listen at.
//! Read from `/proc`, so on Linux only.

use std::collections::BTreeSet;
use std::fs;
use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};

use crate::clients::client_shell::MAX_ABOVE;
use crate::processes::ancestors::{Process, own_ancestors};

/// Folders in which sockets of any program lie.
const SHARED: [&str; 4] = ["/", "/tmp", "/run", "/var/run"];

/// The process that holds the end `theirs` of the TCP connection whose other end is `ours`; of several, the one that was
/// started first. `None` where none is seen: it runs elsewhere, as another user, or the system does not show it.
pub fn process_behind(theirs: SocketAddr, ours: SocketAddr) -> Option<Process> {
    let socket = inode(theirs, ours)?;
    let processes = fs::read_dir("/proc").ok()?.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let holds = |pid: &u32| sockets_of(*pid).any(|open| open == socket);
    processes.filter(holds).filter_map(Process::of).min_by_key(|process| process.1)
}

/// The sockets with a name that the programs above this one have open, and those beside them, which other sessions of a
/// client have: who reaches one may speak to the client as its person does.
pub fn sockets_of_clients() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    let named: Vec<(&str, &Path)> = text.lines().filter_map(named_socket).collect();
    let own: BTreeSet<String> =
        own_ancestors().into_iter().take(MAX_ABOVE).flat_map(|process| sockets_of(process.0)).collect();
    let above: Vec<&Path> = named.iter().filter(|(inode, _)| own.contains(*inode)).map(|(_, path)| *path).collect();
    let folders: BTreeSet<&Path> = above.iter().filter_map(|path| own_folder(path)).collect();
    let counts = |path: &&Path| above.contains(path) || own_folder(path).is_some_and(|at| folders.contains(at));
    // A later client's is made where only such lie.
    let whole: Vec<&Path> = folders.iter().copied().filter(|folder| has_only_sockets(folder)).collect();
    let rest = named
        .iter()
        .map(|(_, path)| *path)
        .filter(counts)
        .filter(|path| !whole.contains(&path.parent().unwrap_or(path)));
    let found: BTreeSet<&Path> = rest.chain(whole.iter().copied()).collect();
    found.into_iter().map(Path::to_owned).collect()
}

/// Whether nothing but sockets lies in a folder.
fn has_only_sockets(folder: &Path) -> bool {
    let inside = fs::read_dir(folder).map(|inside| inside.flatten().collect::<Vec<_>>()).unwrap_or_default();
    let other = |kind: fs::FileType| kind.is_file() || kind.is_dir() || kind.is_symlink();
    !inside.is_empty() && !inside.iter().any(|entry| entry.file_type().map_or(true, other))
}

/// The folder of a socket, where that is not one for any program's.
fn own_folder(path: &Path) -> Option<&Path> {
    path.parent().filter(|folder| !SHARED.iter().any(|shared| *folder == Path::new(shared)))
}

/// The number and the path of a row `Num RefCount Protocol Flags Type St Inode Path`: only a path begins with a slash.
fn named_socket(row: &str) -> Option<(&str, &Path)> {
    let path = row.get(row.find(" /")?.saturating_add(1)..)?;
    Some((row.split_whitespace().nth(6)?, Path::new(path)))
}

/// The numbers of the sockets that a process has open.
fn sockets_of(pid: u32) -> impl Iterator<Item = String> {
    let open = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten();
    let links = open.filter_map(|descriptor| fs::read_link(descriptor.path()).ok());
    links.filter_map(|link| Some(link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned()))
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
    use crate::processes::ancestors::own_process;

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
