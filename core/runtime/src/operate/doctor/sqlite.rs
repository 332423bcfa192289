//! A reader of SQLite files, as <https://www.sqlite.org/fileformat2.html> describes them: some columns of all rows of one
//! table, with what its write-ahead log holds. It locks and writes nothing. What it cannot read is `None`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

/// How many pages are read of one table at most: a file that is damaged may lead in circles.
const PAGES: usize = 50_000;
/// How long a row may be.
const ROW: usize = 16 << 20;
/// How deep a tree of pages may be.
const DEPTH: usize = 20;
/// The bytes before the first page's own.
const HEADER: usize = 100;
/// The bytes before a write-ahead log's frames, and before each frame's page.
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// A value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value {
    Integer(i64),
    Text(String),
    /// Nothing, a fraction or bytes.
    Other,
}

/// The columns of each row of a table, in the order in which they are asked for.
pub(super) fn rows(path: &Path, table: &str, columns: &[&str]) -> Option<Vec<Vec<Value>>> {
    let mut database = Database::open(path)?;
    let schema = database.table(1)?;
    let (root, sql) = schema.iter().find_map(|row| match row.as_slice() {
        [Value::Text(kind), Value::Text(name), _, Value::Integer(root), Value::Text(sql)]
            if kind == "table" && name == table =>
        {
            Some((*root, sql))
        }
        _ => None,
    })?;
    let names = columns_of(sql)?;
    let places = columns.iter().map(|column| names.iter().position(|name| name == column));
    let places = places.collect::<Option<Vec<_>>>()?;
    let all = database.table(u32::try_from(root).ok()?)?;
    let pick = |row: Vec<Value>| places.iter().map(|place| row.get(*place).cloned().unwrap_or(Value::Other)).collect();
    Some(all.into_iter().map(pick).collect())
}

/// The names in a `CREATE TABLE`, in their order.
fn columns_of(sql: &str) -> Option<Vec<String>> {
    let (inner, _) = sql.split_once('(')?.1.rsplit_once(')')?;
    let (mut depth, mut parts) = (0_i32, vec![String::new()]);
    for letter in inner.chars() {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        if letter == ',' && depth == 0 {
            parts.push(String::new());
        } else {
            parts.last_mut()?.push(letter);
        }
    }
    let name = |part: &String| {
        let word = part.split_whitespace().next().unwrap_or_default();
        word.trim_matches(['`', '"', '[', ']']).to_owned()
    };
    Some(parts.iter().map(name).collect())
}

/// A file and its write-ahead log.
struct Database {
    file: File,
    log: Option<Log>,
    page: usize,
    /// The bytes of a page that are used.
    usable: usize,
    read: usize,
}

/// A write-ahead log: where in it the newest form of a page stands.
struct Log {
    file: File,
    pages: BTreeMap<u32, u64>,
}

impl Database {
    fn open(path: &Path) -> Option<Self> {
        let mut file = File::open(path).ok()?;
        let start = bytes(&mut file, 0, HEADER)?;
        let page = match number(&start, 16, 2)? {
            1 => 65_536,
            size => usize::try_from(size).ok()?,
        };
        let utf8 = number(&start, 56, 4)? <= 1;
        if !start.starts_with(b"SQLite format 3\0") || !page.is_power_of_two() || page < 512 || !utf8 {
            return None;
        }
        let usable = page.checked_sub(usize::from(*start.get(20)?))?;
        let mut beside = OsString::from(path);
        beside.push("-wal");
        let log = File::open(beside).ok().and_then(|file| Log::read(file, page));
        Some(Self { file, log, page, usable, read: 0 })
    }

    fn page(&mut self, number: u32) -> Option<Vec<u8>> {
        self.read += 1;
        if self.read > PAGES {
            return None;
        }
        if let Some(log) = &mut self.log
            && let Some(at) = log.pages.get(&number)
        {
            return bytes(&mut log.file, *at, self.page);
        }
        let at = u64::from(number.checked_sub(1)?).checked_mul(u64::try_from(self.page).ok()?)?;
        bytes(&mut self.file, at, self.page)
    }

