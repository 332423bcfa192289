//! Journals in memory, alone or in front of another store that is only read.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::deadline::Deadline;
use crate::digest::Digest;
use crate::disk::mark::Mark;
use crate::error::{StoreError, StoreErrorKind};
use crate::store::{Medium, Store};

/// Journals and small files in memory. With a base, a path that was not written is read from there, without a lock;
/// the base is never changed.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    base: Option<Arc<dyn Store>>,
    files: Arc<Mutex<Files>>,
}

#[derive(Debug, Default)]
struct Files {
    /// The content of each file that was written; `None`: it was removed.
    small: BTreeMap<PathBuf, Option<Vec<u8>>>,
    /// What was appended to each journal, after how many bytes of the base.
    journals: BTreeMap<PathBuf, Appended>,
    locked: BTreeSet<PathBuf>,
}

#[derive(Debug, Default)]
struct Appended {
    base_length: u64,
    bytes: Vec<u8>,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// A store that reads what `base` holds and keeps every change in memory.
    pub fn over(base: Arc<dyn Store>) -> Self {
        Self { base: Some(base), files: Arc::default() }
    }

    fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self, path: &Path) -> Result<Option<OpenMemory>, StoreError> {
        let removed = self.files().small.get(path).is_some_and(Option::is_none);
        let base = match &self.base {
            Some(base) if !removed => base.view(path)?,
            Some(_) | None => None,
        };
        if base.is_none() && !self.files().journals.contains_key(path) {
            return Ok(None);
        }
        Ok(Some(self.opened(path, base)))
    }

    fn opened(&self, path: &Path, base: Option<Box<dyn Medium>>) -> OpenMemory {
        let base_length = base.as_ref().map(|base| base.length()).unwrap_or_default();
        let path = path.to_path_buf();
        let appended = Appended { base_length, bytes: Vec::new() };
        self.files().journals.entry(path.clone()).or_insert(appended);
        OpenMemory { base, path, files: Arc::clone(&self.files), is_locked: false }
    }
}

impl Store for MemoryStore {
    fn lock(&self, path: &Path, deadline: &Deadline) -> Result<Box<dyn Medium>, StoreError> {
        while !self.files().locked.insert(path.to_path_buf()) {
            if deadline.half_gone() {
                let message = format!("`{}` stayed locked", path.display());
                return Err(StoreError::new(StoreErrorKind::Busy, path, message));
            }
            std::thread::yield_now();
        }
        let opened = self.open(path).inspect_err(|_| {
            self.files().locked.remove(path);
        })?;
        let mut medium = opened.unwrap_or_else(|| self.opened(path, None));
        medium.is_locked = true;
        Ok(Box::new(medium))
    }

    fn view(&self, path: &Path) -> Result<Option<Box<dyn Medium>>, StoreError> {
        Ok(self.open(path)?.map(|opened| Box::new(opened) as Box<dyn Medium>))
    }

    fn exists(&self, path: &Path) -> bool {
        let files = self.files();
        match (files.small.get(path), files.journals.contains_key(path)) {
            (_, true) => true,
            (Some(content), false) => content.is_some(),
            (None, false) => self.base.as_ref().is_some_and(|base| base.exists(path)),
        }
    }

    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
        let known = self.files().small.get(path).cloned();
        match (known, &self.base) {
            (Some(content), _) => Ok(content),
            (None, Some(base)) => base.read(path),
            (None, None) => Ok(None),
        }
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        self.files().small.insert(path.to_path_buf(), Some(bytes.to_vec()));
        Ok(())
    }

    fn remove(&self, path: &Path) -> Result<(), StoreError> {
        let mut files = self.files();
        files.journals.remove(path);
        files.small.insert(path.to_path_buf(), None);
        Ok(())
    }
}

/// A journal in memory.
#[derive(Debug)]
struct OpenMemory {
    base: Option<Box<dyn Medium>>,
    path: PathBuf,
    files: Arc<Mutex<Files>>,
    is_locked: bool,
}

impl OpenMemory {
    fn with<T>(&self, work: impl FnOnce(&mut Appended) -> T) -> T {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        work(files.journals.entry(self.path.clone()).or_default())
    }
}

impl Drop for OpenMemory {
    fn drop(&mut self) {
        if self.is_locked {
            self.files.lock().unwrap_or_else(PoisonError::into_inner).locked.remove(&self.path);
        }
    }
}

impl Medium for OpenMemory {
    fn length(&self) -> u64 {
        self.with(|appended| appended.base_length + appended.bytes.len() as u64)
    }

    fn read(&mut self, from: u64, to: u64) -> io::Result<Vec<u8>> {
        let border = self.with(|appended| appended.base_length);
        let mut bytes = match &mut self.base {
            Some(base) if from < border => base.read(from, to.min(border))?,
            Some(_) | None => Vec::new(),
        };
        let place = |at: u64| usize::try_from(at.saturating_sub(border)).unwrap_or(usize::MAX);
        self.with(|appended| {
            let end = place(to).min(appended.bytes.len());
            bytes.extend_from_slice(appended.bytes.get(place(from)..end).unwrap_or_default());
        });
        Ok(bytes)
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.with(|appended| appended.bytes.extend_from_slice(bytes));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn sync_name(&mut self) {}

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.with(|appended| {
            let kept = length.saturating_sub(appended.base_length);
            appended.bytes.truncate(usize::try_from(kept).unwrap_or(usize::MAX));
            appended.base_length = appended.base_length.min(length);
        });
        Ok(())
    }

    fn seal(&mut self, part: &Path) -> io::Result<()> {
        let bytes = self.read(0, self.length())?;
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        files.journals.insert(part.to_path_buf(), Appended { base_length: 0, bytes });
        drop(files);
        self.cut(0)
    }

    fn fits(&self, _head: &Digest) -> bool {
        true
    }

    fn set_fingerprint(&mut self, _head: &Digest) -> io::Result<()> {
        Ok(())
    }

    fn mark(&self) -> Option<Mark> {
        Some(Mark::of_length(self.length()))
    }

    fn check_lock(&self) -> Result<(), StoreError> {
        Ok(())
    }
}
