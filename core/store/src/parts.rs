//! The sealed parts of a journal: files beside it that hold its records up to the first of its own.
//!
//! The file of a journal does not grow without end. Once it is long, all of it is kept as a part, and the file begins
//! anew with a snapshot. Chain and numbers go on. A snapshot says how many parts come before its file. If a crash left
//! a part and not the file that begins anew, the file still holds the same records, or none.

use std::io;
use std::path::{Path, PathBuf};

use phasegate_formats::line::Beginning;

use crate::chain::{self, PREFIX_BYTES};
use crate::digest::{Digest, from_hex};
use crate::error::{StoreError, StoreErrorKind};
use crate::store::{Medium, Store};

/// The sealed part of a journal with this number, from 1.
pub fn part(journal: &Path, number: u64) -> PathBuf {
    let mut path = journal.as_os_str().to_owned();
    path.push(format!(".{number}"));
    path.into()
}

/// The sealed parts of a journal that are there, in order.
pub fn parts(store: &dyn Store, journal: &Path) -> Vec<PathBuf> {
    (1..).map(|number| part(journal, number)).take_while(|path| store.exists(path)).collect()
}

/// How the file of a journal begins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Start {
    /// How many sealed parts come before it.
    pub(crate) parts: u64,
    /// How many records they have.
    pub(crate) records: u64,
    /// The chain hash of the last of these; zeros without any.
    pub(crate) head: Digest,
}

impl Start {
    /// Reads how a file begins; `None` if it has no complete first line.
    pub(crate) fn of(medium: &mut dyn Medium) -> io::Result<Option<Self>> {
        let length = medium.length();
        let line = chain::first_line(medium, length)?;
        Ok(line.map(|line| {
            let json = line.get(PREFIX_BYTES..).unwrap_or_default();
            let beginning: Beginning<'_> = serde_json::from_slice(json).unwrap_or_default();
            let head = beginning.prev.and_then(|digits| from_hex(digits.as_bytes())).unwrap_or_default();
            match beginning.part {
                0 => Self::default(),
                parts => Self { parts, records: beginning.seq.saturating_sub(1), head },
            }
        }))
    }
}

/// Opens the sealed parts that come before the file of a journal.
///
/// # Errors
///
/// `state-missing`: one is gone. Else as for [`Store::view`].
pub(crate) fn open(store: &dyn Store, journal: &Path, count: u64) -> Result<Vec<Box<dyn Medium>>, StoreError> {
    let open = |path: PathBuf| {
        store.view(&path)?.ok_or_else(|| {
            let message = format!("`{}`, a part of a journal, is gone", path.display());
            StoreError::new(StoreErrorKind::Missing, &path, message)
        })
    };
    (1..=count).map(|number| open(part(journal, number))).collect()
}
