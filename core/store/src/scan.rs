//! Reads a whole journal, from its first record on, and checks every link of its chain.

use std::io::{self, BufRead as _, BufReader};
use std::path::{Path, PathBuf};

use phasegate_formats::context::Context;
use phasegate_formats::journal::{JOURNAL_VERSION, LineVersion, Record};
use phasegate_formats::line;
use serde_json::Value;

use crate::chain::{self, MediumReader, PREFIX_BYTES};
use crate::digest::{Digest, hex};
use crate::error::{StoreError, StoreErrorKind};
use crate::parts::{self, Start};
use crate::state::JournalState;
use crate::store::{Medium, Store};

/// A journal that is read from its first record on, without its lock. It gives every record up to the first that does
/// not fit, then an error (`state-unreadable` or `state-version`) that names that record, and nothing more.
#[derive(Debug)]
pub struct Scan<S> {
    /// The sealed parts that are still to be read, then the file, the last first.
    media: Vec<Box<dyn Medium>>,
    reader: BufReader<MediumReader<Box<dyn Medium>>>,
    path: PathBuf,
    head: Digest,
    seq: u64,
    context: Context,
    state: S,
    read: u64,
    torn: u64,
    over: bool,
}

impl<S: JournalState> Scan<S> {
    /// Begins at the first record.
    ///
    /// # Errors
    ///
    /// `state-missing`: there is no such journal, or a sealed part of it is gone. Else as for [`Store::view`].
    pub fn open(store: &dyn Store, path: &Path) -> Result<Self, StoreError> {
        let mut medium = store.view(path)?.ok_or_else(|| {
            let message = format!("`{}` cannot be opened: there is no such file", path.display());
            StoreError::new(StoreErrorKind::Missing, path, message)
        })?;
        let start = Start::of(medium.as_mut());
        let start =
            start.map_err(|error| StoreError::from_io(StoreErrorKind::Unreadable, path, "cannot be read", &error))?;
        let count = start.map_or_else(|| parts::parts(store, path).len() as u64, |start| start.parts);
        let mut media = parts::open(store, path, count)?;
        media.push(medium);
        media.reverse();
        let first = media.pop().ok_or_else(|| StoreError::new(StoreErrorKind::Missing, path, String::new()))?;
        let length = first.length();
        Ok(Self {
            media,
            reader: chain::reader(first, length),
            path: path.to_path_buf(),
            head: [0; 32],
            seq: 0,
            context: Context::default(),
            state: S::default(),
            read: 0,
            torn: 0,
            over: false,
        })
    }

    /// The state after the last record that was given; the default before the first.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// The chain hash of the last record that was given, as 64 hexadecimal digits; zeros before the first.
    pub fn head(&self) -> String {
        hex(&self.head)
    }

    /// How many bytes were read.
    pub fn read(&self) -> u64 {
        self.read
    }

    /// How many bytes of a torn record end the journal, once it was read to its end.
    pub fn torn(&self) -> u64 {
        self.torn
    }

    /// Reads a line of the part that is read now, or of the next. Returns its length.
    fn read_line(&mut self, line: &mut Vec<u8>) -> io::Result<u64> {
        loop {
            let length = self.reader.read_until(b'\n', line)? as u64;
            self.read += length;
            let is_over = length == 0 || line.last() != Some(&b'\n');
            if !is_over {
                return Ok(length);
            }
            match self.media.pop() {
                Some(next) if length == 0 => {
                    let end = next.length();
                    self.reader = chain::reader(next, end);
                }
                Some(_) => return Err(io::Error::other("a sealed part of it ends with a torn record")),
                None => return Ok(length),
            }
        }
    }

