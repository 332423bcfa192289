//! Clients known by their files: the program of the client that asks, and those that `PATH` finds, under whatever name.

use std::fs::{File, Metadata};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::client_names::names;
use crate::clients::platforms::Client;
use crate::processes::ancestors::{Process, own_ancestors};
use crate::processes::sender::sender;
use crate::protected::places::path_entries;

/// How far up the client is looked for: shells and what starts others stand between it and the guard.
const MOST_ABOVE: usize = 8;
/// Programs that run a client which is a script.
const INTERPRETERS: [&str; 4] = ["node", "nodejs", "bun", "deno"];
/// The smallest file that is compared with a client's as a copy of it, in bytes: a smaller one is a script beside it.
const SMALLEST: u64 = 4096;
/// How much of two files is compared at a time, in bytes.
const CHUNK: usize = 256 * 1024;

/// The files of clients.
pub(in crate::analysis) struct ClientFiles<'a>(Vec<ClientFile<'a>>);

/// The file of a client.
struct ClientFile<'a> {
    client: &'a Client,
    path: PathBuf,
    data: Metadata,
}

impl<'a> ClientFiles<'a> {
    /// The clients that start a guard, as `PATH`, their own variables and the processes above this one say where they are.
    /// `own` is the platform whose client asks.
    pub(in crate::analysis) fn find(clients: &'a [Client], own: Option<&str>) -> Self {
        let guarded = || clients.iter().filter(|client| client.program.guarded);
        let mut found = Self(Vec::new());
        for client in guarded() {
            let named = client.program.names.iter().filter(|name| !name.contains('/')).filter_map(|name| on_path(name));
            named.chain(by_variable(client)).for_each(|path| found.add(client, path));
        }
        let own = guarded().find(|client| Some(client.adapter.id()) == own);
        if let (Some(client), Some(path)) = (own.or_else(|| guarded().next()), running(clients)) {
            found.add(client, path);
        }
        found
    }

    fn add(&mut self, client: &'a Client, path: PathBuf) {
        if let Ok(data) = path.metadata()
            && data.is_file()
            && !self.0.iter().any(|known| is_same(&known.data, &data))
        {
            self.0.push(ClientFile { client, path, data });
        }
    }

    /// The client whose file this is, by whatever name or link, or as a copy.
    pub(in crate::analysis) fn at(&self, path: &Path) -> Option<&'a Client> {
        let data = path.metadata().ok().filter(Metadata::is_file)?;
        let is_copy = |known: &ClientFile<'_>| {
            known.data.len() == data.len() && data.len() >= SMALLEST && same_content(&known.path, path)
        };
        self.0.iter().find(|known| is_same(&known.data, &data) || is_copy(known)).map(|known| known.client)
    }
}

/// The file that `PATH` finds by a name.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    path_entries().into_iter().map(|folder| folder.join(name)).find(|path| path.is_file())
}

fn by_variable(client: &Client) -> Option<PathBuf> {
    let variable = client.program.file_variable;
    if variable.is_empty() { None } else { std::env::var_os(variable).map(PathBuf::from) }
}

/// The file of the client that asks, by a link that stays good: of the process that made the socket through which its
/// messages come, else of the nearest one above that has a client's name.
fn running(clients: &[Client]) -> Option<PathBuf> {
    let is_named = |path: &Path| path.to_str().is_some_and(|path| clients.iter().any(|client| names(client, path)));
    let above = own_ancestors().into_iter().take(MOST_ABOVE).filter_map(file_of).find(|(path, _)| is_named(path));
    sender().and_then(file_of).or(above).map(|(_, link)| link)
}

/// The file that a process runs: an interpreter's script.
fn file_of(process: Process) -> Option<(PathBuf, PathBuf)> {
    let exe = PathBuf::from(format!("/proc/{}/exe", process.0));
    let leads = exe.read_link().ok()?;
    if leads.file_name().and_then(|name| name.to_str()).is_some_and(|name| INTERPRETERS.contains(&name)) {
        let script = script(process)?;
        return Some((script.clone(), script));
    }
    // The link stays good where another file took the program's place.
    Some((leads, exe))
}

/// The script that a process runs.
fn script(process: Process) -> Option<PathBuf> {
    let words = std::fs::read(format!("/proc/{}/cmdline", process.0)).ok()?;
    let words = words.split(|byte| *byte == 0).skip(1).filter_map(|word| std::str::from_utf8(word).ok());
    words.map(PathBuf::from).find(|path| path.is_absolute() && path.is_file())
}

#[cfg(unix)]
fn is_same(one: &Metadata, other: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (one.dev(), one.ino()) == (other.dev(), other.ino())
}

/// There files are compared by their content alone.
#[cfg(not(unix))]
fn is_same(_: &Metadata, _: &Metadata) -> bool {
    false
}

fn same_content(one: &Path, other: &Path) -> bool {
    let compare = || {
        let (mut one, mut other) = (File::open(one)?, File::open(other)?);
        let (mut left, mut right) = (vec![0; CHUNK], vec![0; CHUNK]);
        loop {
            let read = one.read(&mut left)?;
            let Some(part) = right.get_mut(..read).filter(|_| read > 0) else { return Ok(true) };
            other.read_exact(part)?;
            if left.get(..read) != right.get(..read) {
                return Ok(false);
            }
        }
    };
    // What cannot be read cannot be told from the client.
    let same: std::io::Result<bool> = compare();
    same.unwrap_or(true)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_copy_is_the_client_and_a_file_of_its_length_is_not() -> std::io::Result<()> {
        let folder = tempfile::tempdir()?;
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("client"), vec![1; 8192])?;
        std::fs::write(path("copy"), vec![1; 8192])?;
        std::fs::write(path("other"), vec![2; 8192])?;
        std::os::unix::fs::symlink("client", path("link"))?;
        assert!(is_same(&path("client").metadata()?, &path("link").metadata()?));
        assert!(!is_same(&path("client").metadata()?, &path("copy").metadata()?));
        assert!(same_content(&path("client"), &path("copy")));
        assert!(!same_content(&path("client"), &path("other")));
        Ok(())
    }
}
