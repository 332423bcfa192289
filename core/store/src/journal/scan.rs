//! Reading a whole journal, from its first record on, checking every link of its chain.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _, Seek as _};
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::tail::PREFIX;
use crate::digest::{Digest, from_hex, hex, sha256};
use crate::error::{StoreError, StoreErrorKind};
use phasegate_formats::entry::FORMAT;
use phasegate_formats::merge_patch as patch;

/// One record, as it was written.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    /// Its number, from 1.
    pub seq: u64,
    /// Its chain hash, as 64 hexadecimal digits.
    pub head: String,
    /// The record itself; the state after it is asked of the [`Scan`].
    pub body: Map<String, Value>,
}

/// A journal under way, read without its lock. Gives every record up to the first that does not fit; then a problem
/// (`state-unreadable` or `state-version`) that names it, and nothing more.
#[derive(Debug)]
pub struct Scan {
    reader: BufReader<File>,
    path: PathBuf,
    head: Digest,
    seq: u64,
    state: Value,
    read: u64,
    torn: u64,
    over: bool,
}

impl Scan {
    /// Begins at the first record.
    ///
    /// # Errors
    ///
    /// `state-missing`: there is no such file. `state-unreadable`: it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, StoreError> {
        let file = File::open(path).map_err(|error| {
            let missing = error.kind() == std::io::ErrorKind::NotFound;
            let kind = if missing { StoreErrorKind::Missing } else { StoreErrorKind::Unreadable };
            StoreError::new(kind, path, format!("`{}` cannot be opened: {error}", path.display()))
        })?;
        Ok(Self {
            reader: BufReader::new(file),
            path: path.to_path_buf(),
            head: [0; 32],
            seq: 0,
            state: Value::Null,
            read: 0,
            torn: 0,
            over: false,
        })
    }

    /// The state after the record given last; null before the first.
    #[must_use]
    pub fn state(&self) -> &Value {
        &self.state
    }

    /// How many bytes were read.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.read
    }

    /// How many bytes of a torn record end the file, once it is read to its end.
    #[must_use]
    pub fn torn(&self) -> u64 {
        self.torn
    }

    fn record(&mut self, line: &[u8]) -> Result<Record, StoreError> {
        let seq = self.seq + 1;
        let broken = |what: &str| {
            StoreError::new(
                StoreErrorKind::Unreadable,
                &self.path,
                format!("record {seq} of `{}` {what}", self.path.display()),
            )
        };
        let json = link(&mut self.head, line).ok_or_else(|| broken("was changed, or one before it"))?;
        let body: Map<String, Value> = serde_json::from_slice(json).map_err(|_| broken("is no record"))?;
        let number = |name: &str| body.get(name).and_then(Value::as_u64);
        let format = number("v").unwrap_or_default();
        if format > u64::from(FORMAT) {
            let message = format!("record {seq} of `{}` has format {format}, newer than {FORMAT}", self.path.display());
            return Err(StoreError::new(StoreErrorKind::NewerVersion, &self.path, message));
        }
        if number("seq") != Some(seq) {
            return Err(broken("has another number"));
        }
        match (body.get("state"), body.get("patch")) {
            (Some(state), None) => self.state.clone_from(state),
            (None, Some(change)) if seq > 1 => patch::apply(&mut self.state, change.clone()),
            _ => return Err(broken("does not say which state it left")),
        }
        self.seq = seq;
        Ok(Record { seq, head: hex(&self.head), body })
    }
}

impl Iterator for Scan {
    type Item = Result<Record, StoreError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.over {
            return None;
        }
        let mut line = Vec::new();
        let length = match self.reader.read_until(b'\n', &mut line) {
            Ok(length) => length as u64,
            Err(error) => {
                self.over = true;
                let message = format!("`{}` cannot be read: {error}", self.path.display());
                return Some(Err(StoreError::new(StoreErrorKind::Unreadable, &self.path, message)));
            }
        };
        self.read += length;
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

/// The JSON of a line whose digits fit the chain so far; the chain goes on with it.
pub(super) fn link<'a>(head: &mut Digest, line: &'a [u8]) -> Option<&'a [u8]> {
    let (written, json) = line.split_at_checked(PREFIX)?;
    let digits = written.strip_suffix(b" ")?;
    let hash = sha256(&[head.as_slice(), json]);
    (from_hex(digits) == Some(hash)).then(|| {
        *head = hash;
        json
    })
}

/// Walks the whole chain up to `end` without looking at what the records say. The number of records and the hash of
/// the last, or the number of the first record that does not fit.
pub(crate) fn chain(file: &mut File, end: u64) -> std::io::Result<Result<(u64, Digest), u64>> {
    file.rewind()?;
    let mut reader = BufReader::with_capacity(64 * 1024, file.take(end));
    let (mut head, mut count, mut line) = ([0; 32], 0, Vec::new());
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line)? == 0 {
            return Ok(Ok((count, head)));
        }
        let whole = line.pop() == Some(b'\n');
        if !whole || link(&mut head, &line).is_none() {
            return Ok(Err(count + 1));
        }
        count += 1;
    }
}
