//! Hooks of a short session: a project in block mode, `test-first` live.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::reference::Counts;
use super::{callgrind, order, trace};
use crate::counts::session::{Frame, Session};
use xtask::failure::{Failure, Result};
use xtask::root::{read, root, target};

/// Plays the session once for each program that counts: what a hook finds must not hang on how it was counted before.
pub(super) fn count(counts: &mut Counts) -> Result {
    let guard = target().join("debug/phasegate");
    let place = Place::new()?;
    let profiler = place.session("callgrind", &guard)?;
    let tracer = place.session("strace", &guard)?;
    let written = place.0.join("counted");
    let mut functions = BTreeSet::new();
    for (profiled, traced) in profiler.frames.iter().zip(&tracer.frames) {
        let Some(name) = &profiled.name else {
            profiled.feed(profiler.hook(&[]))?;
            traced.feed(tracer.hook(&[]))?;
            continue;
        };
        let out = format!("--callgrind-out-file={}", written.display());
        let words = ["valgrind", "--tool=callgrind", &out];
        let profile = callgrind::read(&counted(&profiler, profiled, &words, &written)?);
        let words = ["strace", "-f", "-o", &written.to_string_lossy()];
        let trace = trace::read(&counted(&tracer, traced, &words, &written)?);
        functions.extend(profile.functions.iter().cloned());
        let of = counts.of(&format!("a hook: {name}"));
        of.profile(profile);
        of.trace(trace);
    }
    let order = order::functions(&read(&root().join("cli/hook.ld"))?);
    let listed = functions.intersection(&order).count();
    let share = listed * 1000 / functions.len().max(1);
    counts
        .of("the order of a hook's functions")
        .least("functions that it has, of a thousand", share.try_into().unwrap_or(0));
    Ok(())
}

/// Gives a frame to the hook under another program. Returns what that wrote.
fn counted(session: &Session, frame: &Frame, words: &[&str], written: &Path) -> Result<String> {
    frame.feed(session.hook(words))?;
    read(written)
}

/// A folder whose path is as long on every machine: journals hold it.
pub(super) struct Place(PathBuf);

impl Place {
    pub(super) fn new() -> Result<Self> {
        let folder = Path::new("/tmp").join(format!("phasegate-counts-{:07}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).map_err(|error| Failure::file(&folder, error))?;
        Ok(Self(folder))
    }

    /// The session in a folder of its own. The names are padded to the same length.
    pub(super) fn session(&self, name: &str, guard: &Path) -> Result<Session> {
        Session::stage("counted.json", guard, &self.0.join(format!("{name:_<10}")))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
