//! The journal of changes: what is written comes back, and damage is noticed.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use phasegate_core::Code;
use phasegate_core::answers::code::Coded as _;
use phasegate_core::{Decision, Durability};
use phasegate_formats::journal::Entry;
use phasegate_store::deadline::Deadline;
use phasegate_store::digest::{hex, sha256};
use phasegate_store::file_store::FileStore;
use phasegate_store::journal::{Finding, Journal, read_last};
use phasegate_store::memory_store::MemoryStore;
use phasegate_store::scan::Scan;
use phasegate_store::state::JournalState;
use phasegate_store::store::Store;
use serde::{Deserialize, Serialize};
use serde_json::json;

const LIMIT: Duration = Duration::from_secs(5);

/// A state as a test needs it: names with numbers, and a text of any length.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Counters {
    #[serde(default)]
    counts: BTreeMap<String, u64>,
    #[serde(default)]
    rest: String,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Change {
    Set(String, u64),
    Removed(String),
    Rest(String),
}

impl JournalState for Counters {
    type Change = Change;

    fn apply(&mut self, change: &Change) {
        match change {
            Change::Set(name, number) => {
                self.counts.insert(name.clone(), *number);
            }
            Change::Removed(name) => {
                self.counts.remove(name);
            }
            Change::Rest(text) => self.rest.clone_from(text),
        }
    }
}

struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/session.journal");
    Place { _folder: folder, path }
}

fn open_in(store: &dyn Store, path: &Path) -> (Journal, Counters) {
    Journal::open(store, path, &Deadline::new(LIMIT)).unwrap()
}

fn open(path: &Path) -> (Journal, Counters) {
    open_in(&FileStore, path)
}

fn last(path: &Path) -> Result<Option<(u64, Counters)>, Code> {
    let last = read_last::<Counters>(&FileStore, path).map_err(|error| error.code())?;
    Ok(last.map(|last| (last.seq, last.state)))
}

/// The changes of a record.
fn changes(number: u64) -> Vec<Change> {
    let mut changes = vec![Change::Set(format!("n{}", number % 7), number)];
    if number.is_multiple_of(5) {
        changes.push(Change::Removed(format!("n{}", number % 3)));
    }
    if number == 0 {
        changes.push(Change::Rest("x".repeat(3000)));
    }
    changes
}

/// None, the same or another decision than the one before.
fn decision(number: u64) -> Option<Decision> {
    let decision = json!({"effect": "allow", "tool": "Read", "skill": format!("s{}", number / 6)});
    (!number.is_multiple_of(4)).then(|| serde_json::from_value(decision).unwrap())
}

fn entry(number: u64) -> Entry<Change> {
    let event = json!({"event": "stop", "session": "s", "cwd": "/p", "time": number, "number": number});
    Entry {
        time: i64::try_from(number).unwrap(),
        engine: "0".to_string(),
        policy: format!("p{}", number / 10),
        event,
        changes: changes(number),
        decision: decision(number),
        project_seq: (number % 9 > 3).then_some(number / 20),
        ..Entry::default()
    }
}

fn append(journal: &mut Journal, state: &mut Counters, entry: &Entry<Change>) {
    entry.changes.iter().for_each(|change| state.apply(change));
    journal.append(entry, state, Durability::Written).unwrap();
}

fn write(path: &Path, numbers: std::ops::Range<u64>) {
    let (mut journal, mut state) = open(path);
    numbers.for_each(|number| append(&mut journal, &mut state, &entry(number)));
}

fn state(count: u64) -> Counters {
    let mut state = Counters::default();
    (0..count).flat_map(changes).for_each(|change| state.apply(&change));
    state
}

#[test]
fn the_state_after_any_number_of_records_comes_back() {
    let place = place();
    for number in 0..200 {
        write(&place.path, number..number + 1);
        assert_eq!(last(&place.path), Ok(Some((number + 1, state(number + 1)))));
        let found = read_last::<Counters>(&FileStore, &place.path).unwrap().unwrap();
        assert_eq!((found.policy, found.head), (format!("p{}", number / 10), open(&place.path).0.head()));
    }
    let mut scan = Scan::<Counters>::open(&FileStore, &place.path).unwrap();
    for number in 0..200 {
        let record = scan.next().unwrap().unwrap();
        assert_eq!(record.seq, number + 1);
        assert_eq!(record.entry, entry(number), "what a record shares with the one before comes back");
        assert_eq!(*scan.state(), state(number + 1));
    }
    assert!(scan.next().is_none());
    let text = fs::read_to_string(&place.path).unwrap();
    let snapshots = text.lines().filter(|line| line.contains("\"state\":")).count();
    assert!((4..10).contains(&snapshots), "{snapshots} snapshots in 200 records");
}

