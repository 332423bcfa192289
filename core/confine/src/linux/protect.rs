//! Protection: folders are mounted read-only, and the command takes the place of this process.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use nix::sched::CloneFlags;
use rustix::fs::{Access, access};
use rustix::mount::MountPropagationFlags;

use super::limits::{capabilities, descriptors, namespaces, seccomp};
use super::sockets;
use crate::error::{Error, Result, Step as _};
use crate::linux::limits::mounts::{self, Opened};
use crate::request::Request;

/// The most links on the way to one path, as the kernel has it.
const MAX_LINKS: usize = 40;
/// Settings that `ssh` only reads if they are root's or the user's own.
const SETTINGS_OF_SSH: [&str; 2] = ["/etc/ssh/ssh_config.d", "/etc/crypto-policies/back-ends"];

/// Becomes the command. Returns only why it did not.
pub(super) fn become_command(request: &Request) -> Error {
    descriptors::close_others(None);
    if let Err(error) = enter(request) {
        return error;
    }
    let Some((program, args)) = request.command.split_first() else {
        return Error::Unsupported("no command".into());
    };
    let cause = Command::new(program).args(args).exec();
    Error::Start { program: program.display().to_string(), cause }
}

/// Mounts the protected folders read-only.
pub(super) fn enter(request: &Request) -> Result<()> {
    let protected =
        request.protected.iter().map(|path| fs::canonicalize(path).step(format!("find {}", path.display())));
    let mut protected = protected.collect::<Result<Vec<_>>>()?;
    let administrates = capabilities::administrates();
    if administrates {
        // Settings of the kernel name programs that it starts outside.
        protected.push(PathBuf::from("/proc/sys"));
    }
    protected.sort();
    let mut links: Vec<PathBuf> = request.protected.iter().flat_map(|path| links_to(path)).collect();
    links.retain(|link| !protected.iter().any(|path| link.starts_with(path)));
    links.sort();
    links.dedup();
    let folder = std::env::current_dir().step("find the current folder")?;
    namespaces::enter(request, CloneFlags::CLONE_NEWNS)?;
    mounts::detach(MountPropagationFlags::DOWNSTREAM)?;
    if !administrates {
        SETTINGS_OF_SSH.iter().map(Path::new).filter(|folder| folder.is_dir()).try_for_each(copy_as_own)?;
    }
    let writable: Vec<PathBuf> = request.writable.iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect();
    let held: Vec<PathBuf> = request.held.iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect();
    let mut pinned = pins(protected.iter().chain(&links).chain(&held));
    pinned.extend(held.into_iter().chain(writable.clone()));
    pinned.sort();
    pinned.dedup();
    pinned.iter().try_for_each(|pin| hold(pin))?;
    links.iter().for_each(|link| mounts::hold_link(link));
    for path in &protected {
        hold(path)?;
        let around = |folder: &&PathBuf| !path.starts_with(folder);
        let spared = |mount: &Path| writable.iter().filter(around).any(|folder| mount.starts_with(folder));
        mounts::make_read_only_below(path, &spared)?;
    }
    request.covered.iter().try_for_each(|path| sockets::cover_one(path))?;
    std::env::set_current_dir(&folder).step(format!("enter {}", folder.display()))?;
    capabilities::give_up(capabilities::PROTECT)?;
    seccomp::install(request)
}

/// Lays copies of a folder's files over it that belong to the user: those of root seem to be nobody's in a user namespace.
fn copy_as_own(folder: &Path) -> Result<()> {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let texts: Vec<_> = files.filter_map(|file| Some((file.file_name(), fs::read(file.path()).ok()?))).collect();
    if texts.is_empty() {
        return Ok(());
    }
    mounts::file_system("tmpfs", folder, "mode=0755,size=4m")?;
    let write = |(name, text): (_, Vec<u8>)| fs::write(folder.join(name), text);
    texts.into_iter().try_for_each(write).step(format!("copy {}", folder.display()))
}

/// A mount of a path on itself, so that nobody here can rename or remove it.
fn hold(path: &Path) -> Result<()> {
    Opened::open(path)?.bind_at(path)
}

/// The folders above that the command could rename, with what is in them, and put another in their place.
fn pins<'a>(protected: impl Iterator<Item = &'a PathBuf>) -> Vec<PathBuf> {
    let above = protected.flat_map(|path| path.ancestors().skip(1));
    let mut pins: Vec<PathBuf> = above.filter(|folder| can_be_renamed(folder)).map(Path::to_owned).collect();
    pins.sort();
    pins.dedup();
    pins
}

/// Whether the command could give another path this name.
fn can_be_renamed(path: &Path) -> bool {
    path.parent().is_some_and(|parent| access(parent, Access::WRITE_OK).is_ok())
}

/// The links on the way to a path, each without links before it, that the command could replace.
fn links_to(path: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut way = PathBuf::from("/");
    let mut rest: Vec<OsString> = path.components().rev().map(|part| part.as_os_str().to_owned()).collect();
    while let Some(part) = rest.pop() {
        match Path::new(&part).components().next() {
            Some(Component::RootDir) => way = PathBuf::from("/"),
            Some(Component::ParentDir) => drop(way.pop()),
            Some(Component::Normal(name)) => way.push(name),
            _ => {}
        }
        let Ok(leads) = way.read_link() else { continue };
        if found.len() == MAX_LINKS {
            break;
        }
        rest.extend(leads.components().rev().map(|part| part.as_os_str().to_owned()));
        found.push(way.clone());
        way.pop();
    }
    found.retain(|link| can_be_renamed(link));
    found
}