    /// The rows of the table whose tree begins at this page.
    fn table(&mut self, root: u32) -> Option<Vec<Vec<Value>>> {
        let (mut rows, mut open) = (Vec::new(), vec![(root, 0)]);
        while let Some((number, depth)) = open.pop() {
            let page = self.page(number)?;
            let start = if number == 1 { HEADER } else { 0 };
            let (inner, cells) = match page.get(start)? {
                0x05 => (true, start + 12),
                0x0d => (false, start + 8),
                _ => return None,
            };
            let count = usize::try_from(self::number(&page, start + 3, 2)?).ok()?;
            for cell in 0..count {
                let at = usize::try_from(self::number(&page, cells + 2 * cell, 2)?).ok()?;
                if inner {
                    open.push((u32::try_from(self::number(&page, at, 4)?).ok()?, depth + 1));
                } else {
                    rows.push(self.row(&page, at)?);
                }
            }
            if inner {
                open.push((u32::try_from(self::number(&page, start + 8, 4)?).ok()?, depth + 1));
            }
            if depth > DEPTH {
                return None;
            }
        }
        Some(rows)
    }

    /// The row whose cell stands there in a page.
    fn row(&mut self, page: &[u8], mut at: usize) -> Option<Vec<Value>> {
        let length = usize::try_from(varint(page, &mut at)?).ok().filter(|length| *length <= ROW)?;
        varint(page, &mut at)?;
        let most = self.usable.checked_sub(35)?;
        let here = if length <= most {
            length
        } else {
            let least = (self.usable - 12) * 32 / 255 - 23;
            let fitting = least + (length - least) % (self.usable - 4);
            if fitting <= most { fitting } else { least }
        };
        let mut payload = page.get(at..at + here)?.to_vec();
        let mut next = if here < length { number(page, at + here, 4)? } else { 0 };
        while payload.len() < length {
            let more = self.page(u32::try_from(next).ok()?)?;
            next = number(&more, 0, 4)?;
            let take = (length - payload.len()).min(self.usable - 4);
            payload.extend(more.get(4..4 + take)?);
        }
        values(&payload)
    }
}

impl Log {
    /// Where the pages of the last whole change stand. Frames that were left over from an earlier round have other salts.
    fn read(mut file: File, page: usize) -> Option<Self> {
        let start = bytes(&mut file, 0, LOG_HEADER)?;
        if number(&start, 0, 4)? | 1 != 0x377f_0683 || usize::try_from(number(&start, 8, 4)?).ok()? != page {
            return None;
        }
        let (mut pages, mut open) = (BTreeMap::new(), BTreeMap::new());
        let mut at = u64::try_from(LOG_HEADER).ok()?;
        let whole = u64::try_from(FRAME_HEADER + page).ok()?;
        let length = file.metadata().ok()?.len();
        while at + whole <= length {
            let frame = bytes(&mut file, at, FRAME_HEADER)?;
            if frame.get(8..16) != start.get(16..24) {
                break;
            }
            open.insert(u32::try_from(number(&frame, 0, 4)?).ok()?, at + u64::try_from(FRAME_HEADER).ok()?);
            if number(&frame, 4, 4)? != 0 {
                pages.append(&mut open);
            }
            at += whole;
        }
        Some(Self { file, pages })
    }
}

/// The values of a record.
fn values(record: &[u8]) -> Option<Vec<Value>> {
    let mut head = 0;
    let end = usize::try_from(varint(record, &mut head)?).ok()?;
    let (mut at, mut values) = (end, Vec::new());
    while head < end {
        let kind = varint(record, &mut head)?;
        let length = match kind {
            0 | 8 | 9 => 0,
            1..=4 => usize::try_from(kind).ok()?,
            5 => 6,
            6 | 7 => 8,
            _ => usize::try_from(kind.checked_sub(12)? / 2).ok()?,
        };
        let own = record.get(at..at.checked_add(length)?)?;
        at += length;
        values.push(match kind {
            1..=6 => {
                let negative = own.first().is_some_and(|first| first & 0x80 != 0);
                let start = if negative { -1_i64 } else { 0 };
                Value::Integer(own.iter().fold(start, |sum, byte| sum << 8 | i64::from(*byte)))
            }
            8 | 9 => Value::Integer(i64::from(kind == 9)),
            _ if kind >= 13 && kind % 2 == 1 => Value::Text(String::from_utf8_lossy(own).into_owned()),
            _ => Value::Other,
        });
    }
    Some(values)
}