#[test]
fn changes_as_long_as_the_state_are_followed_by_a_snapshot() {
    let place = place();
    let (mut journal, mut state) = open(&place.path);
    for number in 0..60 {
        let changes = vec![Change::Rest(format!("{number}").repeat(8000))];
        append(&mut journal, &mut state, &Entry { changes, ..Entry::default() });
    }
    let text = fs::read_to_string(&place.path).unwrap();
    let snapshots: Vec<_> = text.lines().map(|line| line.contains("\"state\":")).collect();
    assert!(snapshots.windows(5).all(|five| five.contains(&true)), "{snapshots:?}");
    assert!(snapshots.windows(2).all(|two| two.contains(&false)), "{snapshots:?}");
    drop(journal);
    assert_eq!(open(&place.path).1, state);
}

#[test]
fn a_torn_last_record_is_cut_off_and_mentioned() {
    let place = place();
    write(&place.path, 0..3);
    let mut file = fs::OpenOptions::new().append(true).open(&place.path).unwrap();
    file.write_all(b"0123 {\"v\":2,").unwrap();
    assert_eq!(last(&place.path).unwrap().unwrap().0, 3, "readers ignore it");
    write(&place.path, 3..4);
    let text = fs::read_to_string(&place.path).unwrap();
    assert!(text.lines().last().unwrap().contains("\"cut\":12"), "{text}");
    assert_eq!(last(&place.path).unwrap().unwrap().0, 4);
}

#[test]
fn a_changed_byte_in_the_tail_is_noticed_wherever_it_is() {
    let place = place();
    write(&place.path, 0..20);
    let good = fs::read(&place.path).unwrap();
    for at in (PREFIX..good.len() - 1).step_by(3) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&place.path, &bad).unwrap();
        let code = last(&place.path).unwrap_err();
        let is_version = good[..at].ends_with(b"\"v\":");
        assert!(code == Code::StateUnreadable || (is_version && code == Code::StateVersion), "byte {at}: {code}");
    }
}

/// The length of the hash and the space before a record's JSON. The hash of a snapshot line is checked by the record.
const PREFIX: usize = 65;

#[test]
fn a_record_taken_out_is_noticed() {
    let place = place();
    write(&place.path, 0..5);
    let text = fs::read_to_string(&place.path).unwrap();
    let fewer: Vec<_> = text.lines().enumerate().filter(|(at, _)| *at != 2).map(|(_, line)| line).collect();
    fs::write(&place.path, fewer.join("\n") + "\n").unwrap();
    assert_eq!(last(&place.path), Err(Code::StateUnreadable));
}

#[test]
fn another_format_is_refused_by_its_number() {
    for format in [2, 4] {
        let place = place();
        write(&place.path, 0..1);
        let text = fs::read_to_string(&place.path).unwrap();
        let json = text.get(PREFIX..).unwrap().trim_end().replace("\"v\":3", &format!("\"v\":{format}"));
        let other = format!("{} {json}\n", hex(&sha256(&[&[0; 32], json.as_bytes()])));
        fs::write(&place.path, other).unwrap();
        assert_eq!(last(&place.path), Err(Code::StateVersion));
        let opened = Journal::open::<Counters>(&FileStore, &place.path, &Deadline::new(LIMIT)).unwrap_err();
        assert_eq!(opened.code(), Code::StateVersion);
        let says = format!("has format {format}, and this version reads format 3 only");
        assert!(opened.message.ends_with(&says), "{opened}");
        let scanned = Scan::<Counters>::open(&FileStore, &place.path).unwrap().next().unwrap().unwrap_err();
        assert_eq!(scanned.code(), Code::StateVersion);
        assert!(scanned.message.ends_with(&says), "{scanned}");
    }
}

#[test]
fn a_lock_that_is_held_is_waited_for_until_half_of_the_deadline() {
    let place = place();
    let memory = MemoryStore::new();
    for store in [&FileStore as &dyn Store, &memory] {
        let held = open_in(store, &place.path);
        let began = Instant::now();
        let busy = Journal::open::<Counters>(store, &place.path, &Deadline::new(Duration::from_millis(200)));
        assert_eq!(busy.unwrap_err().code(), Code::StateBusy);
        assert!(began.elapsed() >= Duration::from_millis(100));
        drop(held);
        open_in(store, &place.path);
    }
}

