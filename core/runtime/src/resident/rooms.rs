//! The projects that the frames of one process belong to, each with its guard that stays. Journals of one are locked at a
//! time.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use phasegate_adapter::Problem;
use phasegate_core::Code;

use super::desk::Keeper;
use super::{Asked, Job, Resident, Sync};
use crate::deadline::broken;
use crate::runtime::Runtime;

/// The guards of the projects that frames came from, by their roots.
#[derive(Debug)]
pub(crate) struct Rooms {
    runtime: Arc<Runtime>,
    rooms: BTreeMap<PathBuf, Resident>,
    /// The one that may have journals locked.
    open: Option<PathBuf>,
}

impl Rooms {
    /// No frame came yet.
    pub(crate) fn new(runtime: Arc<Runtime>) -> Self {
        let (rooms, open) = Default::default();
        Self { runtime, rooms, open }
    }

    /// The root of the project that is asked about. Its guard is there, and no other has journals locked.
    fn enter(&mut self, asked: &Asked) -> Result<PathBuf, Problem> {
        let Asked::Frame(framed) = asked else {
            return Err(Problem::new(Code::Internal, "an event says no project"));
        };
        let project = framed.locate(&self.runtime)?;
        if self.open.as_ref() != Some(&project.root) {
            self.finish();
            self.open = Some(project.root.clone());
        }
        if !self.rooms.contains_key(&project.root) {
            let resident = Resident::new(Arc::clone(&self.runtime), project.clone()).lazy();
            self.rooms.insert(project.root.clone(), resident);
        }
        Ok(project.root.clone())
    }

    fn opened(&self) -> Option<&Resident> {
        self.rooms.get(self.open.as_ref()?)
    }
}

impl Keeper for Rooms {
    fn take(&mut self, job: Job, wait: bool) -> Result<(), Box<Job>> {
        let found = catch_unwind(AssertUnwindSafe(|| self.enter(&job.asked)));
        let found = found.unwrap_or_else(|panic| Err(broken(panic.as_ref())));
        match found.map(|root| self.rooms.get_mut(&root)) {
            Ok(Some(room)) => return room.take(job, wait),
            Ok(None) => {}
            Err(problem) => job.answer.0.give(Err(problem)),
        }
        Ok(())
    }

    fn must_sync(&self) -> bool {
        self.opened().is_some_and(Resident::must_sync)
    }

    fn finish(&mut self) {
        if let Some(room) = self.open.take().and_then(|root| self.rooms.get_mut(&root)) {
            room.finish(None);
        }
    }

    fn forget(&mut self) {
        self.open = None;
        self.rooms.values_mut().for_each(Resident::forget);
    }

    fn to_sync(&mut self) -> Vec<Sync> {
        self.rooms.values_mut().flat_map(|room| std::mem::take(&mut room.to_sync)).collect()
    }

    fn synced(&mut self, done: Sync) {
        if let Some(room) = self.rooms.values_mut().find(|room| room.has(&done)) {
            room.synced(done);
        }
    }
}