/// A number of one to nine bytes, of which each says whether another follows.
fn varint(bytes: &[u8], at: &mut usize) -> Option<u64> {
    let mut sum = 0_u64;
    for place in 0..9 {
        let byte = u64::from(*bytes.get(*at)?);
        *at += 1;
        if place == 8 {
            return Some(sum << 8 | byte);
        }
        sum = sum << 7 | byte & 0x7f;
        if byte & 0x80 == 0 {
            break;
        }
    }
    Some(sum)
}

/// The number of so many bytes, the highest first.
fn number(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    Some(bytes.get(at..at.checked_add(length)?)?.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
}

fn bytes(file: &mut File, at: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = vec![0; length];
    file.seek(SeekFrom::Start(at)).ok()?;
    file.read_exact(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [&str; 3] = ["directory", "time_created", "time_updated"];

    fn data(name: &str) -> Vec<u8> {
        std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sqlite").join(name)).unwrap()
    }

    /// The rows of the table `session` of `log.db`, with this much of its write-ahead log.
    fn sessions(log: usize) -> Option<Vec<Vec<Value>>> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.db");
        std::fs::write(&path, data("log.db")).unwrap();
        std::fs::write(folder.path().join("log.db-wal"), &data("log.db-wal")[..log]).unwrap();
        rows(&path, "session", &COLUMNS)
    }

    #[test]
    fn rows_are_read_through_trees_long_rows_and_the_log() {
        let rows = sessions(data("log.db-wal").len()).unwrap();
        assert_eq!(rows.len(), 40);
        let created = rows.iter().map(|row| match row[1] {
            Value::Integer(number) => number,
            _ => panic!("{row:?}"),
        });
        assert_eq!(created.sum::<i64>(), 14_363_307_823_914);
        let row = |folder: &str| rows.iter().find(|row| row[0] == Value::Text(folder.into())).cloned();
        let of =
            |folder: &str, created, updated| Some(vec![Value::Text(folder.into()), Value::Integer(created), updated]);
        assert_eq!(row("/folder/0"), of("/folder/0", 1_795_412_429_264, Value::Other));
        assert_eq!(row("/folder/1"), of("/folder/1", -19, Value::Other));
        assert_eq!(row("/folder/3"), None);
        assert_eq!(row("/folder/4"), of("/folder/4", 1_048_576, Value::Integer(7)));
        assert_eq!(row("/folder/new"), of("/folder/new", 5, Value::Integer(6)));
    }

    #[test]
    fn a_change_that_is_not_whole_is_not_read() {
        let log = data("log.db-wal").len();
        let rows = sessions(log - 1).unwrap();
        let fourth = rows.iter().find(|row| row[0] == Value::Text("/folder/4".into())).unwrap();
        assert_eq!(fourth[2], Value::Other);
        // The column came with the log.
        assert_eq!(sessions(0), None);
    }

    #[test]
    fn a_damaged_file_gives_nothing_or_rows_and_never_a_panic() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.db");
        let whole = data("log.db");
        for at in (0..120).chain((120..whole.len()).step_by(61)) {
            for byte in [0x00, 0xff, whole[at] ^ 0x01] {
                let mut bytes = whole.clone();
                bytes[at] = byte;
                std::fs::write(&path, &bytes).unwrap();
                let _rows = rows(&path, "session", &COLUMNS[..2]);
            }
        }
        std::fs::write(&path, &whole[..1000]).unwrap();
        assert_eq!(rows(&path, "session", &COLUMNS[..2]), None);
    }
}