#[test]
fn large_records_are_found_from_the_end() {
    let place = place();
    let (mut journal, mut state) = open(&place.path);
    for number in 0..40 {
        let changes = vec![Change::Rest(format!("{number}").repeat(30_000))];
        append(&mut journal, &mut state, &Entry { changes, ..Entry::default() });
    }
    assert_eq!(last(&place.path), Ok(Some((40, state))));
}

#[test]
fn records_that_are_collected_are_written_at_once() {
    let place = place();
    let deadline = Deadline::new(LIMIT);
    let (mut journal, loaded) = Journal::reopen::<Counters>(&FileStore, &place.path, &deadline, None).unwrap();
    let mut state = loaded.unwrap();
    (0..10).for_each(|number| append(&mut journal, &mut state, &entry(number)));
    assert_eq!(last(&place.path).unwrap().unwrap().0, 1, "the first record is written at once");
    assert!(journal.holds() && !journal.must_sync());
    journal.write(false).unwrap();
    assert_eq!(last(&place.path), Ok(Some((10, state.clone()))));
    let rest = journal.release();
    let (journal, loaded) = Journal::reopen::<Counters>(&FileStore, &place.path, &deadline, rest).unwrap();
    assert!(loaded.is_none(), "nothing changed since");
    let rest = journal.release();
    write(&place.path, 10..11);
    let (mut journal, loaded) = Journal::reopen::<Counters>(&FileStore, &place.path, &deadline, rest).unwrap();
    assert_eq!((loaded.unwrap(), journal.take_finding()), (self::state(11), Finding::default()));
}

#[test]
fn a_store_in_memory_reads_another_one_and_leaves_it_as_it_is() {
    let place = place();
    write(&place.path, 0..30);
    let before = fs::read(&place.path).unwrap();
    let memory = MemoryStore::over(Arc::new(FileStore));
    let (mut journal, mut state) = open_in(&memory, &place.path);
    assert_eq!((journal.seq(), &state), (30, &self::state(30)));
    (30..200).for_each(|number| append(&mut journal, &mut state, &entry(number)));
    drop(journal);
    assert_eq!(open_in(&memory, &place.path).1, self::state(200));
    let scan = Scan::<Counters>::open(&memory, &place.path).unwrap();
    assert_eq!(scan.map(|record| record.unwrap().seq).last(), Some(200));
    assert_eq!(fs::read(&place.path).unwrap(), before);

    let other = place.path.with_extension("other");
    assert!(!memory.exists(&other));
    write(&other, 0..1);
    memory.replace(&other, b"new").unwrap();
    assert_eq!(memory.read(&other).unwrap().unwrap(), b"new");
    memory.remove(&other).unwrap();
    assert!(!memory.exists(&other) && memory.read(&other).unwrap().is_none() && other.exists());
}

#[cfg(unix)]
#[test]
fn journals_are_their_owners_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = place();
    write(&place.path, 0..1);
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&place.path), 0o600);
    assert_eq!(mode(place.path.parent().unwrap()), 0o700);
}

/// How many bytes this thread has read.
#[cfg(target_os = "linux")]
fn bytes_read() -> u64 {
    let text = fs::read_to_string("/proc/thread-self/io").unwrap();
    text.lines().find_map(|line| line.strip_prefix("rchar: ")).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn opening_costs_the_same_however_long_the_history_is() {
    let place = place();
    let opened = |path: &Path| {
        let before = bytes_read();
        let seq = open(path).0.seq();
        (seq, bytes_read() - before)
    };
    // Just before a snapshot a journal has the longest tail.
    let longest = |from: u64, to: u64| {
        let reads = (from..to).map(|number| {
            write(&place.path, number..number + 1);
            opened(&place.path).1
        });
        reads.max().unwrap()
    };
    let short = longest(0, 200);
    write(&place.path, 200..19_900);
    let long = longest(19_900, 20_100);
    assert!(long < short + 4096, "{long} bytes instead of {short}");
    let length = fs::metadata(&place.path).unwrap().len();
    fs::OpenOptions::new().append(true).open(&place.path).unwrap().write_all(b"torn").unwrap();
    let (seq, whole) = opened(&place.path);
    assert_eq!(seq, 20_100);
    assert!(whole > length, "if the fingerprint does not fit, the whole journal is read once");
    assert!(opened(&place.path).1 < short + 4096, "and only once");
}
