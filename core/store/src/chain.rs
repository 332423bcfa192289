//! The hash chain of a journal.
//!
//! A line is 64 hexadecimal digits, a space and a JSON object. The digits are the SHA-256 digest of two parts: the 32
//! bytes that the digits of the line before stand for (zeros for the first line), and the JSON.

use std::io::{self, BufRead, BufReader, Read};

use crate::digest::{Digest, from_hex, hex, is_hex_of, sha256};
use crate::store::Medium;

/// The length of the digits and the space before the JSON of a line.
pub(crate) const PREFIX_BYTES: usize = 65;
/// How many bytes of a whole journal are read at a time.
const CHUNK_BYTES: u64 = 64 * 1024;

/// A line that continues the chain, and its chain hash.
pub(crate) fn line(before: &Digest, json: &[u8]) -> (Vec<u8>, Digest) {
    let head = sha256(&[before, json]);
    let mut bytes = hex(&head).into_bytes();
    bytes.push(b' ');
    bytes.extend_from_slice(json);
    bytes.push(b'\n');
    (bytes, head)
}

/// The JSON of a line, if the line continues the chain; `head` is then its chain hash.
pub(crate) fn link<'a>(head: &mut Digest, line: &'a [u8]) -> Option<&'a [u8]> {
    let (written, json) = line.split_at_checked(PREFIX_BYTES)?;
    let digits = written.strip_suffix(b" ")?;
    let hash = sha256(&[head.as_slice(), json]);
    is_hex_of(&hash, digits).then(|| {
        *head = hash;
        json
    })
}

/// The digest that a line begins with; nothing is checked.
pub(crate) fn written_hash(line: &[u8]) -> Option<Digest> {
    from_hex(line.get(..PREFIX_BYTES - 1)?)
}

/// What the whole chain of a journal comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walked {
    /// Every record continues it: how many there are, and the hash of the last.
    Whole { count: u64, head: Digest },
    /// The record with this number does not.
    Broken { record: u64 },
}

/// The first line up to the offset `end`, without its end; `None` if it is not complete.
pub(crate) fn first_line(medium: &mut dyn Medium, end: u64) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    reader(medium, end).read_until(b'\n', &mut line)?;
    Ok((line.pop() == Some(b'\n')).then_some(line))
}

/// Checks the whole chain up to the offset `end`, which goes on from a number of records with this chain hash. What the
/// records say is not read.
pub(crate) fn walk(medium: &mut dyn Medium, end: u64, records: u64, before: Digest) -> io::Result<Walked> {
    let mut lines = reader(medium, end);
    let (mut head, mut count, mut line) = (before, records, Vec::new());
    loop {
        line.clear();
        if lines.read_until(b'\n', &mut line)? == 0 {
            return Ok(Walked::Whole { count, head });
        }
        let is_complete = line.pop() == Some(b'\n');
        if !is_complete || link(&mut head, &line).is_none() {
            return Ok(Walked::Broken { record: count + 1 });
        }
        count += 1;
    }
}

/// A reader from the first byte of a journal to the offset `end`.
pub(crate) fn reader<M: AsMedium>(medium: M, end: u64) -> BufReader<MediumReader<M>> {
    let capacity = usize::try_from(CHUNK_BYTES).unwrap_or(usize::MAX);
    BufReader::with_capacity(capacity, MediumReader { medium, at: 0, end })
}

/// Access to a medium, borrowed or owned.
pub(crate) trait AsMedium {
    /// The medium.
    fn medium(&mut self) -> &mut dyn Medium;
}

impl AsMedium for &mut dyn Medium {
    fn medium(&mut self) -> &mut dyn Medium {
        *self
    }
}

impl AsMedium for Box<dyn Medium> {
    fn medium(&mut self) -> &mut dyn Medium {
        self.as_mut()
    }
}

/// Reads a medium from its first byte on.
#[derive(Debug)]
pub(crate) struct MediumReader<M> {
    medium: M,
    at: u64,
    end: u64,
}

impl<M: AsMedium> Read for MediumReader<M> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let to = self.end.min(self.at.saturating_add(buffer.len() as u64));
        let bytes = self.medium.medium().read(self.at, to)?;
        let Some(target) = buffer.get_mut(..bytes.len()) else {
            return Err(io::Error::other("the medium gave more bytes than were asked for"));
        };
        target.copy_from_slice(&bytes);
        self.at += bytes.len() as u64;
        Ok(bytes.len())
    }
}
