//! The journal reader with arbitrary bytes: never a panic, and never a state that the chain does not lead to.
#![no_main]

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use libfuzzer_sys::fuzz_target;
use phasegate_store::journal::{Journal, read_last};
use phasegate_store::deadline::Deadline;
use phasegate_store::digest::sha256_hex;
use phasegate_store::file_store::FileStore;
use phasegate_store::scan::Scan;
use phasegate_store::state::JournalState;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A state that is any JSON; a change is a merge patch.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
struct Any(Value);

impl JournalState for Any {
    type Change = Value;

    fn apply(&mut self, change: &Value) {
        merge(&mut self.0, change);
    }
}

fn path() -> &'static PathBuf {
    static FOLDER: OnceLock<(tempfile::TempDir, PathBuf)> = OnceLock::new();
    let made = || {
        let memory = PathBuf::from("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.expect("a folder for journals");
        let path = folder.path().join("it.journal");
        (folder, path)
    };
    &FOLDER.get_or_init(made).1
}

/// The chain as its format describes it, followed by other means: the number of lines, the last hash and the state.
fn followed(bytes: &[u8]) -> Option<(u64, String, Value)> {
    let (mut head, mut state, mut count) = ("0".repeat(64), Value::Null, 0);
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(line) = line.strip_suffix(b"\n") else { break };
        let (digits, json) = (line.get(..64)?, line.get(65..)?);
        let before: Vec<u8> =
            (0..32).map(|at| u8::from_str_radix(&head[2 * at..2 * at + 2], 16)).collect::<Result<_, _>>().ok()?;
        let hash = sha256_hex(&[before.as_slice(), json].concat());
        if !hash.as_bytes().eq_ignore_ascii_case(digits) {
            return None;
        }
        let body: Map<String, Value> = serde_json::from_slice(json).ok()?;
        for change in body.get("changes").and_then(Value::as_array).into_iter().flatten().chain(body.get("patch")) {
            merge(&mut state, change);
        }
        if let Some(whole) = body.get("state") {
            state = whole.clone();
        }
        (head, count) = (hash, count + 1);
    }
    (count > 0).then_some((count, head, state))
}

/// A merge patch (RFC 7396).
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Some(fields) = target.as_object_mut() else { return };
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), change);
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let path = path();
    let _ = std::fs::remove_file(path);
    let mut options = std::fs::OpenOptions::new();
    std::os::unix::fs::OpenOptionsExt::mode(options.write(true).create(true), 0o600);
    let mut file = options.open(path).expect("a journal");
    std::io::Write::write_all(&mut file, data).expect("bytes in it");
    drop(file);
    // Without the lock only the end is read; what it says is still checked against its own lines.
    let _ = read_last::<Any>(&FileStore, path);
    if let Ok(scan) = Scan::<Any>::open(&FileStore, path) {
        let mut scan = scan;
        while let Some(Ok(_)) = scan.next() {}
        let _ = scan.state();
    }
    if let Ok((journal, state)) = Journal::open::<Any>(&FileStore, path, &Deadline::new(Duration::from_secs(5))) {
        let found = (journal.seq() > 0).then(|| (journal.seq(), journal.head(), state.0));
        assert_eq!(found, followed(data), "a state that the chain does not lead to");
    }
});