    fn record(&mut self, text: &[u8]) -> Result<Record<S::Change>, StoreError> {
        let seq = self.seq + 1;
        let path = self.path.clone();
        let broken = |what: &str| {
            let message = format!("record {seq} of `{}` {what}", path.display());
            StoreError::new(StoreErrorKind::Unreadable, &path, message)
        };
        let json = chain::link(&mut self.head, text).ok_or_else(|| broken("was changed, or one before it"))?;
        let version = LineVersion::of(json).ok_or_else(|| broken("is no record"))?;
        if version.v != JOURNAL_VERSION {
            let what = format!("record {seq} of `{}`", path.display());
            return Err(StoreError::other_version(&path, &what, version.v));
        }
        let unknown = |error: serde_json::Error| broken(&format!("is not in a known form: {error}"));
        let (record, snapshot) = line::read(json, &mut self.context).map_err(unknown)?;
        self.follow(&record, snapshot).map_err(|what| broken(&what))?;
        if record.seq != seq {
            return Err(broken("has another number"));
        }
        self.seq = seq;
        Ok(record)
    }

    /// Makes the changes of a record. Its snapshot must be the state that they lead to.
    fn follow(&mut self, record: &Record<S::Change>, snapshot: Option<Value>) -> Result<(), String> {
        if snapshot.is_none() && self.seq == 0 {
            return Err("does not say which state it left".to_string());
        }
        record.entry.changes.iter().for_each(|change| self.state.apply(change));
        let Some(snapshot) = snapshot else { return Ok(()) };
        let read = |error: serde_json::Error| format!("has a state in no known form: {error}");
        let written: S = serde_json::from_value(snapshot).map_err(read)?;
        let led_to = serde_json::to_value(&self.state).map_err(read)?;
        if self.seq > 0 && serde_json::to_value(&written).map_err(read)? != led_to {
            return Err("holds a state that its changes do not lead to".to_string());
        }
        self.state = written;
        Ok(())
    }
}

impl<S: JournalState> Iterator for Scan<S> {
    type Item = Result<Record<S::Change>, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let mut line = Vec::new();
        let length = match self.read_line(&mut line) {
            Ok(length) => length,
            Err(error) => {
                self.over = true;
                let message = format!("`{}` cannot be read: {error}", self.path.display());
                return Some(Err(StoreError::new(StoreErrorKind::Unreadable, &self.path, message)));
            }
        };
        if line.pop() != Some(b'\n') {
            self.over = true;
            self.torn = length;
            return None;
        }
        let record = self.record(&line);
        self.over = record.is_err();
        Some(record)
    }
}

/// The event of the last record that fits, among those that begin in the last `window` bytes. It is read without the
/// lock, and without what the record leaves out because the one before says it.
///
/// # Errors
///
/// The journal cannot be opened or read.
pub fn last_event(
    store: &dyn Store,
    path: &Path,
    window: u64,
    fits: impl Fn(&Value) -> bool,
) -> Result<Option<Value>, StoreError> {
    #[derive(serde::Deserialize)]
    struct Event {
        #[serde(default)]
        event: Value,
    }
    let Some(medium) = store.view(path)? else { return Ok(None) };
    let failed = |error| StoreError::from_io(StoreErrorKind::Unreadable, path, "cannot be read", &error);
    let mut bytes = Vec::new();
    // A file that has just begun anew goes on from the sealed part before it.
    let missing = window.saturating_sub(medium.length());
    let part = Some(missing).filter(|missing| *missing > 0).and_then(|_| parts::parts(store, path).pop());
    let part = part.map(|part| store.view(&part)).transpose()?.flatten();
    for (mut medium, window) in part.map(|part| (part, missing)).into_iter().chain([(medium, window)]) {
        let end = medium.length();
        bytes.extend(medium.read(end.saturating_sub(window), end).map_err(failed)?);
    }
    let mut events = bytes.rsplit(|byte| *byte == b'\n').filter_map(|line| {
        let record: Event = serde_json::from_slice(line.get(PREFIX_BYTES..)?).ok()?;
        Some(record.event)
    });
    Ok(events.find(fits))
}
