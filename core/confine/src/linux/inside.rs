//! The process inside: it lays the mounts, gives up its rights, starts the command and waits for it.

use std::env::ArgsOs;
use std::fs::{self, DirBuilder};
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use nix::sched::{CloneFlags, unshare};
use rustix::mount::MountPropagationFlags;
use rustix::process::{DumpableBehavior, Signal, set_dumpable_behavior, set_parent_process_death_signal};

use super::handshake::Teller;
use super::layers::{Layer, split};
use super::limits::{capabilities, descriptors, loopback, ruleset, seccomp};
use super::signals::{Senders, Signals};
use super::{cache_variables, sockets, work};
use crate::error::{Error, Result, Step as _};
use crate::level::Level;
use crate::linux::limits::mounts::{self, Opened};
use crate::request::{Fake, Request};

/// Folders that the command gets empty, each with the name of its own in the work folder.
pub(super) const PRIVATE: [Private; 1] = [Private { path: "/tmp", name: "tmp" }];
/// Folders that the command gets empty, in memory: the folder and its rights.
const IN_MEMORY: [Private; 3] = [
    Private { path: "/var/tmp", name: "1777" },
    Private { path: "/dev/shm", name: "1777" },
    Private { path: "/run", name: "755" },
];
/// What stays in sight of `/run` where the command has the network.
const RESOLVER: &str = "/run/systemd/resolve";

/// A folder of which the command sees one of its own.
pub(super) struct Private {
    /// Where it is.
    pub(super) path: &'static str,
    /// The name of its stand-in in the work folder, or its rights.
    pub(super) name: &'static str,
}

impl Private {
    /// Whether there is such a folder, and not a link to another.
    pub(super) fn exists(&self) -> bool {
        fs::symlink_metadata(self.path).is_ok_and(|metadata| metadata.is_dir())
    }
}

/// Does what the arguments say, until the command has ended.
pub(super) fn run(mut args: ArgsOs) -> ExitCode {
    let (Some(number), Some(work), Some(sockets)) = (args.next(), args.next(), args.next()) else {
        return ExitCode::FAILURE;
    };
    let (work, sockets) = (PathBuf::from(work), sockets.to_string_lossy());
    let Some(request) = Request::from_args(args) else { return ExitCode::FAILURE };
    let Ok(mut teller) = Teller::open(&number) else { return ExitCode::FAILURE };
    descriptors::close_others(Some(teller.descriptor()));
    // Whoever kills the process outside ends this one, and with it all that it started.
    let dies = set_parent_process_death_signal(Some(Signal::KILL));
    if dies.is_err() || !work::is_held(&work) {
        return ExitCode::FAILURE;
    }
    let begun = match request.level {
        Level::Landlock => become_command(&request, &work, &mut teller),
        _ => start(&request, &work, &sockets, &mut teller),
    };
    match begun {
        Ok(status) => ExitCode::from(status),
        Err(error) => {
            teller.failed(&error);
            ExitCode::from(125)
        }
    }
}

/// Restricts this process and becomes the command.
fn become_command(request: &Request, work: &Path, teller: &mut Teller) -> Result<u8> {
    let temporary = work::folder_in(work, "tmp", 0o700)?;
    let caches = work::folder_in(work, "caches", 0o700)?;
    let mut writable = [temporary.clone(), caches.clone()].to_vec();
    writable.extend(request.writable.iter().cloned());
    for file in &request.returned {
        // It can be written only if it is there when the rules are made.
        let _ = fs::OpenOptions::new().create(true).append(true).open(file);
        writable.push(file.clone());
    }
    ruleset::restrict(request, &writable)?;
    rustix::thread::set_no_new_privs(true).step("give up new privileges")?;
    seccomp::install(request)?;
    let Some(mut command) = command(request) else {
        teller.begun();
        return Ok(0);
    };
    cache_variables::set(&mut command, &caches);
    command.env("TMPDIR", &temporary);
    teller.begun();
    Signals::release();
    Err(not_started(request, command.exec()))
}

