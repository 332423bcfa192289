//! The journal: what is written comes back, and damage is noticed.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use phasegate_core::Code;
use phasegate_core::code::Coded as _;
use phasegate_store::deadline::Deadline;
use phasegate_store::journal::{Durability, Entry, Journal, read_last};
use serde_json::{Value, json};

const LIMIT: Duration = Duration::from_secs(5);

struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/session.journal");
    Place { _folder: folder, path }
}

fn open(path: &Path) -> Journal {
    Journal::open(path, &Deadline::new(LIMIT)).unwrap()
}

fn state(number: u64) -> Value {
    let parity = if number.is_multiple_of(2) { "even" } else { "odd" };
    json!({"number": number, "parity": {(parity): true}, "list": [number], "rest": "x".repeat(4000)})
}

fn write(path: &Path, numbers: std::ops::Range<u64>) {
    for number in numbers {
        let entry = Entry { policy: format!("p{number}"), ..Entry::default() };
        open(path).append(&entry, state(number), Durability::Written).unwrap();
    }
}

#[test]
fn the_state_after_any_number_of_records_comes_back() {
    let place = place();
    for number in 0..50 {
        write(&place.path, number..number + 1);
        let last = read_last(&place.path).unwrap().unwrap();
        assert_eq!((last.seq, last.state, last.policy), (number + 1, state(number), format!("p{number}")));
    }
    let text = fs::read_to_string(&place.path).unwrap();
    let whole = text.lines().filter(|line| line.contains("\"state\":")).count();
    assert_eq!((whole, text.lines().count()), (4, 50), "one record in sixteen holds the whole state");
}

#[test]
fn changes_that_are_as_long_as_the_state_are_followed_by_the_whole_state() {
    let place = place();
    for number in 0..50 {
        let entry = Entry { event: json!({"text": "x".repeat(500)}), ..Entry::default() };
        open(&place.path)
            .append(&entry, json!({"number": number, "rest": "x".repeat(900)}), Durability::Written)
            .unwrap();
    }
    let text = fs::read_to_string(&place.path).unwrap();
    let whole: Vec<_> = text.lines().map(|line| line.contains("\"state\":")).collect();
    assert!(whole.windows(5).all(|five| five.contains(&true)), "{whole:?}");
    assert!(whole.windows(2).all(|two| two.contains(&false)), "{whole:?}");
    assert_eq!(read_last(&place.path).unwrap().unwrap().state["number"], 49);
}

#[test]
fn a_torn_last_record_is_cut_off_and_mentioned() {
    let place = place();
    write(&place.path, 0..3);
    let mut file = fs::OpenOptions::new().append(true).open(&place.path).unwrap();
    file.write_all(b"0123 {\"v\":1,").unwrap();
    assert_eq!(read_last(&place.path).unwrap().unwrap().seq, 3, "readers ignore it");
    write(&place.path, 3..4);
    let text = fs::read_to_string(&place.path).unwrap();
    assert!(text.lines().last().unwrap().contains("\"cut\":12"), "{text}");
    assert_eq!(read_last(&place.path).unwrap().unwrap().seq, 4);
}

#[test]
fn a_changed_byte_in_the_tail_is_noticed_wherever_it_is() {
    let place = place();
    write(&place.path, 0..20);
    let good = fs::read(&place.path).unwrap();
    let text = String::from_utf8(good.clone()).unwrap();
    let whole = text.lines().take(16).map(|line| line.len() + 1).sum::<usize>();
    for at in (whole..good.len() - 1).step_by(5) {
        let mut bad = good.clone();
        bad[at] ^= 1;
        fs::write(&place.path, &bad).unwrap();
        let read = read_last(&place.path);
        assert_eq!(read.unwrap_err().code(), Code::StateUnreadable, "byte {at}");
    }
}

#[test]
fn a_record_taken_out_is_noticed() {
    let place = place();
    write(&place.path, 0..5);
    let text = fs::read_to_string(&place.path).unwrap();
    let fewer: Vec<_> = text.lines().enumerate().filter(|(at, _)| *at != 2).map(|(_, line)| line).collect();
    fs::write(&place.path, fewer.join("\n") + "\n").unwrap();
    assert_eq!(read_last(&place.path).unwrap_err().code(), Code::StateUnreadable);
}

#[test]
fn a_newer_format_is_not_guessed_at() {
    let place = place();
    write(&place.path, 0..1);
    let text = fs::read_to_string(&place.path).unwrap();
    fs::write(&place.path, text.replace("\"v\":1", "\"v\":2")).unwrap();
    assert_eq!(read_last(&place.path).unwrap_err().code(), Code::StateVersion);
}

#[test]
fn a_lock_that_is_held_is_waited_for_until_half_of_the_deadline() {
    let place = place();
    let held = open(&place.path);
    let began = Instant::now();
    let busy = Journal::open(&place.path, &Deadline::new(Duration::from_millis(200))).unwrap_err();
    assert_eq!(busy.code(), Code::StateBusy);
    assert!(began.elapsed() >= Duration::from_millis(100));
    drop(held);
    open(&place.path);
}

#[test]
fn large_records_are_found_from_the_end() {
    let place = place();
    let entry = Entry::default();
    for number in 0..40 {
        let big = json!({"number": number, "text": format!("{number}").repeat(30_000)});
        open(&place.path).append(&entry, big, Durability::Written).unwrap();
    }
    assert_eq!(read_last(&place.path).unwrap().unwrap().state["number"], 39);
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
        let seq = open(path).seq();
        (seq, bytes_read() - before)
    };
    write(&place.path, 0..200);
    let (_, short) = opened(&place.path);
    let mut journal = open(&place.path);
    for number in 200..20_000 {
        let entry = Entry { policy: format!("p{number}"), ..Entry::default() };
        journal.append(&entry, state(number), Durability::Written).unwrap();
    }
    drop(journal);
    let (seq, long) = opened(&place.path);
    assert_eq!(seq, 20_000);
    assert!(long < short + 4096, "{long} bytes instead of {short}");
    let length = fs::metadata(&place.path).unwrap().len();
    fs::OpenOptions::new().append(true).open(&place.path).unwrap().write_all(b"torn").unwrap();
    let (_, whole) = opened(&place.path);
    assert!(whole > length, "a broken seal is worth one whole reading");
    assert!(opened(&place.path).1 < short + 4096, "and only one");
}
