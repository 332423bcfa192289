//! The projects that the frames of one process belong to, each with its guard that stays. Journals of one are locked at a
//! time.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

use phasegate_adapter::{Problem, Refusal};
use phasegate_core::Code;

use crate::batch::{BatchProcessor, Input, PendingSync, Request};
use crate::session_cache::SessionCache;
use phasegate_runtime::deadline::broken;
use phasegate_runtime::runtime::Runtime;

/// The guards of the projects that frames came from, by their roots.
#[derive(Debug)]
pub(crate) struct ProjectRouter {
    runtime: Arc<Runtime>,
    caches: BTreeMap<PathBuf, SessionCache>,
    /// The one that may have journals locked.
    open: Option<PathBuf>,
}

impl ProjectRouter {
    /// No frame came yet.
    pub(crate) fn new(runtime: Arc<Runtime>) -> Self {
        let (caches, open) = Default::default();
        Self { runtime, caches, open }
    }

    /// The root of the project that is asked about. Its guard is there, and no other has journals locked.
    fn enter(&mut self, input: &Input) -> Result<PathBuf, Refusal> {
        let Input::Frame(framed) = input else {
            return Err(Refusal::closed(Problem::new(Code::Internal, "an event says no project")));
        };
        let project = framed.locate(&self.runtime)?;
        if self.open.as_ref() != Some(&project.root) {
            self.finish();
            self.open = Some(project.root.clone());
        }
        if !self.caches.contains_key(&project.root) {
            let cache = SessionCache::new(Arc::clone(&self.runtime), project.clone()).lazy();
            self.caches.insert(project.root.clone(), cache);
        }
        Ok(project.root.clone())
    }

    fn opened(&self) -> Option<&SessionCache> {
        self.caches.get(self.open.as_ref()?)
    }
}

impl BatchProcessor for ProjectRouter {
    fn take(&mut self, request: Request, wait: bool) -> Result<(), Box<Request>> {
        let found = catch_unwind(AssertUnwindSafe(|| self.enter(&request.input)));
        let found = found.unwrap_or_else(|panic| Err(Refusal::closed(broken(panic.as_ref()))));
        match found.map(|root| self.caches.get_mut(&root)) {
            Ok(Some(cache)) => return cache.take(request, wait),
            Ok(None) => {}
            Err(refusal) => request.answer.send(Err(refusal)),
        }
        Ok(())
    }

    fn must_sync(&self) -> bool {
        self.opened().is_some_and(SessionCache::must_sync)
    }

    fn finish(&mut self) {
        if let Some(cache) = self.open.take().and_then(|root| self.caches.get_mut(&root)) {
            cache.finish(None);
        }
    }

    fn forget(&mut self) {
        self.open = None;
        self.caches.values_mut().for_each(SessionCache::forget);
    }

    fn to_sync(&mut self) -> Vec<PendingSync> {
        self.caches.values_mut().flat_map(|cache| std::mem::take(&mut cache.to_sync)).collect()
    }

    fn synced(&mut self, done: PendingSync) {
        if let Some(cache) = self.caches.values_mut().find(|cache| cache.has(&done)) {
            cache.synced(done);
        }
    }
}