/// Lays the mounts, starts the command, and is the first process of its namespace until it ends.
fn start(request: &Request, work: &Path, sockets: &str, teller: &mut Teller) -> Result<u8> {
    let folder = std::env::current_dir().step("find the current folder")?;
    let writable = lay(request, work, sockets)?;
    std::env::set_current_dir(&folder).step(format!("enter {}", folder.display()))?;
    if !request.network {
        loopback::up()?;
    }
    capabilities::give_up(capabilities::READ_ONLY)?;
    ruleset::restrict(request, &writable)?;
    seccomp::install(request)?;
    // The command must not reach what this process has open.
    set_dumpable_behavior(DumpableBehavior::NotDumpable).step("hide this process")?;
    let Some(mut command) = command(request) else {
        teller.begun();
        return Ok(0);
    };
    if request.level == Level::Binds {
        cache_variables::set(&mut command, "/tmp/.phasegate-caches".as_ref());
    }
    temporary_folder(&mut command);
    let signals = Signals::hold()?;
    let child = Signals::start(&command).map_err(|error| not_started(request, error))?;
    teller.begun();
    Ok(signals.wait(child, Senders::Outside))
}

fn command(request: &Request) -> Option<Command> {
    let (program, args) = request.command.split_first()?;
    let mut command = Command::new(program);
    command.args(args);
    Some(command)
}

fn not_started(request: &Request, cause: std::io::Error) -> Error {
    let program = request.command.first().map(|program| program.display().to_string()).unwrap_or_default();
    Error::Start { program, cause }
}

/// Makes the command's temporary folder, or gives it another where that one cannot be written.
fn temporary_folder(command: &mut Command) {
    let Some(folder) = std::env::var_os("TMPDIR").map(PathBuf::from) else { return };
    let _ = fs::create_dir_all(&folder);
    if rustix::fs::access(&folder, rustix::fs::Access::WRITE_OK).is_err() {
        command.env("TMPDIR", "/tmp");
    }
}

/// Lays every mount. Gives the folders that can be written.
fn lay(request: &Request, work: &Path, sockets: &str) -> Result<Vec<PathBuf>> {
    unshare(CloneFlags::CLONE_NEWNS).step("enter a mount namespace")?;
    mounts::detach(MountPropagationFlags::PRIVATE)?;
    let layers = layers(request, work)?;
    let stays = opened(&request.writable)?;
    let shown = visible(request);
    let seen = opened(&shown)?;
    let caches = bound_caches(request)?;
    let mut hidden = hide(request, work)?;
    layers.iter().try_for_each(|layer| at(&layer.path).and_then(|()| layer.lay()))?;
    stays.iter().chain(&seen).try_for_each(|folder| at(&folder.path).and_then(|()| folder.bind_at(&folder.path)))?;
    let mut private: Vec<PathBuf> = layers.iter().map(|layer| layer.path.clone()).chain(hidden.clone()).collect();
    for cache in &caches {
        cache.layer.bind_at(&cache.path)?;
        private.push(cache.path.clone());
    }
    let below = |path: &Path, folders: &[PathBuf]| folders.iter().any(|folder| path.starts_with(folder));
    let copied = |path: &Path| below(path, &private) && !below(path, &shown) || below(path, &request.writable);
    sockets::cover(sockets, &copied)?;
    private.extend(system(request)?);
    hidden.extend(layers.into_iter().map(|layer| layer.path));
    let spared = |path: &Path| {
        private.iter().any(|folder| path == folder) || request.writable.iter().any(|folder| path.starts_with(folder))
    };
    mounts::make_read_only(&spared, &|path| below(path, &hidden) && !below(path, &shown))?;
    private.extend(request.writable.iter().cloned());
    Ok(private)
}

fn opened(folders: &[PathBuf]) -> Result<Vec<Opened>> {
    folders.iter().map(|folder| Opened::open(folder)).collect()
}

fn visible(request: &Request) -> Vec<PathBuf> {
    let resolver = request.network.then(|| PathBuf::from(RESOLVER));
    // Without an overlay, a home or a project in a hidden folder is still to be seen.
    let whole = request.overlaid.iter().filter(|_| request.level == Level::Binds);
    let whole = whole.filter(|folder| PRIVATE.iter().chain(&IN_MEMORY).any(|private| folder.starts_with(private.path)));
    request.visible.iter().chain(whole).cloned().chain(resolver).filter(|folder| folder.is_dir()).collect()
}

/// The overlays in the order in which they are laid: folders, then caches in them.
fn layers(request: &Request, work: &Path) -> Result<Vec<Layer>> {
    if request.level != Level::Overlay {
        return Ok(Vec::new());
    }
    let folders = split(request, &mounts::table()?)?;
    let thrown_away = folders.iter().enumerate().map(|(at, folder)| Layer::thrown_away(folder, at, work));
    thrown_away.chain(request.caches.iter().map(Layer::cache)).collect()
}

