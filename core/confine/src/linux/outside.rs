//! The process outside: it enters the namespaces, starts the process inside, and says what is gone when that has ended.

use std::ffi::OsStr;
use std::fs::File;
use std::path::PathBuf;

use nix::sched::CloneFlags;
use rustix::process::{Signal, set_parent_process_death_signal};

use super::changes::Search;
use super::handshake::Hearer;
use super::limits::{capabilities, mounts, namespaces};
use super::signals::{Senders, Signals};
use super::stages::{INSIDE, this_program};
use super::terminal::Foreground;
use super::work::{self, Work};
use super::{layers, orphans, returned, sockets};
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
    let sockets = sockets::list();
    let network = if request.network { CloneFlags::empty() } else { CloneFlags::CLONE_NEWNET };
    namespaces::enter(request, CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC | network)?;
    capabilities::pass_on()?;
    let status = start_and_wait(request, &work, &sockets);
    foreground.restore();
    let status = status?;
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
    let status = start_and_wait(request, &work, "");
    orphans::end();
    foreground.restore();
    Ok(Report::ended(request.level, status?))
}

fn begin(request: &Request) -> Result<Work> {
    if request.with_parent {
        set_parent_process_death_signal(Some(Signal::KILL)).step("end with the parent")?;
    }
    Work::claim(&request.work)
}

/// Starts the process inside. Gives the command's exit status, or what kept it from beginning.
fn start_and_wait(request: &Request, work: &Work, sockets: &str) -> Result<u8> {
    let signals = Signals::hold()?;
    let hearer = Hearer::open()?;
    let mut inside = this_program(INSIDE);
    inside.arg(hearer.number()).arg::<&OsStr>(work.folder().as_ref()).arg(sockets).args(request.to_args());
    let child = inside.spawn().step("start the process inside")?;
    let status = signals.wait(child.id(), Senders::All);
    hearer.outcome().map(|()| status)
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
