//! The process outside: it enters the namespaces, starts the process inside, and says what is gone when that has ended.

use std::ffi::OsStr;
use std::fs::File;
use std::path::PathBuf;
use std::process::Child;

use nix::sched::CloneFlags;
use rustix::process::{Signal, set_parent_process_death_signal};

use super::changes::Search;
use super::signals::{Senders, Signals};
use super::terminal::Foreground;
use super::work::{self, Work};
use super::{INSIDE, capabilities, handshake, layers, mounts, namespaces, orphans, returned, sockets, this_program};
use crate::error::{Result, Step as _};
use crate::level::Level;
use crate::report::Report;
use crate::request::Request;

/// Runs a command at [`Level::Overlay`] or [`Level::Binds`].
pub(super) fn run_in_namespaces(request: &Request) -> Result<Report> {
    let foreground = Foreground::remember();
    let work = begin(request)?;
    let caches = Caches::take(request)?;
    let request = &caches.request;
    let overlaid: Vec<PathBuf> = match request.level {
        Level::Overlay => layers::split(request, &mounts::table()?)?,
        _ => Vec::new(),
    };
    sockets::list(work.folder())?;
    let network = if request.network { CloneFlags::empty() } else { CloneFlags::CLONE_NEWNET };
    namespaces::enter(request, CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC | network)?;
    capabilities::pass_on()?;
    let signals = Signals::hold()?;
    let status = signals.wait(start(request, &work, &signals)?.id(), Senders::All);
    foreground.restore();
    handshake::outcome(work.folder())?;
    let mut report = Report::ended(request.level, status);
    let mut search = Search::default();
    for (at, folder) in overlaid.iter().enumerate() {
        search.layer(&layers::upper(work.folder(), at), folder);
    }
    search.finish(&mut report);
    returned::copy(&request.returned, work.folder(), &overlaid);
    Ok(report)
}

/// Runs a command at [`Level::Landlock`].
pub(super) fn run_restricted(request: &Request) -> Result<Report> {
    let foreground = Foreground::remember();
    let work = begin(request)?;
    orphans::adopt()?;
    let signals = Signals::hold()?;
    let status = signals.wait(start(request, &work, &signals)?.id(), Senders::All);
    orphans::end();
    foreground.restore();
    handshake::outcome(work.folder())?;
    Ok(Report::ended(request.level, status))
}

fn begin(request: &Request) -> Result<Work> {
    if request.with_parent {
        set_parent_process_death_signal(Some(Signal::KILL)).step("end with the parent")?;
    }
    Work::claim(&request.work)
}

fn start(request: &Request, work: &Work, signals: &Signals) -> Result<Child> {
    let mut inside = this_program(INSIDE);
    inside.arg::<&OsStr>(work.folder().as_ref()).args(request.to_args());
    signals.start(&mut inside).step("start the process inside")
}

/// The caches that this command has for itself. Another command of the session may have the others; they are cold then.
struct Caches {
    request: Request,
    _locks: Vec<File>,
}

impl Caches {
    fn take(request: &Request) -> Result<Self> {
        let mut request = request.clone();
        let mut locks = Vec::new();
        let mut taken = Vec::new();
        for cache in request.caches.drain(..) {
            if let Some(lock) = work::take_layer(&cache.layer)? {
                locks.push(lock);
                taken.push(cache);
            }
        }
        request.caches = taken;
        Ok(Self { request, _locks: locks })
    }
}
