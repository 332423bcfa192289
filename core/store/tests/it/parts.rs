//! A journal that is sealed in parts: nothing is lost, whatever a crash leaves, and a part that is gone is missed.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use phasegate_core::Durability;
use phasegate_core::answers::code::{Code, Coded as _};
use phasegate_formats::journal::Entry;
use phasegate_store::deadline::Deadline;
use phasegate_store::error::StoreError;
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::{Journal, read_last};
use phasegate_store::memory_store::MemoryStore;
use phasegate_store::parts::{part, parts};
use phasegate_store::scan::{Scan, last_event};
use phasegate_store::state::JournalState;
use phasegate_store::store::{Medium, Store};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// The numbers of the records so far, added up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Sum {
    sum: u64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    Plus(u64),
}

impl JournalState for Sum {
    type Change = Change;

    fn apply(&mut self, Change::Plus(number): &Change) {
        self.sum += number;
    }
}

/// A store that seals a file early.
#[derive(Debug)]
struct Early<S>(S);

impl<S: Store> Store for Early<S> {
    fn lock(&self, path: &Path, deadline: &Deadline) -> Result<Box<dyn Medium>, StoreError> {
        self.0.lock(path, deadline)
    }

    fn view(&self, path: &Path) -> Result<Option<Box<dyn Medium>>, StoreError> {
        self.0.view(path)
    }

    fn part_bytes(&self) -> u64 {
        6000
    }

    fn exists(&self, path: &Path) -> bool {
        self.0.exists(path)
    }

    fn read(&self, path: &Path) -> Result<Option<Vec<u8>>, StoreError> {
        self.0.read(path)
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
        self.0.replace(path, bytes)
    }

    fn remove(&self, path: &Path) -> Result<(), StoreError> {
        self.0.remove(path)
    }
}

const STORE: Early<FileStore> = Early(FileStore);

fn open(store: &dyn Store, path: &Path) -> Result<(Journal, Sum), Code> {
    Journal::open(store, path, &Deadline::new(Duration::from_secs(5))).map_err(|error| error.code())
}

fn entry(number: u64) -> Entry<Change> {
    let event = json!({"event": "stop", "session": "s", "number": number});
    Entry { time: 7, engine: "0".to_string(), event, changes: vec![Change::Plus(number)], ..Entry::default() }
}

fn write(store: &dyn Store, path: &Path, numbers: std::ops::RangeInclusive<u64>) {
    for number in numbers {
        let (mut journal, mut sum) = open(store, path).unwrap();
        assert_eq!((journal.seq(), sum.sum), (number - 1, number * (number - 1) / 2));
        sum.apply(&Change::Plus(number));
        journal.append(&entry(number), &sum, Durability::Written).unwrap();
    }
}

/// What a reader of the whole journal and one of its end find; both must agree.
fn found(store: &dyn Store, path: &Path) -> Result<u64, Code> {
    let mut scan = Scan::<Sum>::open(store, path).map_err(|error| error.code())?;
    let mut count = 0;
    for record in scan.by_ref() {
        let record = record.map_err(|error| error.code())?;
        count += 1;
        assert_eq!((record.seq, record.entry), (count, entry(count)));
    }
    let last = read_last::<Sum>(store, path).map_err(|error| error.code())?.unwrap();
    assert_eq!((last.seq, &last.state, last.head), (count, scan.state(), scan.head()));
    Ok(count)
}

struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

/// A journal of 100 records.
fn written() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("session.journal");
    write(&STORE, &path, 1..=100);
    Place { _folder: folder, path }
}

#[test]
fn the_records_of_all_parts_come_back_in_order() {
    let Place { path, _folder } = written();
    let sealed = parts(&STORE, &path);
    assert!(sealed.len() >= 2, "{}", sealed.len());
    let long = sealed.iter().chain([&path]).map(|path| fs::metadata(path).unwrap().len()).max().unwrap();
    assert!(long < 7000, "{long}");
    assert_eq!(found(&STORE, &path), Ok(100));
    let recent = last_event(&STORE, &path, 1 << 20, |event| event["number"] == 95);
    assert!(recent.unwrap().is_some());
    let memory = Early(MemoryStore::over(std::sync::Arc::new(FileStore)));
    write(&memory, &path, 101..=200);
    assert_eq!((found(&memory, &path), found(&STORE, &path)), (Ok(200), Ok(100)));
}

/// Writes records after this one until the next seals the file. Returns the number of the last.
fn fill(path: &Path, mut last: u64) -> u64 {
    while fs::metadata(path).unwrap().len() < STORE.part_bytes() {
        last += 1;
        write(&STORE, path, last..=last);
    }
    last
}

#[test]
fn a_crash_while_a_part_is_sealed_loses_nothing() {
    let Place { path, _folder } = written();
    let (last, sealed) = (fill(&path, 100), parts(&STORE, &path).len());
    // The part was kept and the file was not cut.
    fs::copy(&path, part(&path, sealed as u64 + 1)).unwrap();
    assert_eq!(found(&STORE, &path), Ok(last));
    write(&STORE, &path, last + 1..=last + 1);
    assert_eq!((found(&STORE, &path), parts(&STORE, &path).len()), (Ok(last + 1), sealed + 1));
    // The file was cut, and its new beginning is not there, or torn.
    let last = fill(&path, last + 1);
    fs::copy(&path, part(&path, sealed as u64 + 2)).unwrap();
    for rest in [&b""[..], b"00112233 {\"v\":2,", &[0; 300]] {
        fs::write(&path, rest).unwrap();
        assert_eq!(found(&STORE, &path), Ok(last));
    }
    write(&STORE, &path, last + 1..=last + 40);
    assert_eq!(found(&STORE, &path), Ok(last + 40));
}

#[test]
fn a_part_that_is_gone_or_changed_is_missed() {
    let Place { path, _folder } = written();
    let count = parts(&STORE, &path).len() as u64;
    let last = part(&path, count);
    let bytes = fs::read(&last).unwrap();
    let touch =
        || fs::File::options().append(true).open(&path).unwrap().set_modified(std::time::SystemTime::now()).unwrap();
    fs::remove_file(&last).unwrap();
    touch();
    assert_eq!(found(&STORE, &path), Err(Code::StateMissing));
    assert_eq!(
        open(&STORE, &path).unwrap_err(),
        Code::StateMissing,
        "its file was touched, so its beginning is checked"
    );
    let mut cut = bytes.clone();
    cut.truncate(bytes[..bytes.len() - 1].iter().rposition(|byte| *byte == b'\n').unwrap() + 1);
    fs::write(&last, &cut).unwrap();
    assert_eq!(found(&STORE, &path), Err(Code::StateUnreadable));
    assert_eq!(open(&STORE, &path).unwrap_err(), Code::StateUnreadable);
    let mut changed = bytes.clone();
    changed[200] ^= 1;
    fs::write(&last, &changed).unwrap();
    assert_eq!(found(&STORE, &path), Err(Code::StateUnreadable));
    fs::write(&last, &bytes).unwrap();
    assert_eq!(found(&STORE, &path), Ok(100));
    assert_eq!(open(&STORE, &path).unwrap().1.sum, 5050);
}