/// A cache without an overlay: the session's own folder instead of the real one.
struct BoundCache {
    path: PathBuf,
    layer: Opened,
}

fn bound_caches(request: &Request) -> Result<Vec<BoundCache>> {
    let caches = request.caches.iter().filter(|cache| request.level == Level::Binds && cache.path.is_dir());
    let bound = caches.map(|cache| {
        let layer = Opened::open(&work::folder_in(&cache.layer, "bound", 0o755)?)?;
        Ok(BoundCache { path: cache.path.clone(), layer })
    });
    bound.collect()
}

/// Makes the folder that something is mounted at, where it lies in a private one.
fn at(folder: &Path) -> Result<()> {
    if folder.exists() { Ok(()) } else { fs::create_dir_all(folder).step(format!("make {}", folder.display())) }
}

/// Puts empty folders over those in which programs leave sockets and files for others. At the level of overlays files in the
/// temporary folder are seen: through a layer no socket leads out.
fn hide(request: &Request, work: &Path) -> Result<Vec<PathBuf>> {
    let mut hidden = Vec::new();
    let mut stand_ins = Vec::new();
    for private in PRIVATE.iter().filter(|private| private.exists()) {
        let folder = work::folder_in(work, private.name, 0o1777)?;
        stand_ins.push(Opened::open(&folder)?);
        hidden.push(PathBuf::from(private.path));
    }
    for (target, source) in hidden.iter().zip(&stand_ins) {
        if request.level != Level::Overlay || seen_through(target, work).is_err() {
            source.bind_at(target)?;
        }
    }
    for private in IN_MEMORY.iter().filter(|private| private.exists()) {
        let links = links_in(Path::new(private.path));
        mounts::file_system("tmpfs", private.path.as_ref(), &format!("mode={}", private.name))?;
        links.iter().for_each(|link| drop(symlink(&link.to, &link.from)));
        hidden.push(PathBuf::from(private.path));
    }
    if let Some(runtime) = std::env::var_os("XDG_RUNTIME_DIR").filter(|folder| Path::new(folder).starts_with("/run")) {
        let _ = DirBuilder::new().recursive(true).mode(0o700).create(runtime);
    }
    Ok(hidden)
}

/// Lays a layer over a private folder, of which nothing is told. That fails where something is mounted in it.
fn seen_through(folder: &Path, work: &Path) -> Result<()> {
    let private =
        PRIVATE.iter().find(|private| folder == Path::new(private.path)).map_or("tmp", |private| private.name);
    let scratch = work::folder_in(work, &format!("{private}-scratch"), 0o700)?;
    Layer::over(folder, &work.join(private), &scratch)?.lay()
}

struct Link {
    from: PathBuf,
    to: PathBuf,
}

/// Some systems have their programs behind a link in `/run`.
fn links_in(folder: &Path) -> Vec<Link> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let link = |from: PathBuf| Some(Link { to: fs::read_link(&from).ok()?, from });
    entries.flatten().filter_map(|entry| link(entry.path())).collect()
}

/// The list of processes and the terminals of this namespace. Gives those that can be written.
///
/// Where the list cannot be mounted, as in many containers, an ordinary user sees the processes outside, and still cannot
/// reach them: they belong to another user namespace. Root could change the kernel's settings by it, so root gets it read-only.
fn system(request: &Request) -> Result<Vec<PathBuf>> {
    let (processes, terminals) = (PathBuf::from("/proc"), PathBuf::from("/dev/pts"));
    let root = rustix::process::geteuid().is_root();
    let listed = match request.lacks(Fake::NoProc) {
        true => Err(Error::refused("mount the list of processes", "a test says that it cannot be")),
        false => mounts::file_system("proc", &processes, ""),
    };
    if root {
        listed.as_ref().map_err(|error| Error::refused("mount the list of processes", error))?;
    }
    if terminals.is_dir() {
        mounts::file_system("devpts", &terminals, "newinstance,ptmxmode=0666,mode=620")?;
        if fs::symlink_metadata("/dev/ptmx").is_ok_and(|metadata| !metadata.is_symlink()) {
            mounts::bind_file("/dev/pts/ptmx", "/dev/ptmx".as_ref())?;
        }
    }
    let own = (listed.is_ok() && !root).then_some(processes);
    Ok(own.into_iter().chain([terminals]).collect())
}
