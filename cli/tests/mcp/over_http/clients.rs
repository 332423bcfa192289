//! Clients in processes of their own: each passes on what this process sends, so that the program sees it as the client.
//!
//! A client is detached from this process, so that neither is an ancestor of the other.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::http::PATIENCE;

/// The argument that makes this program start a client and end; a file follows.
pub(crate) const START: &str = "--start-a-client";
/// The argument that makes this program a client; a file and the number of the process that started it follow.
pub(crate) const DETACHED: &str = "--be-a-client";

/// The clients of a case.
pub(crate) struct Clients {
    folder: PathBuf,
    /// Each with its address and the number of its process.
    started: BTreeMap<String, (String, String)>,
}

impl Clients {
    pub(crate) fn new(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), started: BTreeMap::new() }
    }

    /// The address at which a client passes on what it gets to the program at `target`.
    pub(crate) fn address(&mut self, name: &str, target: &str) -> String {
        let file = self.folder.join(format!("client-{name}"));
        std::fs::write(file.with_extension("target"), target).unwrap();
        let start = || {
            let own = std::env::current_exe().unwrap();
            assert!(Command::new(own).arg(START).arg(&file).status().unwrap().success());
            let until = Instant::now() + PATIENCE;
            while !file.exists() {
                assert!(Instant::now() < until, "the client did not start");
                std::thread::sleep(Duration::from_millis(5));
            }
            let said = std::fs::read_to_string(&file).unwrap();
            let (address, process) = said.split_once(' ').unwrap();
            (address.to_owned(), process.to_owned())
        };
        self.started.entry(name.to_owned()).or_insert_with(start).0.clone()
    }

    /// Ends a client, and waits until it is gone.
    pub(crate) fn end(&mut self, name: &str) {
        let (_, process) = self.started.remove(name).unwrap();
        std::fs::remove_file(self.folder.join(format!("client-{name}"))).unwrap();
        assert!(Command::new("kill").args(["-KILL", &process]).status().unwrap().success());
        let stat = || std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
        while !stat().is_empty() && !stat().contains(") Z ") {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for Clients {
    fn drop(&mut self) {
        let names: Vec<String> = self.started.keys().cloned().collect();
        names.iter().for_each(|name| self.end(name));
    }
}

#[expect(clippy::zombie_processes, reason = "the client outlives this process, which ends at once")]
/// As the program's words say: starts a client, or is one.
pub(crate) fn run() {
    let words: Vec<String> = std::env::args().collect();
    if words[1] == START {
        let own = std::process::id().to_string();
        Command::new(&words[0]).args([DETACHED, &words[2], &own]).spawn().unwrap();
        return;
    }
    let file = PathBuf::from(&words[2]);
    while std::os::unix::process::parent_id().to_string() == words[3] {
        std::thread::sleep(Duration::from_millis(1));
    }
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let said = format!("{} {}", listener.local_addr().unwrap(), std::process::id());
    std::fs::write(file.with_extension("new"), said).unwrap();
    std::fs::rename(file.with_extension("new"), &file).unwrap();
    for from in listener.incoming() {
        let from = from.unwrap();
        let target = std::fs::read_to_string(file.with_extension("target")).unwrap();
        let to = TcpStream::connect(target).unwrap();
        let pairs = [(from.try_clone().unwrap(), to.try_clone().unwrap()), (to, from)];
        for (mut from, mut to) in pairs {
            std::thread::spawn(move || {
                let mut bytes = [0; 4096];
                while let Ok(count @ 1..) = from.read(&mut bytes) {
                    if to.write_all(&bytes[..count]).is_err() {
                        break;
                    }
                }
                let _ = to.shutdown(Shutdown::Write);
            });
        }
    }
}
