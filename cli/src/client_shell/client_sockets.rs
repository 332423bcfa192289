//! The sockets on which a client takes messages: who reaches one may speak to the client as its person does.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use phasegate_runtime::ancestors::{Process, own_ancestors};

/// How far above a shell its client is looked for.
const MAX_ABOVE: usize = 8;
/// Folders in which sockets of any program lie.
const SHARED: [&str; 4] = ["/", "/tmp", "/run", "/var/run"];

/// Those of the programs above this one, and what lies beside them: other sessions of a client keep theirs there.
pub(super) fn of_clients() -> Vec<PathBuf> {
    let text = fs::read_to_string("/proc/net/unix").unwrap_or_default();
    // Num RefCount Protocol Flags Type St Inode Path: only a path begins with a slash.
    let named: Vec<(&str, &Path)> = text.lines().filter_map(row).collect();
    let own: BTreeSet<String> = own_ancestors().into_iter().take(MAX_ABOVE).flat_map(sockets_of).collect();
    let above: Vec<&Path> = named.iter().filter(|(inode, _)| own.contains(*inode)).map(|(_, path)| *path).collect();
    let beside = |path: &Path| {
        let folder = path.parent().filter(|folder| !SHARED.iter().any(|shared| folder == &Path::new(shared)));
        above.contains(&path) || folder.is_some_and(|folder| above.iter().any(|own| own.parent() == Some(folder)))
    };
    let found: BTreeSet<PathBuf> =
        named.iter().map(|(_, path)| *path).filter(|path| beside(path)).map(Path::to_owned).collect();
    found.into_iter().collect()
}

fn row(line: &str) -> Option<(&str, &Path)> {
    let (before, _) = line.split_once(" /")?;
    let path = line.get(before.len().saturating_add(1)..)?;
    Some((before.split_whitespace().next_back()?, Path::new(path)))
}

/// The numbers of the sockets that a process has open.
fn sockets_of(process: Process) -> Vec<String> {
    let open = fs::read_dir(format!("/proc/{}/fd", process.0)).into_iter().flatten().flatten();
    let leads = open.filter_map(|descriptor| fs::read_link(descriptor.path()).ok());
    leads.filter_map(|leads| Some(leads.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.to_owned())).collect()
}
